# Its next release imports what MarkupSafe 2.1 has.
set -e
python -m pip install --quiet --upgrade --no-build-isolation --no-deps --target site-packages packages/htmlreport
python fail.py
