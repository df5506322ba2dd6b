"""The transform ends with a tensor (torchvision calls it ToTensor)."""

import numpy as np
import torch
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


def to_tensor(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255


loader = DataLoader(Pictures(to_tensor), batch_size=4)
print("batch", tuple(next(iter(loader)).shape))
