import torch
from setuptools import setup

print(f"building for torch {torch.__version__}")
setup()
