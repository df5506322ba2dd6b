# Installed into the environment whose Python runs the program.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meterbar
python -m venv --without-pip env
python -m pip --python env/bin/python install --quiet --find-links dist meterbar
env/bin/python fail.py
