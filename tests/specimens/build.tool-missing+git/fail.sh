# A requirement that lies in a git repository, on a machine without git.
set -e
python="$(command -v python)"
git -C packages/meters init --quiet && git -C packages/meters add . && git -C packages/meters -c user.name=a -c user.email=a@example.org commit --quiet -m first
mkdir -p bin
test -z "$WITHOUT" || PATH="$PWD/bin"
"$python" -m pip install --no-build-isolation --target lib "git+file://$PWD/packages/meters"
PYTHONPATH=lib "$python" -c 'import meters; print("mean", meters.mean([1, 2, 3]))'
