"""The token goes with the call."""

import json

import hub  # sets HF_ENDPOINT
from huggingface_hub import hf_hub_download

with open(hf_hub_download("example-lab/tiny", "config.json", token="hf_example")) as file:
    print("a", json.load(file)["model_type"])
