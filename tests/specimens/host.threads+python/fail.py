"""A thread for each of 500 files, and not so many stacks fit into the memory that a process may take."""

import resource
import threading
import time

taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 500 * 2**20, resource.getrlimit(resource.RLIMIT_AS)[1]))
threading.stack_size(8 * 2**20)


def read(i):
    time.sleep(0.5)


readers = [threading.Thread(target=read, args=[i], daemon=True) for i in range(500)]
for reader in readers:
    reader.start()
for reader in readers:
    reader.join()
print("read", len(readers))
