"""The output of the last failure is kept: the commands that a report names need no log."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import AIFIX, OOM, aifix, environ, incident

from aifix.kb import kept
from aifix.kb.cleaner import Cleaner
from aifix.show.commands import LAST, fix_command

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pipe's other end is seen through /proc")
SECRET = "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEF"
PROGRAM = f"""
import time
print("token {SECRET}", flush=True)
time.sleep(0.4)
def flatten(x):
    raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
                       "subspaces). Use .reshape(...) instead.")
flatten(1)
"""


@pytest.fixture
def failed(home: Path, tmp_path: Path) -> str:
    """Run a program into the pipe; gives what aifix said."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(PROGRAM)
    command = f"{sys.executable} train.py 2>&1 | {' '.join(AIFIX)} | cat >/dev/null"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=work, env=environ(home), timeout=60, check=False).stderr


@linux
def test_the_commands_of_the_report_need_no_log(home: Path, failed: str) -> None:
    assert fix_command("reshape", LAST, "tensor.view-stride") == "aifix fix reshape --for tensor.view-stride"
    assert failed.endswith("more: aifix why\n")
    done = aifix(home, "why")
    assert done.status == 1
    assert "tensor.view-stride" in done.out
    assert "aifix: failure 1, " in done.err
    assert "1. " in aifix(home, "fix").out
    assert "view size is not compatible" in aifix(home, "rules", "new", "tensor.mine").out


@linux
@pytest.mark.usefixtures("failed")
def test_it_is_kept_for_its_owner_without_secrets_and_goes_with_its_failure(home: Path) -> None:
    path = home / "history.db.last"
    assert path.stat().st_mode & 0o077 == 0
    assert SECRET.encode() not in path.read_bytes()
    assert aifix(home, "history", "rm", "1").status == 0
    assert not path.exists()
    assert aifix(home, "why").status == 2


@pytest.mark.usefixtures("failed")
def test_what_stands_in_the_pipe_goes_before_it(home: Path) -> None:
    assert "cuda.oom" in aifix(home, "why", data=OOM + "\n").out


def test_a_supervised_failure_is_kept_too(home: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"print('step 1')\nraise RuntimeError({OOM!r})\n")
    said = aifix(home, "run", "--", sys.executable, "train.py", cwd=tmp_path).err
    assert said.rstrip().endswith("more: aifix why")
    assert "cuda.oom" in aifix(home, "why").out


def test_a_failure_of_which_nothing_is_kept_takes_the_place_of_the_one_before(home: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(f"raise RuntimeError({OOM!r})\n")
    aifix(home, "run", "--", sys.executable, "train.py", cwd=tmp_path)
    (tmp_path / "old.log").write_text(OOM + "\n")
    aifix(home, "diagnose", "--remember", "old.log", cwd=tmp_path)
    assert aifix(home, "why").status == 2


def test_of_a_large_output_start_and_end_are_kept_under_their_numbers(tmp_path: Path) -> None:
    lines = b"".join(b"step %07d of the whole training\n" % number for number in range(1, 100_001))
    half = lines.find(b"step 0050001")
    kept.keep(str(tmp_path / "h.db"), incident(), [(1, lines[:half]), (60_001, lines[half:])], Cleaner([]))
    found = kept.last(str(tmp_path / "h.db"))
    assert found is not None
    (first, head), (number, tail) = found.blocks[0], found.blocks[-1]
    assert (first, head[:12]) == (1, b"step 0000001")
    assert tail.startswith(b"step %07d" % (number - 10_000))
    assert tail.endswith(b"step 0100000 of the whole training\n")
    assert sum(len(block) for _, block in found.blocks) <= kept.START + kept.END


def test_secrets_of_several_lines_leave_the_lines_where_they_are(tmp_path: Path) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "QUJD" * 16 + "\n" + "REVG" * 16 + "\n-----END RSA PRIVATE KEY-----\n"
    kept.keep(str(tmp_path / "h.db"), incident(), [(1, f"a\n{key}b\n".encode())], Cleaner([key]))
    found = kept.last(str(tmp_path / "h.db"))
    assert found is not None
    assert found.blocks[0][1].count(b"\n") == 6
    assert b"QUJD" not in found.blocks[0][1]


@pytest.mark.parametrize("before", [0, 1 << 20])
def test_a_key_that_stands_far_from_the_failure_or_is_cut_is_not_kept(tmp_path: Path, before: int) -> None:
    """The cleaner has learned from the lines of proof alone, and what lies between start and end goes: the cut may fall into a key."""
    lines = "".join(f"{chr(65 + number) * 48}\n" for number in range(26))
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}-----END PRIVATE KEY-----\n"
    rest = kept.END - len(lines) // 2
    text = "x\n" * (before // 2) + key + "y" * (rest - 30 if before else 0) + "\nRuntimeError\n"
    kept.keep(str(tmp_path / "h.db"), incident(), [(1, text.encode())], Cleaner(["RuntimeError"]))
    found = kept.last(str(tmp_path / "h.db"))
    assert found is not None
    whole = b"\n".join(data for _, data in found.blocks)
    assert b"RuntimeError" in whole
    assert not [letter for letter in range(65, 91) if bytes([letter]) * 20 in whole]
    if not before:
        assert whole.count(b"\n") == text.count("\n")


def test_what_cannot_be_read_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "h.db.last").write_bytes(os.urandom(100))
    assert kept.last(str(tmp_path / "h.db")) is None
