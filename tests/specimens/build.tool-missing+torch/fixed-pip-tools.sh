# ninja comes as a wheel.
set -e
python="$(command -v python)"
python -m pip install --quiet --target tools ninja
mkdir -p bin
for program in c++ g++ gcc as ld sh which uname; do ln -s "$(command -v "$program")" "bin/$program"; done
PATH="$PWD/tools/bin:$PWD/bin" "$python" train.py
