# The project pins core 2, and the tracker wants core 1.
set -e
for package in packages/*; do python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist "$package"; done
uv pip install --no-index --find-links dist --target lib -r requirements.txt
PYTHONPATH=lib python -m runtracker
