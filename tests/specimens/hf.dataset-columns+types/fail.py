"""A score that is a number here and a text there."""

from datasets import Dataset

rows = [{"text": "a good film", "score": 4}, {"text": "a long film", "score": "two"}]
data = Dataset.from_list(rows)
print("rows", len(data))
