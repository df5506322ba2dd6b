"""The CUDA driver's library is loaded on a machine that has no driver."""

import ctypes

driver = ctypes.CDLL("libcuda.so.1")
count = ctypes.c_int()
driver.cuInit(0)
driver.cuDeviceGetCount(ctypes.byref(count))
device = "cuda" if count.value else "cpu"
print("device", device)
