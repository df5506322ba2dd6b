import ctypes

import torch

torch.ops.load_library("./ops.so")
print("threads", ctypes.CDLL("./ops.so").threads())
