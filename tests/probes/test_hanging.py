"""Active probes end within their limits whatever the target does: a torch that hangs, deaf children, a flood, a death."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here

from aifix.probes import registry, run

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.probes.finding import Finding

ACTIVE = [one for one in registry.PROBES if one.active]
OPTIONS = {"dataset": "mine:make", "model": "mine:make", "shape": "4"}
HANGS = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
child = subprocess.Popen(deaf)
apart = subprocess.Popen(deaf, start_new_session=os.path.isdir("/proc/self"))  # as torchrun starts its ranks
open("pids", "a").write(f"{os.getpid()} {child.pid} {apart.pid}\\n")
time.sleep(600)
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups of POSIX")


def asked(probe: registry.Probe, folder: Path, torch: str, limit: float = 2.0) -> tuple[Finding, float]:
    """Ask a probe of this interpreter, in whose working folder a program called torch lies."""
    (folder / "torch.py").write_text(torch)
    (folder / "mine.py").write_text("import torch\n\ndef make():\n    return None\n")
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    started = time.monotonic()
    found = run.one(probe, case(here(cwd=str(folder), environ=environ), options={**OPTIONS, "timeout": limit}))
    return found, time.monotonic() - started


@pytest.mark.parametrize("probe", ACTIVE, ids=[one.id for one in ACTIVE])
def test_a_target_that_hangs_is_ended_with_its_children(probe: registry.Probe, tmp_path: Path) -> None:
    found, seconds = asked(probe, tmp_path, HANGS)
    assert seconds < 2.0 + 8.0
    assert found.status in {"confirmed", "not-available"}
    assert "no answer within 2 s" in found.summary, found
    pids = [int(word) for line in (tmp_path / "pids").read_text().splitlines() for word in line.split()]
    assert len(pids) >= 3
    deadline = time.monotonic() + 10
    while any(map(lives, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(lives, pids))


def lives(pid: int) -> bool:
    """Tell whether a process still runs; one that waits for its parent to take notice does not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123 - one line of /proc
            return stream.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return os.path.isdir(f"/proc/{pid}") or not os.path.isdir("/proc/self")  # noqa: PTH112 - likewise


@pytest.mark.parametrize(
    ("torch", "part"),
    [
        ("import os\nos.abort()\n", "SIGABRT"),
        ("import os\nos._exit(3)\n", "exit status 3 (during: import torch)"),
        ("raise SystemExit('no')\n", "SystemExit"),
        ("raise ImportError('libcudart.so.12: cannot open shared object file')\n", "libcudart.so.12"),
    ],
)
def test_a_target_that_dies_is_an_answer(tmp_path: Path, torch: str, part: str) -> None:
    found, _ = asked(registry.BY_ID["numerics.layers"], tmp_path, torch, limit=20.0)
    assert part in found.summary, found


def test_a_flood_of_output_is_bounded(tmp_path: Path) -> None:
    flood = "import sys\nfor _ in range(2000):\n    sys.stderr.write('x' * 10000 + '\\n')\nraise ImportError('late')\n"
    found, _ = asked(registry.BY_ID["numerics.layers"], tmp_path, flood, limit=30.0)
    assert "late" in found.summary
    assert len(repr(found)) < 20000
