# Built on a newer system (its libm is a stand-in with one function more), run on this one.
set -e
mkdir build-machine
echo 'GLIBC_2.99 { global: tanhpi; local: *; };' > build-machine/map
echo 'double tanhpi(double x) { return x; }' | gcc -shared -fPIC -x c - -o build-machine/libm.so.6 -Wl,-soname,libm.so.6 -Wl,--version-script=build-machine/map
cat > tool.c <<'C'
#include <stdio.h>
#ifdef HAVE_TANHPI
double tanhpi(double x);
#else
static double tanhpi(double x) { return x; }
#endif
int main(void) {
    printf("tanhpi %.1f\n", tanhpi(0.5));
    return 0;
}
C
gcc -DHAVE_TANHPI tool.c build-machine/libm.so.6 -o tool
./tool
