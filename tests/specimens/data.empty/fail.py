"""The files end in .JPG, and the pattern asks for .jpg."""

from pathlib import Path

from torch.utils.data import DataLoader

Path("photos").mkdir()
for i in range(6):
    Path(f"photos/{i}.JPG").write_bytes(b"\xff\xd8")

files = [str(path) for path in Path("photos").rglob("*.jpg")]
loader = DataLoader(files, batch_size=3, shuffle=True)
print("batches", len(loader))
