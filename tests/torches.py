"""The interpreter whose torch the tests use: AIFIX_TEST_TORCH names it where this one has none."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys

import pytest

VARIABLE = "AIFIX_TEST_TORCH"


@functools.cache
def _that_runs(code: str) -> str:
    for python in (os.environ.get(VARIABLE, ""), sys.executable):
        if python and shutil.which(python):
            done = subprocess.run([python, "-c", code], capture_output=True, check=False, timeout=120)
            if done.returncode == 0:
                return python
    return ""


def torch_python(code: str = "import torch, numpy") -> str:
    """Give an interpreter in which some code runs; without one the test is skipped."""
    python = _that_runs(code)
    if not python:
        pytest.skip(f"no interpreter here runs `{code}`: name one in {VARIABLE}")
    return python
