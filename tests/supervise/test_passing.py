"""Output, exit status and what is said at the end, with plain pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.supervise.parts import AIFIX, OOM, alive, environ, python, start, supervise

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals, sessions and /bin/sh")


def test_well() -> None:
    done = supervise("--", "printf", "a\\nb\\n")
    assert (done.status, done.out) == (0, b"a\nb\n")
    assert done.err.count("\n") == 1
    assert "ended well" in done.err
    assert "2 lines" in done.err


def test_quiet_says_nothing_of_a_good_end() -> None:
    assert supervise("-q", "--", "true") == (0, b"", "")


def test_outputs_stay_apart_and_binary_survives() -> None:
    data = bytes(range(256)) * 500
    code = f"import os; d = bytes(range(256)) * 500; os.write(2, b'E' * 7 + b'\\n'); assert os.write(1, d[:60000]) and os.write(1, d[60000:]) == {len(data) - 60000}"
    done = supervise(*python(code))
    assert done.out == data
    assert done.err.startswith("EEEEEEE\naifix: ended well")


def test_input_passes() -> None:
    data = os.urandom(300_000)
    assert supervise("-q", "--", "cat", data=data).out == data


@pytest.mark.parametrize("status", [1, 2, 3, 77, 255])
def test_exit_status_is_the_childs(status: int) -> None:
    assert supervise("--", "sh", "-c", f"exit {status}").status == status


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("SEGV", 11), ("ABRT", 6), ("TERM", 15), ("BUS", 7), ("ILL", 4), ("USR1", 10)])
def test_death_by_signal(name: str, number: int) -> None:
    done = supervise("--", "sh", "-c", f"echo last words; kill -{name} $$")
    assert done.status == 128 + number
    assert f"killed by SIG{name} (exit status {128 + number})" in done.err


def test_segmentation_fault_is_recognised_though_no_shell_printed_it() -> None:
    done = supervise("--", "sh", "-c", "echo step 1; kill -SEGV $$")
    assert "host.segfault" in done.err
    assert "2 │ aifix run: the command ended by signal 11: Segmentation fault" in done.err


def test_kill_is_not_taken_for_lack_of_memory_without_a_sign_of_it() -> None:
    done = supervise("--", "sh", "-c", "kill -KILL $$")
    assert "host.oom-killed" not in done.err
    assert "the out-of-memory killer, a scheduler, or kill -9" in " ".join(done.err.split())


def test_unknown_end_is_explained() -> None:
    done = supervise("--", "sh", "-c", "echo epoch 1 loss 0.5; echo bye; exit 126")
    text = " ".join(done.err.split())
    assert "✗ exit status 126: the command was found and cannot be executed" in text
    assert "a failure that no rule of aifix knows" in text
    assert "2 │ bye" in text


def test_status_that_stands_for_a_signal_of_a_grandchild() -> None:
    done = supervise("--", "sh", "-c", "exit 137")
    assert "a process below it ended by SIGKILL" in " ".join(done.err.split())


def test_diagnosis() -> None:
    done = supervise("--", "sh", "-c", f"echo '{OOM}' >&2; exit 1")
    assert done.status == 1
    assert "cuda.oom" in done.err


def test_error_text_in_a_run_that_ended_well_is_no_failure() -> None:
    done = supervise("--", "echo", OOM)
    assert done.status == 0
    assert "cuda.oom" not in done.err


@pytest.mark.parametrize(("command", "status"), [("no-such-command-xyz", 127), ("/no/such/file", 127), ("/etc/passwd", 126), ("/etc", 126)])
def test_command_that_cannot_start(command: str, status: int) -> None:
    done = supervise("--retry", "3", "--", command)
    assert done.status == status
    assert done.err.startswith(f"aifix: {command}: ")
    assert done.err.count("\n") == 1


def test_json_has_standard_output_for_itself() -> None:
    done = supervise("--format", "json", "--", "sh", "-c", f"echo progress; echo '{OOM}'; exit 1")
    report = json.loads(done.out)
    assert report["diagnoses"][0]["id"].startswith("cuda.oom")
    assert done.err.startswith("progress\n")
    assert done.status == 1
    assert json.loads(supervise("--format", "json", "--", "echo", "x").out)["failed"] is False


def test_github_annotations() -> None:
    assert b"::error " in supervise("--format", "github", "--", "sh", "-c", f"echo '{OOM}'; exit 1").out


def test_log_keeps_both_outputs_whole(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    code = """
import sys, threading
def write(stream, letter):
    for number in range(3000):
        stream.write(f"{letter}{number} " + letter * 60 + "\\n")
