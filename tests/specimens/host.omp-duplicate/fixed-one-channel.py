"""Both packages come from one source, which holds the runtime once for all."""

import ctypes
import sys
from pathlib import Path

for package in ("numerics", "vision"):
    runtime = ctypes.CDLL(str(Path(sys.prefix, "lib", "libiomp5.so")))
    print(package, "has a thread", runtime.omp_get_max_threads() > 0, flush=True)
