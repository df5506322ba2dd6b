# The release that the message names.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
uv pip install --no-index --find-links dist --target lib "meters==1.4.0"
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
