"""How the end-to-end tests call an installed aifix."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
OOM = (ROOT / "src" / "aifix" / "examples" / "cuda-oom.log").read_bytes()
HEALTHY = b"epoch 1: loss 0.91\nepoch 2: loss 0.52\nsaved checkpoint to /workspace/last.pt\ndone\n"


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: bytes
    err: str


class Installed:
    """An environment that holds nothing but aifix, and a folder to run it in."""

    def __init__(self, scripts: Path, folder: Path) -> None:
        self.scripts = scripts
        self.folder = folder
        self.python = scripts / "python"
        self.aifix = scripts / "aifix"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AIFIX", "VIRTUAL_ENV", "COLUMNS", "COV_"))}
        home = folder / "home"
        home.mkdir(exist_ok=True)
        self.environ = kept | {
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
        }

    def run(self, *arguments: str, data: bytes = b"", timeout: float = 60, **environ: str) -> Done:
        """Run aifix with `data` in its pipe."""
        done = subprocess.run(
            [self.aifix, *arguments],
            input=data,
            capture_output=True,
            cwd=self.folder,
            env=self.environ | environ,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def bash(self, script: str, timeout: float = 60) -> Done:
        """Run a shell script that finds aifix on PATH."""
        done = subprocess.run(
            ["bash", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.folder,
            env=self.environ,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr.decode())

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start aifix with pipes on all three ends."""
        return subprocess.Popen(
            [self.aifix, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=self.environ,
        )
