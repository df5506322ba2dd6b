# The system's own Python, which its distribution manages; the pip is this environment's.
set -e
test -e "$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')/EXTERNALLY-MANAGED" || exit 0    # elsewhere it would really install
python -m pip --python /usr/bin/python3 install --no-build-isolation packages/meters
/usr/bin/python3 -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
