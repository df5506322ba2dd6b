"""The split that there is."""

from datasets import load_dataset

rows = load_dataset("json", data_files="reviews.jsonl", split="train")
print("rows", len(rows))