threads = [threading.Thread(target=write, args=pair) for pair in ((sys.stdout, "o"), (sys.stderr, "e"))]
[one.start() for one in threads]; [one.join() for one in threads]
"""
    done = supervise("--log", str(log), *python(code))
    assert done.status == 0
    lines = log.read_bytes().splitlines()
    assert len(lines) == 6000
    for letter in "oe":
        assert [line for line in lines if line.startswith(letter.encode())] == [f"{letter}{n} {letter * 60}".encode() for n in range(3000)]
    assert done.out == b"".join(f"o{n} {'o' * 60}\n".encode() for n in range(3000))


def test_log_is_named_in_the_report_and_its_lines_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    done = supervise("--log", str(log), "--", "sh", "-c", f"echo one; echo '{OOM}'; exit 1")
    assert f"aifix why {log}" in done.err.replace("\n  ", "")
    assert "2 │ torch.OutOfMemoryError" in done.err


def test_log_that_cannot_be_written() -> None:
    done = supervise("--log", "/no/such/folder/x.log", "--", "echo", "x")
    assert (done.status, done.out) == (2, b"")
    assert "cannot be written" in done.err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_full_disk_under_the_log_does_not_end_the_run() -> None:
    done = supervise("--log", "/dev/full", "--", "sh", "-c", "echo a; echo b")
    assert (done.status, done.out) == (0, b"a\nb\n")
    assert done.err.count("takes no more") == 1


def test_closed_reader_ends_an_endless_program() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(AIFIX)} run -q -- yes | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        timeout=60,
        env=environ(),
        check=False,
    )
    assert done.stdout == b"y\n141\n"


def test_closed_outputs() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(AIFIX)} run -- sh -c 'echo a; echo b >&2; exit 5' >&- 2>&-"],
        capture_output=True,
        timeout=30,
        env=environ(),
        check=False,
    )
    assert done.returncode == 5


def test_child_that_closes_its_outputs_is_awaited() -> None:
    started = time.monotonic()
    done = supervise("--", "sh", "-c", "echo x; exec >&- 2>&-; sleep 1; exit 4")
    assert (done.status, done.out) == (4, b"x\n")
    assert time.monotonic() - started >= 1


def test_grandchild_that_keeps_the_pipe_is_not_waited_for_and_not_harmed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    process = start(["--", "sh", "-c", f"(sleep 4; echo late; echo done > {mark}) & echo $!; exit 0"])
    assert process.stdout is not None
    assert process.stderr is not None
    started = time.monotonic()
    pid = int(process.stdout.readline())
    assert process.wait(timeout=20) == 0
    assert time.monotonic() - started < 3.9
    assert alive(pid)
    assert process.stdout.read() == b"late\n"  # cat carried it on
    assert mark.exists()
    assert b"not waited for what it left behind" in process.stderr.read()


def test_last_words_of_grandchildren_after_a_failure_are_heard() -> None:
    done = supervise("--", "sh", "-c", f"(sleep 1; echo '{OOM}') & exit 1")
    assert "cuda.oom" in done.err


def test_fork_bombs_of_output_from_many_children_stay_whole() -> None:
    done = supervise("-q", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5; do echo line-$i-$j; done) & done; wait")
    assert sorted(done.out.split()) == sorted(f"line-{i}-{j}".encode() for i in range(1, 9) for j in range(1, 6))


def test_slow_reader_of_one_output_does_not_hold_up_the_other() -> None:
    code = """
import os, threading
threading.Thread(target=lambda: os.write(1, b"o" * 4_000_000), daemon=True).start()
os.write(2, b"e" * 300_000 + b"\\nready\\n")
import time; time.sleep(30)
"""
    process = start(python(code))
    assert process.stderr is not None
    got = b""
    while b"ready" not in got:  # nobody reads standard output
        got += os.read(process.stderr.fileno(), 1 << 16)
    process.kill()
    process.communicate()


def test_passed_on_at_once() -> None:
    process = start(["--", "sh", "-c", "printf 'a'; sleep 20"])
    assert process.stdout is not None
    started = time.monotonic()
    assert process.stdout.read(1) == b"a"
    assert time.monotonic() - started < 10
    process.terminate()
    process.communicate()


def test_bad_usage() -> None:
    assert supervise().status == 2
    assert supervise("--stall", "soon", "--", "true").status == 2
    assert supervise("--kill-stalled", "--", "true").status == 2
    assert supervise("--retry-hook", "x", "--", "true").status == 2
    assert supervise("--retry", "-1", "--", "true").status == 2


def test_options_of_the_command_are_its_own() -> None:
    assert supervise("-q", "--", "echo", "--retry", "--", "-q").out == b"--retry -- -q\n"
    assert supervise("-q", "echo", "--log", "x").out == b"--log x\n"
