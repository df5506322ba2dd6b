# The release that the program was written for, in a folder of its own.
set -e
python -m pip install --quiet --no-deps --target lib "networkx<3"
PYTHONPATH=lib python fail.py
