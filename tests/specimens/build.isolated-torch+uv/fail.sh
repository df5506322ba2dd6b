# uv builds in an environment of its own, which has what the package declares: not torch.
set -e
uv pip install --no-deps --target lib packages/torchops
PYTHONPATH=lib python -c 'import torch, torchops; print("scaled", torchops.scaled(torch.tensor(4)).item())'
