"""NVML is asked for the GPUs of a machine that has no driver."""

import pynvml

pynvml.nvmlInit()
print("GPUs", pynvml.nvmlDeviceGetCount())
