"""The generator's loss is computed after the discriminator's step."""

import torch
from torch import nn

generator, discriminator = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt_g = torch.optim.SGD(generator.parameters(), lr=0.1)
opt_d = torch.optim.SGD(discriminator.parameters(), lr=0.1)
fake = generator(torch.rand(8, 2))
d_loss = discriminator(fake.detach()).mean()
opt_d.zero_grad()
d_loss.backward()
opt_d.step()
g_loss = -discriminator(fake).mean()
opt_g.zero_grad()
g_loss.backward()
opt_g.step()
print("steps", 2)
