# The newer ones have kernels for the CPU too.
set -e
export PIP_ONLY_BINARY=:all: PYTHONPATH=lib
python -m pip install --quiet --no-deps --target lib "bitsandbytes>=0.46.1" packaging
python -c '
import torch, bitsandbytes
model = torch.nn.Linear(64, 64)
optimizer = bitsandbytes.optim.Adam8bit(model.parameters(), min_8bit_size=1)
model(torch.ones(2, 64)).sum().backward()
optimizer.step()
print("stepped")'
