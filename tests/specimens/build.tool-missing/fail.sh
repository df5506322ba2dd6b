# A machine with a compiler and make, and without ninja.
set -e
mkdir -p bin
for program in make gcc as ld sh; do ln -s "$(command -v "$program")" "bin/$program"; done
PATH="$PWD/tools/bin:$PWD/bin" make
