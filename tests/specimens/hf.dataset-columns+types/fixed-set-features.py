"""One type for the column, and the schema stated."""

from datasets import Dataset, Features, Value

rows = [{"text": "a good film", "score": 4}, {"text": "a long film", "score": "two"}]
rows = [{"text": row["text"], "score": str(row["score"])} for row in rows]
data = Dataset.from_list(rows, features=Features({"text": Value("string"), "score": Value("string")}))
print("rows", len(data))
