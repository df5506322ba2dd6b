# An environment of the project's own.
set -e
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
/usr/bin/python3 -m venv --without-pip .venv
python -m pip --python .venv/bin/python install --find-links dist meters
.venv/bin/python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
