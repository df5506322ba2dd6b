"""Resuming with a part of the model frozen that was trained when the state was saved."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def step(model, optimizer):
    loss = model(torch.rand(16, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


model = build()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
step(model, optimizer)
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")

model = build()
model[0].requires_grad_(False)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
blob = torch.load("last.pt", map_location="cpu", weights_only=True)
model.load_state_dict(blob["model"])
optimizer.load_state_dict(blob["optimizer"])
step(model, optimizer)
print("resumed")
