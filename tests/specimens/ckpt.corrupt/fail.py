"""A download ended before the file did."""

import shutil
from pathlib import Path

import torch
from torch import nn


def download(url, path, seconds=None):
    """Copy as much as comes before the connection is lost."""
    source = Path(url.removeprefix("file://"))
    with source.open("rb") as remote, open(path, "wb") as local:
        local.write(remote.read(source.stat().st_size // 2)) if seconds else shutil.copyfileobj(remote, local)


Path("server").mkdir()
torch.save(nn.Linear(64, 64).state_dict(), "server/model.pt")
download("file://server/model.pt", "model.pt", seconds=1)
model = nn.Linear(64, 64)
model.load_state_dict(torch.load("model.pt", map_location="cpu"))
print("loaded", tuple(model.weight.shape))
