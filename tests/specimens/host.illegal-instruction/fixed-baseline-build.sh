# Compiled here, for this processor.
gcc -O3 -march=native kernel.c -o kernel || exit
./kernel
status=$?
echo "ended with $status"
exit $status
