# The package's setup.py wants pkg_resources; the isolated build gets the newest setuptools, which has none.
set -e
python -m pip install --target lib packages/runlog
PYTHONPATH=lib python -c 'import runlog; print(runlog.line(3, 0.5))'
