"""A program in a fork of a warm process is seen to run as one that is started anew."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import pytest

from aifix.lab.running import Runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
PROGRAMS = {
    "an exception": "def inner():\n    raise ValueError('bad')\n\ninner()\n",
    "a chain": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('worse') from error\n",
    "a syntax error": "print('never')\nx = (\n",
    "its own name": "import sys\nprint(__name__, sys.argv, __file__ == sys.modules['__main__'].__file__, sys.path[0] == __import__('os').getcwd())\n",
    "a number": "import sys\nprint(3)\nsys.exit(3)\n",
    "a sentence": "raise SystemExit('stopped')\n",
    "what runs at its end": "import atexit\natexit.register(print, 'last')\nprint('first')\n",
    "a thread that goes on": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()\nprint('main')\n",
    "both streams": "import sys\nprint('out')\nprint('err', file=sys.stderr)\n",
    "a signal": "import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n",
    "a child process": (
        "import multiprocessing as mp\n\ndef work(n):\n    return n * 2\n\nif __name__ == '__main__':\n"
        "    with mp.get_context('spawn').Pool(1) as pool:\n        print(pool.map(work, [1, 2]))\n"
    ),
    "nothing to read": "import sys\nprint(repr(sys.stdin.read()))\n",
    "a file of its own": "open('made', 'w').write('x')\nprint(sorted(__import__('os').listdir('.')))\n",
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(sys.executable) as one:
        yield one


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_warm_run_ends_and_prints_as_one_anew(source: str, runner: Runner, tmp_path: Path) -> None:
    results = []
    for name in ("anew", "warm"):
        folder = tmp_path / name / "same"
        folder.mkdir(parents=True)
        (folder / "fail.py").write_text(source, "utf-8")
        ran = runner.anew([sys.executable, "fail.py"], folder, {}, 30) if name == "anew" else runner.warm((), folder, "fail.py", {}, 30)
        results.append((ran.status, ran.output.decode().replace(str(folder), "")))
    assert results[0] == results[1]
    assert results[0][1]


@pytest.mark.parametrize("warm", [True, False])
def test_a_program_without_end_is_killed_with_all_that_it_started(warm: bool, runner: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "fail.py").write_text(
        "import subprocess, time\nchild = subprocess.Popen(['sleep', '600'])\nprint(child.pid, flush=True)\ntime.sleep(600)\n", "utf-8"
    )
    ran = runner.warm((), folder, "fail.py", {}, 3) if warm else runner.anew([sys.executable, "fail.py"], folder, {}, 3)
    assert ran.status is None
    child = int(ran.output)
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            break
        with open(f"/proc/{child}/stat", encoding="ascii") as stream:  # noqa: PTH123
            if ") Z" in stream.read():
                break
        time.sleep(0.05)
    else:
        pytest.fail("the child lives on")


def test_the_caller_s_surroundings_do_not_leak_in(runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "7")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "fail.py").write_text("import os\nprint(os.environ.get('RANK'), os.environ.get('PYTHONWARNINGS'), os.environ['MINE'])\n", "utf-8")
    assert runner.anew([sys.executable, "fail.py"], folder, {"MINE": "1"}, 30).output == b"None None 1\n"


def test_a_warm_process_that_cannot_import_is_an_error_that_says_so(tmp_path: Path) -> None:
    from aifix.lab.running import WarmError

    with Runner(sys.executable) as one, pytest.raises(WarmError, match="No module named 'no_such_module'"):
        one.warm(("no_such_module",), tmp_path, "fail.py", {}, 5)
