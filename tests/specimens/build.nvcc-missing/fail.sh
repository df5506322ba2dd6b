# The toolkit is installed, and its folder is not on PATH.
set -e
mkdir -p bin
for program in make gcc g++ as ld sh; do ln -s "$(command -v "$program")" "bin/$program"; done
PATH="$PWD/bin" make
