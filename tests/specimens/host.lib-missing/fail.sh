# A library was installed in a folder where the loader does not look.
set -e
mkdir -p opt/lib
echo 'int decode(void) { return 42; }' | gcc -shared -fPIC -x c - -o opt/lib/libclipcodec.so.3 -Wl,-soname,libclipcodec.so.3
echo '#include <stdio.h>
int decode(void);
int main(void) { printf("decoded %d\n", decode()); return 0; }' | gcc -x c - -x none opt/lib/libclipcodec.so.3 -o player
./player
