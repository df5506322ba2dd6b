# Compiled with -march=native on a processor that had the rotations of XOP, which no other has.
gcc -O3 -march=bdver4 kernel.c -o kernel || exit
./kernel
status=$?
echo "ended with $status"
exit $status
