from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.e2e.harness import HEALTHY, OOM, ROOT, Installed

NOISE = random.Random(1)  # noqa: S311 - the same junk every time
INPUTS = {
    "empty": b"",
    "one byte": b"x",
    "no line feed at the end": b"loss 0.1\nRuntimeError: boom",
    "only line feeds": b"\n" * 5000,
    "carriage returns": OOM.replace(b"\n", b"\r\n"),
    "redraws": b"\r".join(b"%3d%%|###   | loss=0.1" % n for n in range(100)) + b"\n",
    "NUL bytes": b"a\0b\0\n" + b"\0" * 100_000 + OOM,
    "invalid UTF-8": b"\xff\xfe\x80\x81 \xc3( \xe2\x82\n" + OOM,
    "UTF-16": OOM.decode().encode("utf-16"),
    "latin-1": "höher als erwartet\n".encode("latin-1") + OOM,
    "escapes": b"\x1b[31m\x1b]0;title\x07" + OOM.replace(b"\n", b"\x1b[0m\n"),
    "binary": NOISE.randbytes(1_000_000),
    "every byte": bytes(range(256)) * 1000,
    "long line": b"x" * 5_000_000 + b"\n" + OOM,
    "long log": HEALTHY * 20_000 + OOM,
}


@pytest.mark.parametrize("name", INPUTS)
def test_the_input_passes_byte_for_byte(here: Installed, name: str) -> None:
    done = here.run(data=INPUTS[name])
    assert done.out == INPUTS[name]
    assert "Traceback (most recent call last)" not in done.err.replace(" │ Traceback (most recent call last)", "")
    assert done.status in {0, 1}
    assert all(line.isprintable() for line in done.err.split("\n"))


EACH = 8
"""Of so many logs one is passed: each is a process, and what stands in it is no matter to the copying."""


def corpora() -> list[Path]:
    folders = [ROOT / "src" / "aifix" / "examples", ROOT / "tests" / "corpus", ROOT.parent / "shared" / "corpus"]
    return sorted(log for folder in folders for log in folder.rglob("*.log"))[::EACH]


def test_logs_of_the_corpora_pass_byte_for_byte(here: Installed) -> None:
    def passes(number: int, log: Path) -> str:
        done = here.bash(f"cat '{log}' | aifix >out{number} 2>err{number}; echo ${{PIPESTATUS[1]}}; cmp '{log}' out{number}")
        return "" if done.status == 0 and done.out in {b"0\n", b"1\n"} else f"{log.name}: {done}"

    with ThreadPoolExecutor(4) as pool:
        failures = [text for text in pool.map(passes, *zip(*enumerate(corpora()), strict=True)) if text]
    assert not failures


def test_lines_pass_at_once(here: Installed) -> None:
    process = here.start()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"first line\n")
    process.stdin.flush()
    assert os.read(process.stdout.fileno(), 100) == b"first line\n"
    process.stdin.write(b"no line feed yet")
    process.stdin.flush()
    assert os.read(process.stdout.fileno(), 100) == b"no line feed yet"
    assert process.poll() is None
    process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "data", "status"),
    [
        ((), HEALTHY, 0),
        ((), b"", 0),
        ((), OOM, 1),
        ((), b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    frob()\nFrobError: unheard of\n', 1),
        (("--exit-zero",), OOM, 0),
        (("-q",), HEALTHY, 0),
        (("-q",), OOM, 1),
        (("--format", "json"), OOM, 1),
        (("--format=json",), HEALTHY, 0),
        (("--format", "github"), OOM, 1),
        (("--format", "sarif", "--exit-zero"), OOM, 0),
        (("--format", "sculpture"), OOM, 2),
        (("--frobnicate",), OOM, 2),
        (("frobnicate",), OOM, 2),
    ],
    ids=[
        *("healthy", "empty", "diagnosed", "unknown", "exit-zero", "quiet-healthy", "quiet-diagnosed", "json-diagnosed", "json-healthy"),
        *("github", "sarif-exit-zero", "no-such-format", "no-such-option", "no-such-command"),
    ],
)
def test_exit_status(here: Installed, arguments: tuple[str, ...], data: bytes, status: int) -> None:
    done = here.run(*arguments, data=data)
    assert done.status == status
    if status == 2:
        assert done.out == b""
        assert "Traceback" not in done.err


