"""Each file is closed when it has been read."""

import resource
from pathlib import Path

resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))  # what the shell gives
Path("clips").mkdir()
for i in range(100):
    Path(f"clips/{i:03}.txt").write_text("1 2 3")

clips = []
for path in sorted(Path("clips").iterdir()):
    with open(path) as stream:
        clips.append(stream.read())
print("clips", len(clips))
