# The wheel for every platform.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
python -m pip install --target lib dist/*.whl
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
