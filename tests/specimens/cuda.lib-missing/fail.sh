bash build.sh && python -c 'import kernels; print("GPUs", kernels.count())'
