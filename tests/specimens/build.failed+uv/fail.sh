# The pinned release has only a source, which this compiler refuses.
set -e
uv pip install --no-build-isolation --target lib ./packages/fastsum
PYTHONPATH=lib python -c 'import fastsum; print("total", fastsum.total([1, 2, 3]))'
