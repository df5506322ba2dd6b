# The pin asks for a release that the index does not have.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
uv pip install --no-index --find-links dist --target lib "meters==2.0.0"
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
