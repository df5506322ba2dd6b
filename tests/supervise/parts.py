"""How the tests of the supervisor start it, and the children that they start it with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

AIFIX = [sys.executable, "-m", "aifix"]
NCCL_REMOTE = (
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version 2.21.5\n"
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"
    "Last error:\n"
    "socketProgress: Connection closed by remote peer node7.cluster<43210>"
)
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free."


class Done(NamedTuple):
    """How a supervised command ended."""

    status: int
    out: bytes
    err: str


def environ(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIFIX", "COLUMNS", "LINES", "COV_"))}
    return kept | {"LC_ALL": "C.UTF-8", "AIFIX_NO_PROBE": "1", "AIFIX_NO_HISTORY": "1", "TERM": "xterm"} | more


def supervise(*arguments: str, data: bytes | None = None, timeout: float = 60, cwd: Path | None = None, **more: str) -> Done:
    """Run `aifix run` with pipes."""
    done = subprocess.run(
        [*AIFIX, "run", *arguments],
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        timeout=timeout,
        check=False,
        cwd=cwd,
        env=environ(**more),
    )
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def python(code: str) -> list[str]:
    """Give the command of a small program."""
    return ["--", sys.executable, "-u", "-c", code]


def start(arguments: Sequence[str], **more: str) -> subprocess.Popen[bytes]:
    """Start `aifix run` with pipes, in a session of its own."""
    return subprocess.Popen(
        [*AIFIX, "run", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ(**more),
        start_new_session=True,
    )


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).replace("\r\n", "\n")
