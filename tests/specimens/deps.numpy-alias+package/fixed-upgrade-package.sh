# Its next release uses Python's own float.
set -e
python -m pip install --quiet --upgrade --no-build-isolation --no-deps --target site-packages packages/boxkit
python fail.py
