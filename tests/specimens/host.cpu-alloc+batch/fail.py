"""Too large a batch for the memory that the process may take."""

import resource

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
data = TensorDataset(torch.rand(32768, 64), torch.rand(32768, 1))
model = nn.Sequential(nn.Linear(64, 256), *[nn.Sequential(nn.Linear(256, 256), nn.Tanh()) for _ in range(16)], nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(data, batch_size=32768, shuffle=True)
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 500 * 2**20, resource.RLIM_INFINITY))

for epoch in range(2):
    # one round over the data
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
