"""The second file has a column that the first has not."""

import json

from datasets import load_dataset

with open("one.jsonl", "w") as file:
    print(json.dumps({"prompt": "why", "chosen": "so"}), file=file)
with open("two.jsonl", "w") as file:
    print(json.dumps({"prompt": "how", "chosen": "thus", "rejected": "no"}), file=file)

data = load_dataset("json", data_files=["one.jsonl", "two.jsonl"], split="train", cache_dir="cache")
print("rows", len(data))
