# The wheel was built for Windows, and copied here.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist --config-settings=--build-option=--plat-name=win_amd64 packages/meters
python -m pip install --target lib dist/*.whl
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
