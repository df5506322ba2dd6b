"""A block of shared memory, larger than the room for it."""

from multiprocessing import shared_memory

block = shared_memory.SharedMemory(create=True, size=4 << 20)
block.buf[:] = bytes(4 << 20)
print("filled", len(block.buf) >> 20)
block.close()
block.unlink()
