# A release with a wheel, which nothing has to be compiled for.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/fastsum-1.0
python -m pip install --find-links dist --only-binary :all: --target lib fastsum
PYTHONPATH=lib python -c 'import fastsum; print("sum", fastsum.total([1, 2]))'
