# The index where it really is.
set -e
python -m pip wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir index/meters packages/meters
(cd index/meters && for file in *.whl; do echo "<a href=\"$file\">$file</a>"; done > index.html)
python -m pip install --index-url "file://$PWD/index" --retries 1 --target lib meters
PYTHONPATH=lib python -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
