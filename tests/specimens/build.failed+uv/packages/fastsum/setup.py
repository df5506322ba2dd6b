from setuptools import Extension, setup

setup(ext_modules=[Extension("fastsum", ["fastsum.c"], extra_compile_args=["-Werror=implicit-function-declaration"])])
