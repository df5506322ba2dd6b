"""A rule of the user's that cannot be read is named by every command that uses the rules: file, line and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CRASH = "RuntimeError: CUDA out of memory. Tried to allocate 1.24 GiB\n"
BROKEN = "id: my.rule\ntitle: [unclosed\nseverity: error\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rules = tmp_path / ".aifix" / "rules"
    rules.mkdir(parents=True)
    (rules / "broken.yaml").write_text(BROKEN, "utf-8")
    (tmp_path / "crash.log").write_text(CRASH, "utf-8")
    (tmp_path / "crash.py").write_text(f"import sys; sys.exit({CRASH!r})", "utf-8")
    (tmp_path / "specimens").mkdir()
    return tmp_path


def call(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "AIFIX_HOME": str(project / "home"), "AIFIX_NO_PROBE": "1"}
    command = [sys.executable, "-m", "aifix", *arguments]
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("diagnose", "crash.log"), 1),
        (("why", "crash.log"), 1),
        (("explain", CRASH.strip()), 1),
        (("fix", "crash.log"), 0),
        (("run", "--no-probe", "--", sys.executable, "crash.py"), 1),
        (("watch", "--no-probe", "--", sys.executable, "crash.py"), 1),
        (("rerun", "--no-probe", "--", sys.executable, "crash.py"), 1),
        (("lab", "run", "--specimens", "specimens"), 2),
        (("lab", "new", "cuda.oom", "--specimens", "specimens"), 2),
    ],
    ids=["diagnose", "why", "explain", "fix", "run", "watch", "rerun", "lab-run", "lab-new"],
)
def test_a_broken_rule_is_named_once(project: Path, arguments: tuple[str, ...], status: int) -> None:
    done = call(project, *arguments)
    told = [line for line in done.stderr.split("\n") if "broken.yaml" in line]
    assert len(told) == 1, done.stderr
    assert told[0].startswith(f"aifix: {Path('.aifix', 'rules', 'broken.yaml')}:3:")
    assert "not valid YAML" in told[0]
    assert done.returncode == status


def test_a_rule_that_stands_in_a_built_in_ones_place_is_no_fault(project: Path) -> None:
    rules = project / ".aifix" / "rules"
    (rules / "broken.yaml").unlink()
    (rules / "oom.yaml").write_text("id: cuda.oom\ntitle: Ours\nexplain: Ours.\nsignatures: [{pattern: 'CUDA out of memory'}]\n", "utf-8")
    done = call(project, "lab", "run", "--specimens", "specimens")
    assert (done.returncode, done.stderr) == (0, "")
