"""The shell gives more."""

import resource
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # what the shell gives
Path("clips").mkdir()
for i in range(100):
    Path(f"clips/{i:03}.txt").write_text("1 2 3")

opened = [open(path) for path in sorted(Path("clips").iterdir())]
print("clips", len([stream.read() for stream in opened]))
