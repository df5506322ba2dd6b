# A Python package loads a library that was installed in a folder where the loader does not look.
set -e
mkdir -p opt/lib
echo 'int decode(void) { return 42; }' | gcc -shared -fPIC -x c - -o opt/lib/libclipcodec.so.3 -Wl,-soname,libclipcodec.so.3
python play.py
