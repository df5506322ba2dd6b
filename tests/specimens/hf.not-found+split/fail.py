"""A folder of one file has the split train alone."""

from datasets import load_dataset

rows = load_dataset("json", data_files="reviews.jsonl", split="validation")
print("rows", len(rows))
