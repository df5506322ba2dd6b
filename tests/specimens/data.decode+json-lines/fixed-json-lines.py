"""Each line is an object."""

import json
from pathlib import Path

Path("train.json").write_text('{"text": "good", "label": 1}\n{"text": "bad", "label": 0}\n')
with open("train.json", encoding="utf-8") as stream:
    rows = [json.loads(line) for line in stream if line.strip()]
print("rows", len(rows))
