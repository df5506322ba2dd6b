"""aifix is upgraded or removed while it runs: the version that stands there at the end makes the diagnosis, or a line says why there is none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.e2e.harness import OOM, Installed

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a running program's files cannot be replaced there")
MANY = b"step\n" * 400_000


class Package:
    """A copy of the installed package that can be replaced, before all others on the path."""

    def __init__(self, here: Installed) -> None:
        self._here = here
        where = subprocess.run(
            [here.python, "-c", "import aifix; print(aifix.__path__[0])"], capture_output=True, text=True, check=True, cwd=here.folder
        )
        self._origin = Path(where.stdout.strip())
        self.folder = here.folder / "packages" / "aifix"
        self.install()

    def install(self) -> None:
        shutil.copytree(self._origin, self.folder, ignore=shutil.ignore_patterns("__pycache__"))

    def remove(self) -> None:
        shutil.rmtree(self.folder)

    def upgrade(self) -> None:
        """Put another version there: what one module calls has another name in it."""
        self.remove()
        self.install()
        for path in self.folder.rglob("*.py"):
            text = path.read_text("utf-8")
            path.write_text(re.sub(r"\b(report_blocks|diagnose_blocks|judge|emit)\b(?!=)", r"another_\1", text), "utf-8")

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        environ = {**self._here.environ, "PYTHONPATH": str(self.folder.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [self._here.aifix, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self._here.folder, env=environ)


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write, and wait until it has come out: by then the copying modules are loaded."""
    assert process.stdin is not None
    assert process.stdout is not None
    writing = threading.Thread(target=lambda: (process.stdin.write(data), process.stdin.flush()))
    writing.start()
    assert process.stdout.read(len(data)) == data
    writing.join()


def test_the_pipe_is_upgraded(here: Installed) -> None:
    package = Package(here)
    process = package.start()
    feed(process, b"step 1\n")
    feed(process, b"step 2\n")
    package.upgrade()
    out, err = process.communicate(OOM, timeout=60)
    assert out == OOM
    assert process.returncode == 1
    assert b"cuda.oom" in err
    assert b"Traceback (most recent call last):\n  File" not in err


def test_a_large_pipe_is_upgraded_and_its_lines_keep_their_numbers(here: Installed) -> None:
    package = Package(here)
    process = package.start()
    feed(process, MANY[:60_000])
    feed(process, MANY * 6)
    package.upgrade()
    out, err = process.communicate(OOM, timeout=60)
    assert out == OOM
    assert process.returncode == 1
    line = (60_000 + 6 * len(MANY)) // 5 + 1 + OOM[: OOM.index(b"CUDA out of memory")].count(b"\n")
    assert f"{line}".encode() in err


def test_json_is_still_json(here: Installed) -> None:
    package = Package(here)
    process = package.start("--format", "json")
    assert process.stdin is not None
    process.stdin.write(b"step 1\n")
    process.stdin.flush()
    until_copying(process)
    package.upgrade()
    out, _ = process.communicate(OOM, timeout=60)
    assert process.returncode == 1
    assert out.startswith(b"{")
    assert b"cuda.oom" in out


def until_copying(process: subprocess.Popen[bytes]) -> None:
    """Wait until what was written has been read, which nothing shows where nothing is copied."""
    import time

    until = time.monotonic() + 20
    while time.monotonic() < until:
        maps = Path(f"/proc/{process.pid}/wchan")
        if not maps.exists():
            time.sleep(3)
            return
        if b"python" in Path(f"/proc/{process.pid}/cmdline").read_bytes() and "pipe" in maps.read_text():
            time.sleep(0.5)
            return
        time.sleep(0.05)


def test_a_run_is_upgraded(here: Installed) -> None:
    package = Package(here)
    (here.folder / "log").write_bytes(OOM)
    process = package.start("run", "--", "sh", "-c", "echo ready; read line; cat log; exit 3")
    assert process.stdout is not None
    assert process.stdout.read(6) == b"ready\n"
    package.upgrade()
    out, err = process.communicate(b"go\n", timeout=60)
    assert out == OOM
    assert process.returncode == 3
    assert b"cuda.oom" in err
    assert b"Traceback (most recent call last):\n  File" not in err


@pytest.mark.parametrize("arguments", [[], ["run", "--", "sh", "-c", "echo ready; read line; cat log; exit 3"]], ids=["pipe", "run"])
def test_it_is_removed_for_good(here: Installed, arguments: list[str]) -> None:
    package = Package(here)
    (here.folder / "log").write_bytes(OOM)
    process = package.start(*arguments)
    assert process.stdout is not None
    if arguments:
        assert process.stdout.read(6) == b"ready\n"
    else:
        feed(process, b"step 1\n")
        feed(process, b"step 2\n")
    package.remove()
    package.folder.mkdir()
    (package.folder / "__init__.py").write_text("raise ImportError('half an installation')\n")
    out, err = process.communicate(b"go\n" if arguments else OOM, timeout=100)
    assert out == OOM
    assert process.returncode == (3 if arguments else 2)
    (line,) = err.decode().splitlines()
    assert "aifix was replaced or removed while it ran" in line
    assert os.path.exists(package.folder)  # noqa: PTH110
