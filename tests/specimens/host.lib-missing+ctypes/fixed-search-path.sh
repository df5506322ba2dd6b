# The loader is told of the folder.
set -e
mkdir -p opt/lib
echo 'int decode(void) { return 42; }' | gcc -shared -fPIC -x c - -o opt/lib/libclipcodec.so.3 -Wl,-soname,libclipcodec.so.3
export LD_LIBRARY_PATH="$PWD/opt/lib:$LD_LIBRARY_PATH"
python play.py
