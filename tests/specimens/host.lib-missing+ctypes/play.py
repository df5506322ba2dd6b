import ctypes

codec = ctypes.CDLL("libclipcodec.so.3")
print("decoded", codec.decode())
