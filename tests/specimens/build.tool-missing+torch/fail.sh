# An extension is compiled as the program starts, on a machine without ninja.
set -e
python="$(command -v python)"
mkdir -p bin
for program in c++ g++ gcc as ld sh which uname; do ln -s "$(command -v "$program")" "bin/$program"; done
PATH="$PWD/tools/bin:$PWD/bin" "$python" train.py