def test_a_healthy_run_gets_one_quiet_line(here: Installed) -> None:
    assert here.run(data=HEALTHY).err == "aifix: nothing failed in 4 lines\n"
    assert here.run("-q", data=HEALTHY).err == ""


def test_an_empty_input_is_not_called_healthy(here: Installed) -> None:
    assert here.run().err == "aifix: nothing came in\n"
    (here.folder / "empty.log").touch()
    done = here.run("diagnose", "empty.log")
    assert (done.status, done.out) == (0, b"aifix: empty.log is empty: nothing was written into it\n")


def test_compressed_input_is_not_called_healthy(here: Installed) -> None:
    data = gzip.compress(OOM)
    done = here.run(data=data)
    assert (done.status, done.out) == (2, data)
    assert "gzip -dc FILE | aifix" in done.err
    assert here.run("diagnose", "-", data=data).status == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the other end of the pipe is looked at in /proc")
def test_who_forgot_standard_error_is_told(here: Installed) -> None:
    program = f"{here.python} -c 'import time; print(1, flush=True); time.sleep(1); raise SystemExit(1/0)'"
    assert here.bash(f"{program} 2>/dev/null | aifix").err == (
        "aifix: nothing failed in 1 line; standard error went another way, and with it the errors: 2>&1 | aifix\n"
    )
    assert "standard error" not in here.bash(f"{program.replace('1/0', '0')} 2>&1 | aifix").err
    assert "standard error" not in here.bash(f"{program.replace('1/0', '0')} 2>&1 | tee run.log | aifix").err


def test_other_formats_copy_nothing(here: Installed) -> None:
    assert here.run("--format", "json", data=OOM).out.startswith(b"{")
    assert here.run("--format", "github", data=OOM).out.startswith(b"::error ")


def test_an_unknown_failure_is_no_diagnosis(here: Installed) -> None:
    log = b'Traceback (most recent call last):\n  File "frob.py", line 7, in main\n    frob(3)\nfrob.FrobError: the widget sulks\n'
    done = here.run(data=log)
    assert done.status == 1
    assert "FrobError: the widget sulks" in done.err
    assert "frob.py:7" in done.err
    assert "no rule" in done.err


def test_colours_on_request_only(here: Installed) -> None:
    assert "\x1b" not in here.run(data=OOM).err
    assert "\x1b" in here.run("--color", data=OOM).err
    assert "\x1b" in here.run(data=OOM, FORCE_COLOR="1").err
    assert "\x1b" not in here.run(data=OOM, FORCE_COLOR="1", NO_COLOR="1").err


def test_an_ascii_terminal_gets_ascii(here: Installed) -> None:
    shown = here.run(data=OOM, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii").err
    assert "cuda.oom" in shown
    assert shown.isascii()


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "2>/dev/full", ">/dev/full"])
@pytest.mark.skipif(sys.platform == "win32", reason="shell redirections")
def test_closed_or_full_outputs(here: Installed, closed: str) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    assert here.bash(f"cat run.log | aifix {closed}; exit ${{PIPESTATUS[1]}}").status == 1
    assert here.bash(f"echo fine | aifix {closed}; exit ${{PIPESTATUS[1]}}").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="shell pipes")
def test_a_reader_that_goes_away_kills_neither_producer_nor_diagnosis(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(HEALTHY * 50_000 + OOM)
    done = here.bash("{ cat run.log; echo $? >producer; } | { aifix 2>err; echo $? >status; } | head -n 1")
    assert done.out == HEALTHY[: HEALTHY.index(b"\n") + 1]
    assert (here.folder / "producer").read_text() == "0\n"
    assert (here.folder / "status").read_text() == "1\n"
    assert "cuda.oom" in (here.folder / "err").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupts_are_ignored_until_the_end_of_input(here: Installed) -> None:
    process = here.start()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"started\n")
    process.stdin.flush()
    assert os.read(process.stdout.fileno(), 100) == b"started\n"
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    assert process.poll() is None
    out, err = process.communicate(OOM, timeout=60)
    assert out == OOM
    assert b"cuda.oom" in err
    assert process.returncode == 1


