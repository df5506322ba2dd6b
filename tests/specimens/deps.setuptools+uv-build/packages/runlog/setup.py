import pkg_resources
from setuptools import setup

pkg_resources.require("setuptools")
setup(name="runlog", version="0.3", py_modules=["runlog"])
