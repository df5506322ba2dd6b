# A setuptools that still has it.
set -e
python -m pip install --quiet --target lib "setuptools<81" wheel
PYTHONPATH=lib python -W ignore fail.py
