# A CUDA extension is built beside a CPU build of torch.
set -e
python -m pip install --no-build-isolation --target lib .
ls lib/scaleops*.so && echo built
