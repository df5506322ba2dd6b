"""With a real terminal: what the child sees is what it would see without us."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.supervise.parts import AIFIX, environ, plain

if TYPE_CHECKING:
    from pathlib import Path

pexpect = pytest.importorskip("pexpect")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
LOOK = "import os; print([os.isatty(n) for n in range(3)], *os.get_terminal_size())"


def spawn(*arguments: str, **more: str) -> pexpect.spawn:
    return pexpect.spawn(AIFIX[0], [*AIFIX[1:], "run", *arguments], timeout=30, dimensions=(33, 111), env=environ(**more))


def shell(*, folder: Path | None = None) -> pexpect.spawn:
    bash = pexpect.spawn(
        "bash", ["--norc", "--noprofile"], timeout=30, dimensions=(33, 111), env=environ(PS1="%% "), cwd=str(folder) if folder else None
    )
    bash.sendline("bind 'set enable-bracketed-paste off'; PS1='re''ady> '")
    bash.expect("ready> ")
    return bash


def ended(child: pexpect.spawn) -> str:
    child.expect(pexpect.EOF)
    text = plain(child.before.decode())
    child.close()
    return text


def test_child_has_a_terminal_of_the_same_size() -> None:
    child = spawn("-q", "--", sys.executable, "-c", LOOK)
    assert ended(child) == "[True, True, True] 111 33\n"
    assert child.exitstatus == 0


def test_it_is_the_controlling_terminal_and_takes_keys() -> None:
    child = spawn("--", sys.executable, "-c", "open('/dev/tty').close(); print('hello', input('name? '))")
    child.expect(r"name\? ")
    child.sendline("ada")
    child.expect("hello ada")
    assert "ended well" in ended(child)


def test_password_prompt_does_not_echo() -> None:
    child = spawn("-q", "--", sys.executable, "-c", "import getpass; print(len(getpass.getpass('pass? ')))")
    child.expect(r"pass\? ")
    child.sendline("sesame")
    assert ended(child).strip() == "6"


def test_ctrl_c_interrupts_once() -> None:
    code = "import time\nprint('go', flush=True)\ntry: time.sleep(60)\nexcept KeyboardInterrupt: time.sleep(1); print('cleaned', flush=True); raise SystemExit(9)"
    child = spawn("--retry", "2", "--", sys.executable, "-c", code)
    child.expect("go")
    child.send("\x03")
    child.expect("cleaned")
    text = ended(child)
    assert child.exitstatus == 9
    assert "starting again" not in text


def test_ctrl_c_that_ends_it_gets_one_line() -> None:
    child = spawn("--", "sh", "-c", "echo go; exec sleep 60")
    child.expect("go")
    child.send("\x03")
    text = ended(child)
    assert child.exitstatus == 130
    assert "aifix: interrupted after" in text
    assert text.count("\n") <= 3


def test_ctrl_c_under_watch_gets_one_line() -> None:
    child = pexpect.spawn(AIFIX[0], [*AIFIX[1:], "watch", "--", "sh", "-c", "echo go; exec sleep 60"], timeout=30, env=environ())
    child.expect("go")
    child.send("\x03")
    text = ended(child)
    assert child.exitstatus == 130
    assert "aifix: interrupted after" in text
    assert "host.interrupted" not in text


def test_window_changes_reach_the_child() -> None:
    code = "import os, signal, time\nsignal.signal(signal.SIGWINCH, lambda *_: print('now', *os.get_terminal_size(), flush=True))\nprint('go', flush=True)\ntime.sleep(1)\ntime.sleep(1)"
    child = spawn("-q", "--", sys.executable, "-c", code)
    child.expect("go")
    child.setwinsize(20, 77)
    child.expect("now 77 20")
    ended(child)


def test_terminal_is_set_back_after_a_crash_and_the_report_is_aligned() -> None:
    bash = shell()
    bash.sendline(
        f"{' '.join(AIFIX)} run -- sh -c 'stty raw -echo; kill -SEGV $$'; stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(icanon|opost|echo)' | xargs echo mo''des:"
    )
    bash.expect("host.segfault")
    bash.expect("modes: opost icanon echo")
    bash.sendline("exit")


def test_outputs_that_are_redirected_are_pipes_and_the_rest_stays_a_terminal(tmp_path: Path) -> None:
    bash = shell(folder=tmp_path)
    code = "import os, sys; print([os.isatty(n) for n in range(3)], file=sys.stderr); print('o')"
    run = f'{" ".join(AIFIX)} run -q -- {sys.executable} -c "{code}"'
    for redirection, expected in (
        ("", "True, True, True"),
        ("> out.txt", "True, False, True"),
        ("< /dev/null", "False, True, True"),
        ("| cat", "True, False, True"),
    ):
        bash.sendline(f"{run} {redirection}")
        bash.expect(r"\[((?:True|False), (?:True|False), (?:True|False))\]")
        assert bash.match[1].decode() == expected, redirection
        bash.expect("ready> ")
    bash.sendline(f"{run} 2> err.txt; cat err.txt")
    bash.expect(r"\[(\w+, \w+, \w+)\]")
    assert bash.match[1] == b"True, True, False"
    assert (tmp_path / "out.txt").read_bytes() == b"o\n"
    bash.sendline("exit")


def test_order_of_both_outputs_on_one_terminal_is_exact() -> None:
    code = "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"
    assert [int(line) for line in ended(spawn("-q", "--", sys.executable, "-c", code)).split()] == list(range(500))


def test_nothing_is_lost_when_it_ends_at_once() -> None:
    text = ended(spawn("-q", "--", "seq", "30000"))
    assert [int(line) for line in text.split()] == list(range(1, 30001))


def test_log_has_no_carriage_returns_of_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    text = ended(spawn("--log", str(log), "--", sys.executable, "-c", "print('a\\rb'); print('\\x1b[31mred\\x1b[0m'); print(end='no line feed')"))
    assert log.read_bytes() == b"a\rb\n\x1b[31mred\x1b[0m\nno line feed"
    assert "no line feed\naifix: ended well" in text


def test_ctrl_z_and_fg() -> None:
    bash = shell()
    bash.sendline(f"{' '.join(AIFIX)} run -- {sys.executable} -c 'import time\nfor n in range(40): print(\"tick\", n, flush=True); time.sleep(0.1)'")
    bash.expect("tick 5")
    bash.send("\x1a")
    bash.expect("Stopped")
    bash.expect("ready> ")
    bash.sendline("echo back-in-$((40+2))")
    bash.expect("back-in-42")
    time.sleep(1)
    bash.sendline("fg")
    bash.expect("tick 39")
    bash.expect("ended well")
    bash.sendline("exit")


def test_background_job_leaves_the_terminal_alone() -> None:
    bash = shell()
    bash.sendline(f"{' '.join(AIFIX)} run -- sh -c 'sleep 0.5; echo from-the-back; sleep 0.5' &")
    bash.expect("from-the-back")
    bash.expect("ended well")
    bash.sendline("echo still-$((1+1)); wait; jobs; exit 7")
    bash.expect("still-2")
    bash.expect(pexpect.EOF)
    bash.close()
    assert bash.exitstatus == 7


def test_closed_terminal_ends_it() -> None:
    child = spawn("--", "sh", "-c", "echo $$ go; exec sleep 60")
    child.expect(r"(\d+) go")
    pid = int(child.match[1])
    with contextlib.suppress(pexpect.ExceptionPexpect):  # it still reads its rules
        child.close(force=False)
    from tests.supervise.parts import alive

    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_an_interactive_shell_has_job_control() -> None:
    child = spawn("-q", "--", "bash", "--norc", "--noprofile", PS1="%% ")
    child.sendline("PS1='in''ner> '")
    child.expect("inner> ")
    child.sendline("sleep 50")
    time.sleep(0.5)
    child.send("\x1a")
    child.expect("Stopped")
    child.expect("inner> ")
    child.sendline("kill -9 %1")
    time.sleep(0.5)
    child.sendline("jobs")
    child.expect("Killed")
    child.sendline("exit 3")
    ended(child)
    assert child.exitstatus == 3
