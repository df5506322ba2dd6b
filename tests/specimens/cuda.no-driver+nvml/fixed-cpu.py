"""A machine without NVML has no GPU for us."""

import pynvml

try:
    pynvml.nvmlInit()
    count = pynvml.nvmlDeviceGetCount()
except pynvml.NVMLError:
    count = 0
print("GPUs", count)
