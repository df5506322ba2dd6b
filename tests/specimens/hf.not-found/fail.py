"""A name that the Hub does not have."""

import json

import hub  # sets HF_ENDPOINT
from huggingface_hub import hf_hub_download

with open(hf_hub_download("example-lab/tinny", "config.json")) as file:
    print("a", json.load(file)["model_type"])
