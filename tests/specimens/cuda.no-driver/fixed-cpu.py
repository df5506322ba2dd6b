"""The CUDA driver's library is loaded where it is, and the CPU does the work elsewhere."""

import ctypes

device = "cpu"
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    pass
else:
    count = ctypes.c_int()
    driver.cuInit(0)
    driver.cuDeviceGetCount(ctypes.byref(count))
    device = "cuda" if count.value else "cpu"
print("device", device)
