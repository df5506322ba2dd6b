"""Pictures of several widths, laid into one batch by a worker process."""

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        image = torch.rand(3, 16, 16 + 4 * (i % 3))
        return self.transform(image)

    def transform(self, image):
        return image


loader = DataLoader(Pictures(), batch_size=4, num_workers=1)
for images in loader:
    print("batch", tuple(images.shape))
