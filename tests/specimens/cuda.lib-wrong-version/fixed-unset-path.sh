bash build.sh
export LD_LIBRARY_PATH=$PWD/toolkit/lib64
env -u LD_LIBRARY_PATH python -c 'import kernels; print("linked", kernels.linked())'
