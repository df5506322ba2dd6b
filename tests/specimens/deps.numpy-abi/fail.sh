# The package was built with NumPy 1, and NumPy 2 is installed.
set -e
python -m pip install --quiet --no-warn-conflicts --only-binary :all: --target numpy-1 "numpy==1.26.4"
export NUMPY_INCLUDE="$PWD/numpy-1/numpy/core/include"
python -m pip install --quiet --no-build-isolation --no-deps --target lib packages/fastmean
PYTHONPATH=lib python -c 'import fastmean; print("mean", fastmean.mean([1, 2, 3]))'
