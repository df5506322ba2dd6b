__global__ void scale_each(float *values) { values[threadIdx.x] *= 2; }

extern "C" void scale_on_gpu(float *values, int count) { scale_each<<<1, count>>>(values); }
