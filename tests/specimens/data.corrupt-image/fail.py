"""A picture whose download ended early."""

from pathlib import Path

import numpy as np
from PIL import Image

Path("data").mkdir()
noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
for name in ("a.jpg", "b.jpg"):
    Image.fromarray(noise).save(f"data/{name}")
whole = Path("data/b.jpg").read_bytes()
Path("data/b.jpg").write_bytes(whole[: len(whole) // 2])

shapes = []
for path in sorted(Path("data").glob("*.jpg")):
    with Image.open(path) as image:
        shapes.append(np.array(image.convert("RGB")).shape)
print("images", len(shapes), shapes[-1])
