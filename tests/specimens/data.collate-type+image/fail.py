"""Pillow's images go into the loader as they are."""

from PIL import Image
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, transform=None):
        self.transform = transform

    def __len__(self):
        return 4

    def __getitem__(self, i):
        image = Image.new("RGB", (8, 8), (i, i, i))
        return self.transform(image) if self.transform else image


loader = DataLoader(Pictures(), batch_size=4)
print("batch", tuple(next(iter(loader)).shape))
