"""Each worker of a job fetches the same file into a cache of its own."""

import hub  # sets HF_ENDPOINT
from huggingface_hub import hf_hub_download

paths = [hf_hub_download("example-lab/tiny", "config.json", cache_dir=f"worker-{worker}") for worker in range(16)]
print("workers", len(paths))
