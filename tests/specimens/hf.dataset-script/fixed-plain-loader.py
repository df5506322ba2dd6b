"""The files that the program would read, by the plain loader."""

from datasets import load_dataset

data = load_dataset("json", data_files="reviews.jsonl", split="train", cache_dir="cache")
print("rows", len(data))
