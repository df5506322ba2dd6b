"""Several objects in one file: JSON Lines, read as JSON."""

import json
from pathlib import Path

Path("train.json").write_text('{"text": "good", "label": 1}\n{"text": "bad", "label": 0}\n')
with open("train.json", encoding="utf-8") as stream:
    rows = json.load(stream)
print("rows", len(rows))
