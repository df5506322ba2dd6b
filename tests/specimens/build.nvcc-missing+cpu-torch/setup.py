from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(name="scaleops", ext_modules=[CUDAExtension("scaleops", ["scale.cpp", "scale.cu"])], cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)})
