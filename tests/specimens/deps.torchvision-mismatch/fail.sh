# The torchvision of torch 2.10 beside another torch.
set -e
export PIP_ONLY_BINARY=:all: PYTHONPATH=lib
python -m pip install --quiet --no-deps --target lib "torchvision==0.25.0" pillow
python -c 'import torchvision; print("torchvision", torchvision.extension._has_ops())'
