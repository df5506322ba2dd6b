# Its next release takes the class from where Python 3.10 has it.
set -e
python -m pip install --quiet --upgrade --no-build-isolation --no-deps --target site-packages packages/optkit
python fail.py
