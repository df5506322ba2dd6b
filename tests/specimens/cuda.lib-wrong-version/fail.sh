bash build.sh
export LD_LIBRARY_PATH=$PWD/toolkit/lib64
python -c 'import kernels; print("linked", kernels.linked())'
