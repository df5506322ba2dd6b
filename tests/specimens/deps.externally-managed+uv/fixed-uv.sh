# uv makes an environment.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
uv venv --quiet --python /usr/bin/python3
uv pip install --no-index --find-links dist meters
.venv/bin/python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
