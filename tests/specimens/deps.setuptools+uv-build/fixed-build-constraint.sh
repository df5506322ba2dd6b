# An older setuptools for the build.
set -e
echo 'setuptools<81' > build-constraints.txt
export PIP_CONSTRAINT=build-constraints.txt PIP_BUILD_CONSTRAINT=build-constraints.txt UV_BUILD_CONSTRAINT=build-constraints.txt
uv pip install --target lib ./packages/runlog
PYTHONPATH=lib python -c 'import runlog; print(runlog.line(3, 0.5))'
