# Nobody answers where pip's index is said to be.
set -e
python -m pip wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir index/meters packages/meters
python -m pip install --index-url http://127.0.0.1:9/simple --retries 1 --target lib meters
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
