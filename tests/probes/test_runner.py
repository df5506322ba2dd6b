from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.probes.parts import here

from aifix.probes import runner

HANG = """
import subprocess, sys, time
from _protocol import main, say, stage
def run(request):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    say(child=child.pid)
    stage("wait for ever")
    time.sleep(600)
main(run)
"""


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "_protocol.py").write_bytes((runner.SCRIPTS / "_protocol.py").read_bytes())
    monkeypatch.setattr(runner, "SCRIPTS", folder)
    return folder


def ask(folder: Path, text: str, limit: float = 20, **request: object) -> runner.Answer:
    (folder / "script.py").write_text(text)
    return runner.ask(here(environ=dict(os.environ), cwd=str(folder.parent)), "script", request, limit=limit)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_a_hanging_target_is_killed_with_its_children_and_has_said_how_far_it_came(scripts: Path) -> None:
    started = time.monotonic()
    answer = ask(scripts, HANG, limit=2)
    assert answer.how == "timeout"
    assert answer.stage == "wait for ever"
    assert time.monotonic() - started < 8
    time.sleep(0.2)
    assert not alive(answer.said["child"])


def test_an_answer_comes_apart_from_what_the_target_prints(scripts: Path) -> None:
    text = 'from _protocol import main, say\ndef run(r):\n    print("noise")\n    say(twice=r["n"] * 2, odd=float("nan"))\nmain(run)\n'
    answer = ask(scripts, text, n=21)
    assert answer.how == "answered"
    assert answer.said == {"twice": 42, "odd": "nan"}
    assert "noise" in answer.stderr


def test_an_exception_is_a_sentence_with_its_place(scripts: Path) -> None:
    (scripts.parent / "users.py").write_text("def boom():\n    raise ValueError('bad\\nvalue')\n")
    answer = ask(scripts, "from _protocol import main, build\nmain(lambda r: build('users:boom'))\n")
    assert answer.error == "ValueError: bad value"
    assert answer.said["place"].endswith("users.py:2")


def test_a_crash_is_named_by_its_signal(scripts: Path) -> None:
    answer = ask(scripts, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    assert answer.how == "crashed"
    assert answer.error == "killed by SIGSEGV"


def test_memory_is_bounded(scripts: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("RLIMIT_DATA counts anonymous memory on Linux only")
    text = "from _protocol import main, say\ndef run(r):\n    say(size=len(bytearray(1 << 31)))\nmain(run)\n"
    assert ask(scripts, text, memory_limit=1 << 28).error == "MemoryError"


def test_a_missing_interpreter_is_an_answer(tmp_path: Path) -> None:
    answer = runner.ask(here(python=str(tmp_path / "gone"), cwd=str(tmp_path)), "samples", {}, limit=5)
    assert answer.how == "not-started"
    assert "does not start" in answer.error


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13"])
def test_the_scripts_compile_under_older_and_newer_pythons(version: str, tmp_path: Path) -> None:
    import shutil

    found = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), *map(Path, filter(None, [shutil.which(f"python{version}")]))]
    if not found:
        pytest.skip(f"there is no Python {version}")
    for script in sorted(runner.SCRIPTS.glob("*.py")):
        command = [found[0], "-c", "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1], 'exec')", script]
        subprocess.run(command, check=True, timeout=60)
    (tmp_path / "table.csv").write_text("a,label\n1,0\n2,9\n")
    machine = here(python=str(found[0]), cwd=str(tmp_path), environ=dict(os.environ))
    answer = runner.ask(machine, "samples", {"dataset": str(tmp_path / "table.csv"), "classes": 3, "samples": 10, "limit": 20}, limit=20)
    assert answer.said["bad"]["label"][0]["index"] == 1, answer
