import ctypes
import os

ctypes.CDLL(os.path.abspath("libvec.so"), mode=ctypes.RTLD_GLOBAL)
plugin = ctypes.CDLL(os.path.abspath("plugin.so"))
plugin.total.restype = ctypes.c_double
print("total", plugin.total())
