"""Every way to write the extension is accepted."""

from pathlib import Path

from torch.utils.data import DataLoader

Path("photos").mkdir()
for i in range(6):
    Path(f"photos/{i}.JPG").write_bytes(b"\xff\xd8")

files = [str(path) for path in Path("photos").rglob("*") if path.suffix.lower() in {".jpg", ".jpeg", ".png", ".webp"}]
loader = DataLoader(files, batch_size=3, shuffle=True)
print("batches", len(loader))
