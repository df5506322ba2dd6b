"""Programs that fail, and how the tests run them again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

MARK = "# blame"


class Done(NamedTuple):
    """How a command of aifix ended that ran another one."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def blame(self) -> tuple[str, int]:
        """The line that the report blames."""
        report = self.report
        first = report["diagnoses"][0] if report["diagnoses"] else report["unknown"]
        return Path(first["location"]["file"]).name, first["location"]["line"]


def environ(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIFIX", "COLUMNS", "COV_", "PYTHONPATH"))}
    return kept | {"LC_ALL": "C.UTF-8", "AIFIX_NO_PROBE": "1", "AIFIX_NO_HISTORY": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"} | more


def marked(text: str) -> int:
    """Give the number of the line that is to be blamed."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.rstrip().endswith(MARK))


def fail(folder: Path, text: str, python: str, name: str = "train.py") -> tuple[Path, Path]:
    """Write a program and run it bare; give it and the log of its failure, which must not name the line to blame as rerun does."""
    program = folder / name
    program.write_text(text, encoding="utf-8")
    done = subprocess.run([python, str(program)], capture_output=True, text=True, cwd=folder, env=environ(), timeout=120, check=False)
    assert done.returncode != 0, "the program was meant to fail"
    log = folder / "first.log"
    shell = "Segmentation fault (core dumped)\n" if done.returncode == -11 else ""
    log.write_text(done.stdout + done.stderr + shell, encoding="utf-8")
    return program, log


def rerun(*arguments: str, cwd: Path, timeout: float = 200, **more: str) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "rerun", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environ(**more),
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout, re.sub(r"\x1b\[[0-9;]*m", "", done.stderr))
