import os

import numpy
from setuptools import Extension, setup

include = os.environ.get("NUMPY_INCLUDE", numpy.get_include())
setup(ext_modules=[Extension("fastmean", ["fastmean.c"], include_dirs=[include])])
