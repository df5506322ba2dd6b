bash build.sh
export LD_LIBRARY_PATH=$PWD/toolkit/lib64:$LD_LIBRARY_PATH
python -c 'import kernels; print("GPUs", kernels.count())'
