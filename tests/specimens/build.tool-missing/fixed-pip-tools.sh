# ninja comes as a wheel.
set -e
python -m pip install --quiet --target tools ninja
mkdir -p bin
for program in make gcc as ld sh; do ln -s "$(command -v "$program")" "bin/$program"; done
PATH="$PWD/tools/bin:$PWD/bin" make
