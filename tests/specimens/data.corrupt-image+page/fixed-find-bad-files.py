"""The bad files are found and removed before the run."""

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

Path("server").mkdir()
Path("data").mkdir()
for i in range(4):
    Image.new("RGB", (8, 8), (i, i, i)).save(f"server/{i}.jpg")
    Path(f"data/{i}.jpg").write_bytes(Path(f"server/{i}.jpg").read_bytes())
Path("data/2.jpg").write_text("<html><body>429 Too Many Requests</body></html>")


for path in Path("data").glob("*.jpg"):
    try:
        Image.open(path).load()
    except OSError:
        print("removed:", path.name)
        path.unlink()


class Pictures(Dataset):
    def __init__(self):
        self.files = sorted(Path("data").glob("*.jpg"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with Image.open(self.files[i]) as image:
            return torch.from_numpy(np.array(image))


print("batch", tuple(next(iter(DataLoader(Pictures(), batch_size=4))).shape))
