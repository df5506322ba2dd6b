"""The schema is stated; what a file lacks is null."""

import json

from datasets import Features, Value, load_dataset

with open("one.jsonl", "w") as file:
    print(json.dumps({"prompt": "why", "chosen": "so"}), file=file)
with open("two.jsonl", "w") as file:
    print(json.dumps({"prompt": "how", "chosen": "thus", "rejected": "no"}), file=file)

features = Features({name: Value("string") for name in ("prompt", "chosen", "rejected")})
data = load_dataset("json", data_files=["one.jsonl", "two.jsonl"], split="train", cache_dir="cache", features=features)
print("rows", len(data))
