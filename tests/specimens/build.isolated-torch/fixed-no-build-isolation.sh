# torch stands already; the build takes place beside it.
set -e
python -m pip install --no-build-isolation --target lib packages/torchops
PYTHONPATH=lib python -c 'import torch, torchops; print("scaled", torchops.scaled(torch.tensor(4)).item())'
