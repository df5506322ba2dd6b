# With the package there, Python no longer takes the folder for it.
set -e
python -m pip install --quiet --no-build-isolation --target lib packages/meterbar
PYTHONPATH=lib python fail.py
