# torch stands already; the build takes place beside it.
set -e
uv pip install --python "$(command -v python)" --no-build-isolation --no-deps --target lib packages/torchops
PYTHONPATH=lib python -c 'import torch, torchops; print("scaled", torchops.scaled(torch.tensor(4)).item())'
