"""Each is loaded apart, and the column that only one has is dropped."""

import json

from datasets import concatenate_datasets, load_dataset

with open("one.jsonl", "w") as file:
    print(json.dumps({"prompt": "why", "chosen": "so"}), file=file)
with open("two.jsonl", "w") as file:
    print(json.dumps({"prompt": "how", "chosen": "thus", "rejected": "no"}), file=file)

one = load_dataset("json", data_files="one.jsonl", split="train", cache_dir="cache")
two = load_dataset("json", data_files="two.jsonl", split="train", cache_dir="cache").remove_columns(["rejected"])
data = concatenate_datasets([one, two])
print("rows", len(data))
