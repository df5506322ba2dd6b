# NumPy 1 again, for which the package was built.
set -e
python -m pip install --quiet --no-warn-conflicts --only-binary :all: --target numpy-1 "numpy==1.26.4"
export NUMPY_INCLUDE="$PWD/numpy-1/numpy/core/include"
python -m pip install --quiet --no-build-isolation --no-deps --target lib packages/fastmean
python -m pip install --quiet --no-warn-conflicts --only-binary :all: --target lib "numpy<2"
PYTHONPATH=lib python -c 'import fastmean; print("mean", fastmean.mean([1, 2, 3]))'
