"""Count steps, and save after each."""

import json
import sys
import time
from pathlib import Path

saved = Path("last.json")
step = json.loads(saved.read_text())["step"] if saved.exists() and "--resume" in sys.argv else 0
while step < 20:
    time.sleep(0.1)
    step += 1
    saved.with_suffix(".tmp").write_text(json.dumps({"step": step}))
    saved.with_suffix(".tmp").rename(saved)
print("trained", step, "steps", flush=True)
