# The wheel of the pinned release was built for Windows.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist --config-settings=--build-option=--plat-name=win_amd64 packages/meters
uv pip install --no-index --find-links dist --target lib "meters==1.4.0"
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
