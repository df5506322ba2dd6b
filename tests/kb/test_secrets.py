"""Planted secrets of every kind go into the log, the environment and the command line of one failure; none comes out of what is kept or leaves.

What a report shows on the same machine are the log's own lines (DESIGN.md, The report: whole cleaned lines), so text, JSON, SARIF and annotations
may quote them: the reader has them on the screen already. What is stored, and what leaves the machine, may not.
"""

from __future__ import annotations

import shlex
import sqlite3
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import AIFIX, CRASH, aifix, environ
from tests.test_redact import KINDS, PLANTED, leaks

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="command line and environment of the run are read in /proc")
SAID = [one for one in PLANTED if one[0] not in {"e-mail", "package index"}]
"""E-mail addresses name people and are taken out of reports; of package indexes only the log's own lines are planted."""
LOGGED = [*SAID[::2], *SAID[1::2]]
FAILING = f"""
import sys, time
sys.stdout.write(open("secrets.txt").read())
sys.stdout.flush()
time.sleep(0.4)
sys.stderr.write({CRASH.rstrip()!r} + " near " + open("near.txt").read())
sys.exit(1)
"""


def given(kinds: list[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Give variables and arguments that hold a fresh secret of each kind, and those secrets."""
    secrets = {kind: KINDS[kind]() for kind in kinds}
    variables = {f"SERVICE_{number}_TOKEN": secret for number, secret in enumerate(secrets.values())}
    arguments = [part for number, secret in enumerate(secrets.values()) if "\n" not in secret for part in (f"--api-key-{number}", secret)]
    return variables, arguments, list(secrets.values())


def kept_of(home: Path) -> str:
    """Give all that lies in the folder for data, as text: the database with its free pages and its journal, the last output, the marks."""
    with sqlite3.connect(home / "history.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tables = "\n".join(connection.iterdump())
    files = b"\n".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())
    return tables + files.decode("utf-8", "replace") + "\n".join(str(path) for path in home.rglob("*"))


@pytest.mark.parametrize("way", ["pipe", "run"])
def test_none_is_kept_and_none_leaves(home: Path, tmp_path: Path, way: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(FAILING)
    (work / "secrets.txt").write_text("\n".join(text for _, _, text in LOGGED) + "\n")
    near = [one for one in SAID if "\n" not in one[2]][:: len(SAID) // 12]
    (work / "near.txt").write_text(" ".join(text for _, _, text in near) + "\n")
    variables, arguments, held = given([kind for kind in KINDS if kind != "e-mail"])
    secrets = [secret for _, secret, _ in LOGGED] + held
    command = shlex.join([sys.executable, "train.py", *arguments])
    script = f"{command} 2>&1 | {shlex.join(AIFIX)}" if way == "pipe" else f"{shlex.join(AIFIX)} run -- {command}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=work, env=environ(home, **variables), timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert "cuda.oom" in done.stderr
    assert all(leaks(secret, done.stdout) for _, secret, _ in LOGGED[:20])  # they were there
    kept = kept_of(home)
    assert "torch.OutOfMemoryError" in kept
    assert [secret for secret in secrets if leaks(secret, kept)] == []

    out = {
        "export": aifix(home, "history", "export", cwd=work, **variables),
        "show": aifix(home, "history", "show", "1", "--verbose", cwd=work, **variables),
        "list": aifix(home, "history", cwd=work, **variables),
        "why": aifix(home, "why", cwd=work, **variables),
        "fix": aifix(home, "fix", cwd=work, **variables),
        "report of the history": aifix(home, "report", "-y", "-o", "bug.md", "--zip", "bug.zip", cwd=work, **variables),
        "report of the log": aifix(
            home, "report", "-y", "-o", "log.md", "--zip", "log.zip", "-", data=done.stdout + done.stderr, cwd=work, **variables
        ),
    }
    for what, one in out.items():
        assert one.status in {0, 1}, (what, one.err)
        assert one.out, what
        assert [secret for secret in secrets if leaks(secret, one.out + one.err)] == [], what
    for name in ("bug.md", "log.md"):
        text = (work / name).read_text("utf-8")
        assert "CUDA out of memory" in text
        assert [secret for secret in secrets if leaks(secret, text)] == [], name
    for name in ("bug.zip", "log.zip"):
        with zipfile.ZipFile(work / name) as archive:
            packed = "\n".join(archive.read(one).decode("utf-8", "replace") for one in archive.namelist())
        assert [secret for secret in secrets if leaks(secret, packed)] == [], name


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_report_quotes_the_lines_that_prove_it_and_nothing_of_the_environment(home: Path, tmp_path: Path, form: str) -> None:
    variables, arguments, held = given([kind for kind in KINDS if kind != "e-mail"])
    (tmp_path / "train.py").write_text(FAILING)
    (tmp_path / "secrets.txt").write_text("".join(f"{text}\n" for _, _, text in LOGGED))
    (tmp_path / "near.txt").write_text("\n")
    script = f"{shlex.join([sys.executable, 'train.py', *arguments])} 2>&1 | {shlex.join(AIFIX)} -f {form} --probe"
    variables["AIFIX_NO_PROBE"] = ""
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path, env=environ(home, **variables), timeout=120, check=False
    )
    said = done.stderr if form in {"text", "github"} else done.stdout
    assert "cuda.oom" in said + done.stdout, done.stderr
    assert [secret for secret in held if leaks(secret, said)] == []
    assert [secret for _, secret, _ in LOGGED if leaks(secret, said)] == []  # none of those lines proves anything
