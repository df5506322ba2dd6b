# The environment's newer runtime is found first.
set -e
mkdir -p build-machine system env/lib
newer() {
    echo 'GLIBCXX_3.4.99 { global: vectorize; local: *; };' > build-machine/map
    echo 'int vectorize(int x) { return 2 * x; }' | gcc -shared -fPIC -x c - -o "$1" -Wl,-soname,libstdc++.so.6 -Wl,--version-script=build-machine/map
}
newer build-machine/libstdc++.so.6
newer env/lib/libstdc++.so.6
echo '#include <stdio.h>
int vectorize(int x);
int main(void) { printf("vectorized %d\n", vectorize(4)); return 0; }' | gcc -x c - -x none build-machine/libstdc++.so.6 -o tool
echo 'GLIBCXX_3.4.30 { global: *; };' > build-machine/map
echo 'int before(int x) { return x; }' | gcc -shared -fPIC -x c - -o system/libstdc++.so.6 -Wl,-soname,libstdc++.so.6 -Wl,--version-script=build-machine/map
export LD_LIBRARY_PATH="$PWD/system"
export LD_LIBRARY_PATH="$PWD/env/lib:$LD_LIBRARY_PATH"
./tool
