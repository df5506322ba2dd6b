# The standard library's way.
from importlib.metadata import version

print("setuptools", bool(version("setuptools")))
