"""Limits of processes, memory, descriptors, files and disks: the data passes, the exit status holds, one line says what was not possible."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.e2e.harness import HEALTHY, OOM, Done, Installed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
LARGE = (HEALTHY * 40_000)[:3_000_000].rpartition(b"\n")[0] + b"\n" + OOM
FAILS = "cat log; exit 5"
NOBODY = 54321
"""A user whom no file of the machine knows."""


def limited(here: Installed, limit: str, *arguments: str, data: bytes | None = None, **environ: str) -> Done:
    """Run aifix under a `ulimit`; as another user where we are root, whom no limit of processes binds."""
    script = f"{limit}; exec {shlex.quote(str(here.aifix))} {shlex.join(arguments)}"
    command = ["bash", "-c", script + (" < log" if data is not None else " < /dev/null")]
    (here.folder / "log").write_bytes(data if data is not None else OOM)
    if "ulimit -u" in limit and os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root is bound by no limit of processes, and there is no setpriv")
        keep = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]  # the interpreter may lie in root's own folder
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *keep, *command]
    done = subprocess.run(command, capture_output=True, cwd=here.folder, env={**here.environ, **environ}, timeout=120, check=False)
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


def one_line(err: str) -> str:
    """Give the one line of aifix's own; a traceback or an abort is none."""
    (line,) = err.splitlines()
    assert line.startswith("aifix: ")
    return line


@pytest.mark.parametrize("data", [OOM, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("kilobytes", [40_000, 60_000, 100_000, 200_000])
def test_little_memory_in_the_pipe(here: Installed, kilobytes: int, data: bytes) -> None:
    done = limited(here, f"ulimit -v {kilobytes}", data=data)
    assert done.out == data
    if done.status == 1:
        assert "cuda.oom" in done.err
    else:
        assert done.status == 2  # nothing is known of it
        assert "cannot be diagnosed: there is not enough memory" in one_line(done.err)


def test_what_cannot_be_diagnosed_is_forgiven_where_every_failure_is(here: Installed) -> None:
    done = limited(here, "ulimit -v 50000", "--exit-zero", data=LARGE)
    assert (done.status, done.out) == (0, LARGE)
    assert "cannot be diagnosed" in one_line(done.err)


@pytest.mark.parametrize("kilobytes", [50_000, 60_000, 100_000, 300_000, 4_000_000])
def test_little_memory_beside_a_run(here: Installed, kilobytes: int) -> None:
    (here.folder / "big").write_bytes(LARGE)
    done = limited(here, f"ulimit -v {kilobytes}", "run", "--no-history", "--", "sh", "-c", "cat big; exit 5")
    assert (done.status, done.out) == (5, LARGE)
    assert "Traceback (most recent call last):\n  File" not in done.err
    assert "cuda.oom" in done.err or "memory" in done.err


@pytest.mark.parametrize("data", [OOM, LARGE], ids=["small", "large"])
def test_no_process_and_no_thread_in_the_pipe(here: Installed, data: bytes) -> None:
    done = limited(here, "ulimit -u 1", "--no-history", data=data)
    assert (done.status, done.out) == (1, data)
    assert "cuda.oom" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", [["run"], ["run", "--format", "json"], ["run", "--retry", "2"], ["watch"], ["rerun", "--quiet"]], ids=" ".join)
@pytest.mark.parametrize("limit", ["ulimit -u 1", "ulimit -n 6", "ulimit -n 10"])
def test_a_run_that_cannot_be_supervised_runs_all_the_same(here: Installed, command: list[str], limit: str) -> None:
    done = limited(here, limit, *command, "--", "sh", "-c", "exit 7" if "-u" in limit else FAILS)
    assert done.status == (7 if "-u" in limit else 5)
    assert done.out == (b"" if "-u" in limit else OOM) or "json" in command
    assert "it runs without aifix" in done.err
    assert "Traceback (most recent call last):\n  File" not in done.err


def test_a_command_that_is_not_there_is_not_run_without_us_either(here: Installed) -> None:
    done = limited(here, "ulimit -u 1", "run", "--", "no-such-command")
    assert done.status in {126, 127}
    assert "no-such-command" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["probe host", "probe cuda", "probe dist", "diagnose --probe log", "why log", "fix 1 log", "report log"])
def test_other_commands_without_processes(here: Installed, command: str) -> None:
    done = limited(here, "ulimit -u 1", *command.split())
    assert done.status in {0, 1}
    assert done.out
    assert "Traceback" not in done.err


@pytest.mark.parametrize("blocks", [0, 1, 8])
def test_files_may_not_grow(here: Installed, blocks: int) -> None:
    (here.folder / "log").write_bytes(OOM)
    done = here.bash(f"cat log | (ulimit -f {blocks}; AIFIX_HOME=kept aifix --remember 2> >(cat >&2)) | cat; echo ${{PIPESTATUS[1]}}")
    assert done.out == OOM + b"1\n"
    assert "cuda.oom" in done.err
    assert "Traceback (most recent call last):\n  File" not in done.err
    assert done.err.count("\naifix: ") <= 1  # the history cannot be written


def mounted(here: Installed, script: str) -> Done:
    """Run a script where it may mount what it likes, unseen by others."""
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False) if shutil.which("unshare") else None
    if tried is None or tried.returncode:
        pytest.skip("needs the right to mount")
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=here.folder,
        env=here.environ,
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))


