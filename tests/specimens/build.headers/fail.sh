# The package includes a header that the compiler is not told where to find.
set -e
python -m pip install --no-build-isolation --target lib packages/fastsum
python -c 'import ctypes, glob; print("sum", ctypes.CDLL(*glob.glob("lib/fastsum*.so")).three())'
