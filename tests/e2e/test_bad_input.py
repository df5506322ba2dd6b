from __future__ import annotations

import os
import sys

import pytest
from tests.e2e.harness import OOM, Installed


def test_a_missing_file(here: Installed) -> None:
    done = here.run("diagnose", "nowhere.log")
    assert done.status == 2
    assert done.err == "aifix: nowhere.log does not exist\n"


def test_a_directory(here: Installed) -> None:
    (here.folder / "logs").mkdir()
    done = here.run("diagnose", "logs")
    assert done.status == 2
    assert "directory" in done.err
    assert "Traceback" not in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_an_unreadable_file(here: Installed) -> None:
    if os.geteuid() == 0:  # root reads everything; this file opens, and fails when it is read
        name = "/proc/self/mem"
    else:
        (here.folder / "secret.log").write_bytes(OOM)
        (here.folder / "secret.log").chmod(0)
        name = "secret.log"
    done = here.run("diagnose", name)
    assert done.status == 2
    assert name in done.err
    assert "Traceback" not in done.err


def test_one_bad_file_among_good_ones(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    done = here.run("diagnose", "nowhere.log", "run.log")
    assert done.status == 2
    assert b"cuda.oom" in done.out
    assert "nowhere.log" in done.err


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 1000, b"\xff\xfe\x80", bytes(range(256)) * 100, b"\n", b"\r", b"\x1b[" * 1000, b"x" * 3_000_000],
    ids=["empty", "NUL", "not UTF-8", "all bytes", "one feed", "one return", "cut escapes", "one long line"],  # pytest puts ids into the environment
)
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_files_of_junk(here: Installed, data: bytes, form: str) -> None:
    (here.folder / "junk.log").write_bytes(data)
    done = here.run("diagnose", "--format", form, "junk.log")
    assert done.status == 0
    assert done.err == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("command", ["rules list", "schema rule", "kb list", "explain hello: error"])
def test_an_output_on_a_full_disk_is_a_sentence(here: Installed, command: str) -> None:
    done = here.bash(f"aifix {command} > /dev/full")
    assert "Traceback" not in done.err
    if "explain" not in command:  # its report is lost silently, as the pipe's is: the status alone speaks
        assert done.status == 2
        assert done.err == "aifix: the output cannot be written: No space left on device; nothing more was said\n"


def test_usage_errors(here: Installed) -> None:
    for arguments in (
        ["diagnose"],
        ["diagnose", "--format", "sculpture", "x"],
        ["--nonsense"],
        ["explain"],
        ["rules", "show", "no.such-rule"],
    ):
        done = here.run(*arguments)
        assert done.status == 2, arguments
        assert done.err
        assert "Traceback" not in done.err


def test_every_command_has_help(here: Installed) -> None:
    shown = here.run("--help")
    assert shown.status == 0, shown.err
    commands = [line.split()[0] for line in shown.out.decode().partition("Commands:")[2].splitlines() if line[:2] == "  " != line[1:3]]
    assert {"diagnose", "explain", "why", "rules"} <= set(commands)
    for command in commands:
        done = here.run(command, "--help")
        assert done.status == 0, done.err
        assert done.out.startswith(b"Usage: aifix " + command.encode())


BROKEN = {
    "not YAML": ("id: [unclosed\ntitle: x\n", ":"),
    "not a mapping": ("- a\n- b\n", "1"),
    "a missing part": ("id: my.rule\nseverity: error\n", "title"),
    "a wrong type": ("id: my.rule\ntitle: x\nseverity: loud\nexplain: x\nsignatures: []\n", "3"),
    "a bad pattern": ("id: my.rule\ntitle: x\nseverity: error\nexplain: x\nsignatures:\n  - pattern: 'frob (unclosed widget'\n", "6"),
    "not text at all": ("\0\1\2", ""),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_rule_of_the_users_is_named_and_the_rest_works(here: Installed, kind: str) -> None:
    text, names = BROKEN[kind]
    folder = here.folder / ".aifix" / "rules"
    folder.mkdir(parents=True)
    (folder / "broken.yaml").write_text(text)
    done = here.run(data=OOM)
    assert done.status == 1
    assert done.out == OOM
    (complaint,) = [line for line in done.err.split("\n") if "broken.yaml" in line][:1]
    assert complaint.isprintable()
    assert names in complaint.partition("broken.yaml")[2]
    assert "cuda.oom" in done.err
    assert "Traceback" not in done.err


def test_a_good_rule_of_the_users_is_used(here: Installed) -> None:
    folder = here.folder / ".aifix" / "rules"
    folder.mkdir(parents=True)
    (folder / "frob.yaml").write_text(
        "id: my.frob\ntitle: The widget sulks\nseverity: error\nexplain: It sulks.\n"
        "signatures:\n  - pattern: 'the widget sulks about {what:word}'\n"
        "fixes:\n  - {id: pet, title: Pet it, prior: 0.5, effort: low, risk: none, do: [{kind: note, text: Gently.}]}\n"
    )
    log = b'Traceback (most recent call last):\n  File "frob.py", line 7, in main\n    frob(3)\nfrob.FrobError: the widget sulks about rain\n'
    done = here.run(data=log)
    assert "my.frob" in done.err
    assert "Pet it" in done.err
    assert done.status == 1
