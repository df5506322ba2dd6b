"""A small pool of threads reads them all."""

import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor

taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 500 * 2**20, resource.getrlimit(resource.RLIMIT_AS)[1]))
threading.stack_size(8 * 2**20)


def read(i):
    time.sleep(0.001)


with ThreadPoolExecutor(max_workers=4) as pool:
    print("read", len(list(pool.map(read, range(500)))))
