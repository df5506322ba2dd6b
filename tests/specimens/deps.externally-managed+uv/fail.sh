# The system's own Python, which its distribution manages.
set -e
test -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')/EXTERNALLY-MANAGED" || exit 0    # elsewhere it would really install
python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist packages/meters
uv pip install --python /usr/bin/python3 --system --no-index --find-links dist meters
/usr/bin/python3 -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