PRODUCER = """
import sys, time
print(open(sys.argv[1]).read(), flush=True)
step = 0
while True:
    step += 1
    print("still running, step", step, flush=True)
    time.sleep(0.05)
"""


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_ctrl_c_in_a_real_terminal_still_gives_the_diagnosis(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    (here.folder / "producer.py").write_text(PRODUCER)
    socket = str(here.folder / "tmux")
    tmux = ["tmux", "-S", socket, "-f", "/dev/null"]
    env = here.environ | {"PS1": "$ ", "SHELL": "/bin/bash"}

    def call(*arguments: str) -> str:
        return subprocess.run([*tmux, *arguments], check=True, capture_output=True, text=True, cwd=here.folder, env=env).stdout

    def wait_for(text: str, seconds: float = 30) -> str:
        end = time.monotonic() + seconds
        while True:
            screen = call("capture-pane", "-p", "-J", "-S", "-")
            if text in screen:
                return screen
            assert time.monotonic() < end, f"{text!r} never came:\n{screen}"
            time.sleep(0.05)

    call("new-session", "-d", "-x", "90", "-y", "50", "bash --norc --noprofile")
    try:
        call("send-keys", "python producer.py run.log 2>&1 | aifix", "Enter")
        wait_for("still running, step 5")
        call("send-keys", "C-c")
        wait_for("more: aifix why")
        call("send-keys", "echo ended:${PIPESTATUS[*]}", "Enter")
        screen = wait_for("\nended:")
    finally:
        call("kill-server")
    after = screen[screen.rindex("still running") :]
    assert "KeyboardInterrupt" in after
    assert "CUDA out of memory" in after
    assert "cuda.oom" in after
    assert "\nended:130 1" in after or "\nended:1 1" in after


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_fifo_that_closes_early(here: Installed) -> None:
    os.mkfifo(here.folder / "fifo")
    done = here.bash("(printf 'step 1\\nRuntimeError: CUDA out of mem' > fifo) & aifix < fifo")
    assert done.out == b"step 1\nRuntimeError: CUDA out of mem"
    assert done.status in {0, 1}
    done = here.bash("(: > fifo) & aifix diagnose fifo")
    assert done.status == 0
    assert "Traceback" not in done.err


def peak_of(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    """Watch the peak of a process's memory in KiB, until it ends."""
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            text = status.read_text()
        except OSError:
            return
        if "VmHWM:" in text:
            peak[0] = max(peak[0], int(text.split("VmHWM:")[1].split()[0]))
        time.sleep(0.01)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("kind", "chunk", "size"),
    [
        ("endless healthy", b"step: loss 0.25, 1234 tokens/s\n" * 8192, 400_000_000),
        ("endless errors", OOM * 16, 200_000_000),
        ("one line", b"x" * 262_144, 200_000_000),
        ("only line feeds", b"\n" * 262_144, 50_000_000),
        ("redraws", b"\r 12%|##  | loss=0.1" * 8192, 200_000_000),
        ("distinct tracebacks", b"", 60_000_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # the bytes would go into the environment, which has a limit
)
def test_memory_is_bounded(here: Installed, kind: str, chunk: bytes, size: int) -> None:
    process = subprocess.Popen(
        [here.aifix], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=here.folder, env=here.environ
    )
    peak = [0]
    watcher = threading.Thread(target=peak_of, args=(process, peak))
    watcher.start()
    assert process.stdin is not None
    written = number = 0
    while written < size:
        number += 1
        data = chunk or b"".join(
            b'Traceback (most recent call last):\n  File "a%d.py", line %d, in f\n    g()\nOddError%d: thing %d broke\n' % (number, k, k, number * k)
            for k in range(2000)
        )
        process.stdin.write(data)
        written += len(data)
    process.stdin.write(b"\n" + OOM)
    _, err = process.communicate(timeout=120)
    watcher.join()
    assert b"cuda.oom" in err, kind
    assert process.returncode == 1
    assert peak[0] < 300_000, f"{kind}: {peak[0]} KiB"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the name of the file is read from /proc")
def test_the_file_that_keeps_the_log_is_named_in_the_commands(here: Installed) -> None:
    (here.folder / "crash.txt").write_bytes(OOM)
    done = here.bash("cat crash.txt | aifix --no-history > 'my run.log'")
    assert "aifix why 'my run.log'" in done.err
    assert (here.folder / "my run.log").read_bytes() == OOM
    assert "aifix why LOG" in here.bash("cat crash.txt | aifix --no-history | cat").err
