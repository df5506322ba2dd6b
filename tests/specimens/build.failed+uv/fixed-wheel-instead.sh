# The release that has a wheel.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/fastsum-1.0
uv pip install --no-index --find-links dist --only-binary :all: --target lib fastsum
PYTHONPATH=lib python -c 'import fastsum; print("total", fastsum.total([1, 2, 3]))'
