"""All images have one height and width."""

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        image = torch.rand(3, 16, 16 + 4 * (i % 3))
        return self.transform(image)

    def transform(self, image):
        return torch.nn.functional.interpolate(image[None], size=(16, 16))[0]


loader = DataLoader(Pictures(), batch_size=4, num_workers=1)
for images in loader:
    print("batch", tuple(images.shape))
