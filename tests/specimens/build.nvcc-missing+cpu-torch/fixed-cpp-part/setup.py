import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

if torch.version.cuda:
    extension = CUDAExtension("scaleops", ["scale.cpp", "scale.cu"], define_macros=[("WITH_CUDA", None)])
else:
    extension = CppExtension("scaleops", ["scale.cpp"])
setup(name="scaleops", ext_modules=[extension], cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
