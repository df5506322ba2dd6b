# torch's own optimizer.
set -e
python -c '
import torch
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(2, 64)).sum().backward()
optimizer.step()
print("stepped")'
