"""What goes wrong around aifix: the data passes, the exit status holds, and nobody sees a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.harness import HEALTHY, OOM, Installed

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="made of /dev/full, /proc and signals")
LARGE = (HEALTHY * 20_000)[:1_200_000].rpartition(b"\n")[0] + b"\n" + OOM


def whole(status: int, out: bytes, err: str, data: bytes) -> None:
    assert out == data
    assert status == 1
    assert "cuda.oom" in err
    assert not err.startswith("Traceback")


@pytest.mark.parametrize("data", [OOM, LARGE], ids=["small", "large"])
@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/nonexistent", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""},
        {"HOME": "", "XDG_CACHE_HOME": "", "XDG_CONFIG_HOME": ""},
        {"XDG_CACHE_HOME": "/proc/nothing"},
        {"XDG_CACHE_HOME": "/dev/full"},
        {"TMPDIR": "/nonexistent", "TMP": "", "TEMP": ""},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"TERM": "dumb", "COLUMNS": "1"},
        {"COLUMNS": "x", "AIFIX_CACHE": "\udcff"},
    ],
    ids="-".join,
)
def test_no_home_no_cache_no_locale(here: Installed, environ: dict[str, str], data: bytes) -> None:
    done = here.run(data=data, **environ)
    whole(done.status, done.out, done.err, data)


def test_a_full_disk_under_the_output_ends_the_copy_not_the_diagnosis(here: Installed) -> None:
    done = here.bash("head -c 3000000 /dev/zero | tr '\\0' 'x' | fold -w 80 > big; cat big | aifix -q > /dev/full; echo $?")
    assert done.out == b"0\n"
    (here.folder / "oom").write_bytes(OOM)
    done = here.bash("cat oom | aifix > /dev/full; echo $?")
    assert done.out == b"1\n"
    assert "cuda.oom" in done.err
    done = here.bash("cat oom | aifix 2> /dev/full > copy; echo $?; cmp copy oom")
    assert done.out == b"1\n"


@pytest.mark.parametrize("redirect", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_ends(here: Installed, redirect: str) -> None:
    (here.folder / "oom").write_bytes(OOM)
    done = here.bash(f"(cat oom | aifix {redirect}); echo status $?")
    assert done.out.endswith(b"status 1\n")
    assert "Traceback (most recent call last):\n  File" not in done.err


def test_a_reader_that_goes_away_does_not_kill_the_producer(here: Installed) -> None:
    done = here.bash("(for i in $(seq 3000); do echo step $i; done; echo produced > produced) | aifix -q | head -n 1; cat produced")
    assert done.out == b"step 1\nproduced\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_as_it_ends_others(here: Installed, number: signal.Signals) -> None:
    process = here.start("-q")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"step 1\n")
    process.stdin.flush()
    assert process.stdout.read(7) == b"step 1\n"  # what came has passed
    process.send_signal(number)
    assert process.wait(timeout=20) == -number
    process.stdin.close()


def test_interrupts_are_left_to_the_producer(here: Installed) -> None:
    process = here.start()
    assert process.stdin is not None
    process.stdin.write(b"step 1\n")
    process.stdin.flush()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.stdin.write(OOM)
    out, err = process.communicate(timeout=30)
    assert out == b"step 1\n" + OOM
    assert b"cuda.oom" in err


def test_two_at_once_share_one_cache(here: Installed) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: here.run(data=LARGE), range(6)))
    for done in runs:
        whole(done.status, done.out, done.err, LARGE)
    kept = [path for path in Path(here.environ["XDG_CACHE_HOME"]).rglob("*") if path.is_file()]
    assert all(path.suffix in {".hsdb", ".json", ".txt"} for path in kept), kept


@pytest.mark.parametrize("damage", [b"", b"aifix hyperscan 1\n", b"\x80\x04\x95 pickle", None])
def test_a_damaged_or_foreign_database_is_made_anew(here: Installed, damage: bytes | None) -> None:
    whole_run = here.run(data=LARGE)
    whole(whole_run.status, whole_run.out, whole_run.err, LARGE)
    made = list(Path(here.environ["XDG_CACHE_HOME"]).rglob("*.hsdb"))
    assert made
    for path in made:
        data = path.read_bytes()
        if damage is None:
            path.write_bytes(data[:2000] + b"\xff" * 50 + data[2050:])
            path.chmod(0o666)
        else:
            path.write_bytes(damage)
    done = here.run(data=LARGE)
    whole(done.status, done.out, done.err, LARGE)


def test_few_processes_and_little_memory(here: Installed) -> None:
    (here.folder / "oom").write_bytes(OOM)
    done = here.bash("ulimit -n 16; cat oom | aifix; echo ${PIPESTATUS[1]}")
    assert done.out == OOM + b"1\n"
    assert os.path.exists(here.folder)  # noqa: PTH110
    assert subprocess.PIPE  # the harness is the same
