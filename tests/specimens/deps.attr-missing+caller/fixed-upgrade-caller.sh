# Its next release calls what networkx 3 has.
set -e
python -m pip install --quiet --upgrade --no-build-isolation --no-deps --target site-packages packages/graphkit
python fail.py
