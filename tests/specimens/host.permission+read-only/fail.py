"""The cache of a library lies in a folder that is mounted read-only."""

import os
from pathlib import Path

cache = Path(os.environ["HF_HOME"]) / "hub"
cache.mkdir(parents=True, exist_ok=True)
(cache / "version.txt").write_text("1")
print("cached in", cache)
