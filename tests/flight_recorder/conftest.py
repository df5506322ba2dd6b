"""Dumps for all tests of this folder, written once."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.flight_recorder.parts import CASES, write

HERE = Path(__file__).parent


class WithTorch(NamedTuple):
    """Real dumps by case, and what torch's analyzer says of each folder."""

    folder: Path
    says: dict[str, Any]


@functools.cache
def python_with_torch() -> str:
    """Find an interpreter with a torch that has the analyzer: AIFIX_TEST_TORCH, this one, or /tmp/vt."""
    for python in (os.environ.get("AIFIX_TEST_TORCH", ""), sys.executable, "/tmp/vt/bin/python"):
        if python and shutil.which(python):
            code = "import torch.distributed.flight_recorder.components.builder; from torch._C._distributed_c10d import _dump_fr_trace"
            done = subprocess.run([python, "-c", code], capture_output=True, check=False, timeout=120)
            if done.returncode == 0:
                return python
    return ""


@pytest.fixture(scope="session")
def with_torch(tmp_path_factory: pytest.TempPathFactory) -> WithTorch:
    python = python_with_torch()
    if not python:
        pytest.skip("no interpreter with a torch that analyses flight recorders: name one in AIFIX_TEST_TORCH")
    folder = tmp_path_factory.mktemp("flights")
    for name, dumps in CASES.items():
        write(folder / "made" / name, dumps)
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(
        [python, str(HERE / "with_torch.py"), str(folder), str(folder / "answer.json")],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return WithTorch(folder, json.loads((folder / "answer.json").read_text()))
