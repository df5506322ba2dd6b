"""The cut file is removed and downloaded again."""

import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import nn


def download(url, path, seconds=None):
    """Copy as much as comes before the connection is lost."""
    source = Path(url.removeprefix("file://"))
    with source.open("rb") as remote, open(path, "wb") as local:
        local.write(remote.read(source.stat().st_size // 2)) if seconds else shutil.copyfileobj(remote, local)


Path("server").mkdir()
save_file(nn.Linear(64, 64).state_dict(), "server/model.safetensors")
download("file://server/model.safetensors", "model.safetensors", seconds=1)
Path("model.safetensors").unlink()
download("file://server/model.safetensors", "model.safetensors")
model = nn.Linear(64, 64)
model.load_state_dict(load_file("model.safetensors"))
print("loaded", tuple(model.weight.shape))
