"""A dataset moves its samples to the GPU, in the process that uses CUDA."""

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self):
        self.x = torch.rand(8, 4)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i].to("cuda")


if __name__ == "__main__":
    model = torch.nn.Linear(4, 2).to("cuda")
    model(torch.rand(1, 4, device="cuda"))
    loader = DataLoader(Samples(), batch_size=4, num_workers=0)
    print("out", sum(len(model(x)) for x in loader))
