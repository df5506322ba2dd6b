"""The second copy is removed, and its package takes the first."""

import ctypes
import shutil
import sys
from pathlib import Path

for package in ("numerics", "vision"):
    Path(package).mkdir()
    shutil.copy(Path(sys.prefix, "lib", "libiomp5.so"), f"{package}/libiomp5.so")

Path("vision/libiomp5.so").unlink()
Path("vision/libiomp5.so").symlink_to("../numerics/libiomp5.so")

for package in ("numerics", "vision"):
    runtime = ctypes.CDLL(f"./{package}/libiomp5.so")
    print(package, "has a thread", runtime.omp_get_max_threads() > 0, flush=True)
