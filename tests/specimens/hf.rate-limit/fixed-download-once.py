"""Fetched once; the workers read the cache alone."""

import hub  # sets HF_ENDPOINT
from huggingface_hub import hf_hub_download

hf_hub_download("example-lab/tiny", "config.json")
paths = [hf_hub_download("example-lab/tiny", "config.json", local_files_only=True) for worker in range(16)]
print("workers", len(paths))