@pytest.mark.parametrize(
    "disk",
    ["mount -t tmpfs -o size=32k none home; head -c 1000000 /dev/zero > home/full 2> /dev/null", "mount -t tmpfs -o ro none home"],
    ids=["full", "read-only"],
)
@pytest.mark.parametrize("data", [OOM, LARGE], ids=["small", "large"])
def test_a_home_that_takes_nothing(here: Installed, disk: str, data: bytes) -> None:
    (here.folder / "log").write_bytes(data)
    done = mounted(here, f"{disk}; cat log | aifix --remember; echo ${{PIPESTATUS[1]}}; aifix run -- sh -c 'cat log; exit 3' > /dev/null; echo $?")
    assert done.out == data + b"1\n3\n"
    assert done.err.count("cuda.oom") >= 2
    assert "Traceback (most recent call last):\n  File" not in done.err
    said = [line for line in done.err.splitlines() if line.startswith("aifix: ") and "history" in line]
    assert 1 <= len(said) <= 2, done.err  # a line for the pipe, a line for the run


@pytest.mark.parametrize("state", ["full", "read-only"])
def test_a_folder_for_temporary_files_that_takes_nothing(here: Installed, tmp_path: Path, state: str) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    (here.folder / "log").write_bytes(OOM)
    (here.folder / "bare").mkdir()
    mount = f"mount -t tmpfs -o {'size=4k' if state == 'full' else 'ro'} none {place}; head -c 9000 /dev/zero > {place}/x 2> /dev/null; "
    readonly = "".join(
        f"mount -t tmpfs -o ro none {folder}; "
        for folder in ("/var/tmp", "/usr/tmp", "bare")
        if os.path.isdir(folder) or folder == "bare"  # noqa: PTH112
    )
    script = f"{mount}{readonly}export TMPDIR={place} XDG_CACHE_HOME={place}; cd bare || exit; "
    script += "cat ../log | aifix; echo ${PIPESTATUS[1]}; aifix watch -- cat ../log; echo $?; aifix probe host > /dev/null"
    if str(here.folder).startswith(("/var/tmp", "/usr/tmp")):
        pytest.skip("the tests' own folder would be hidden")
    done = mounted(here, script)
    assert done.out.replace(OOM, b"#") == b"#1\n#0\n"
    assert "cuda.oom" in done.err
    assert "Traceback (most recent call last):\n  File" not in done.err


def test_a_user_whom_nobody_knows_and_no_home(here: Installed) -> None:
    if os.geteuid() or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    (here.folder / "log").write_bytes(OOM)
    caps = "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search"  # to read, not to write
    who = f"env -u HOME -u USER -u LOGNAME -u XDG_CACHE_HOME -u XDG_DATA_HOME -u XDG_CONFIG_HOME setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {caps}"
    for command, status in (
        ("aifix", 1),
        ("aifix --remember", 1),
        ("aifix run -- sh -c 'cat log; exit 3'", 3),
        ("aifix report log", 0),
        ("aifix history", 2),
        ("aifix kb search memory", 0),
        ("aifix fix 1 log", 1),
        ("aifix why log", 1),
    ):
        done = here.bash(f"{who} {command} < log; echo $?")
        assert done.out.endswith(f"{status}\n".encode()), (command, done)
        assert "Traceback (most recent call last):\n  File" not in done.err, command
