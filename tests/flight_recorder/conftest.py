"""Dumps for all tests of this folder, written once."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.flight_recorder.parts import CASES, write
from tests.torches import torch_python

HERE = Path(__file__).parent
ANALYZER = "import torch.distributed.flight_recorder.components.builder; from torch._C._distributed_c10d import _dump_fr_trace"
"""What runs where torch analyses flight recorders."""


class WithTorch(NamedTuple):
    """Real dumps by case, and what torch's analyzer says of each folder."""

    folder: Path
    says: dict[str, Any]


@pytest.fixture(scope="session")
def with_torch(tmp_path_factory: pytest.TempPathFactory) -> WithTorch:
    python = torch_python(ANALYZER)
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
