"""`aifix report`: what a maintainer needs, in an instant, with nobody's secrets or names, and no text of the log that acts."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from typing import TYPE_CHECKING

import pexpect
import pytest
from tests.kb.parts import AIFIX, CRASH, aifix, environ, incident
from tests.test_redact import PLANTED, leaks

from aifix import api, bugreport, kb, redact
from aifix.bugreport import archive, markdown
from aifix.bugreport.excerpt import MOST, excerpt
from aifix.intake import document as intake
from aifix.probes.target import Target

if TYPE_CHECKING:
    from pathlib import Path

JOE = redact.Person(("/home/joe",), ("joe",), ("gpu-node-17",))


def bug(log: str, environment: dict[str, str] | None = None) -> bugreport.Bug:
    document = intake.read([(1, log.encode())])
    report = api.diagnose_document(document)
    return bugreport.collect(document, report, Target(python=sys.executable, how="--python", environ=environment or {}), person=JOE)


def test_it_says_what_failed_and_where(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("epoch 1\n" * 50 + CRASH)
    done = aifix(tmp_path / "home", "report", "run.log", "--python", sys.executable, cwd=tmp_path)
    assert done.status == 0, done.err
    text = done.out
    assert text.startswith("# CUDA out of memory on GPU 0\n")
    assert "Diagnosis of aifix: `cuda.oom`, " in text
    assert "`project/train.py in step, line 12`" in text
    assert "1. Halve the batch" in text
    assert re.search(r"\[\.\.\. lines 5 to 4\d left out \.\.\.\]", text)
    assert "Tried to allocate 2.00 GiB" in text
    assert f"| Python | `{sys.version_info[0]}.{sys.version_info[1]} (" in text
    assert re.search(r"<details><summary>\d+ packages</summary>", text)
    assert re.search(r"(?m)^msgspec==\d", text)
    assert "| `host.memory` |" in text
    assert list(tmp_path.iterdir()) == [tmp_path / "run.log"]


def test_a_failure_that_no_rule_knows() -> None:
    text = bugreport.render(bug('Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\nmy.OddError: the flux is inverted\n'))
    assert text.startswith("# my.OddError: the flux is inverted\n")
    assert "No rule of aifix knows this failure." in text


def test_without_a_log_it_is_about_the_last_failure(home: Path, store: kb.Store) -> None:
    made = incident(seconds=7.0, folder="/srv/project")
    kb.add(store, made)
    done = aifix(home, "report", "--number", "1")
    assert done.status == 0, done.err
    assert done.out.startswith("# CUDA out of memory on GPU 0\n")
    assert "Command: `python train.py`" in done.out
    assert "Tried to allocate 2.00 GiB" in done.out
    assert made.host not in done.out or len(made.host) < 4
    assert aifix(home, "report").out == done.out
    assert aifix(home, "report", "--number", "9").status == 2


def test_no_planted_secret_gets_into_a_report() -> None:
    log = "\n".join(text for _, _, text in PLANTED) + "\n" + CRASH
    for number in range(0, len(PLANTED), 40):
        secrets = PLANTED[number : number + 40]
        near = "\n".join(text for _, _, text in secrets[:6])
        found = bug(f"{near}\n{CRASH}ValueError: {secrets[7][2]}\n", {f"SETTING_{at}_KEY": secret for at, (_, secret, _) in enumerate(secrets)})
        shown = bugreport.render(found) + json.dumps(found.report, ensure_ascii=False) + found.log
        assert [kind for kind, secret, _ in secrets if leaks(secret, shown)] == []
    whole = bug(log)
    shown = bugreport.render(whole) + json.dumps(whole.report, ensure_ascii=False)
    assert [kind for kind, secret, _ in PLANTED if leaks(secret, shown)] == []


def test_whose_machine_it_is_stays_out() -> None:
    log = CRASH.replace("/srv/project", "/home/joe/project") + "ssh joe@gpu-node-17: connection lost, see /home/ann/notes\n"
    found = bug(log, {"NCCL_TOPO_FILE": "/home/joe/topo.xml", "MASTER_ADDR": "gpu-node-17"})
    shown = bugreport.render(found) + json.dumps(found.report)
    assert not re.search(r"\bjoe\b|\bann\b|gpu-node-17", shown)
    assert "~/topo.xml" in shown


NASTY = "``` <img src=x onerror=alert(1)> @everyone [a](javascript:b) | #1 \x1b[31mred\x1b[0m \u202e"


def test_no_text_of_a_log_acts_in_the_issue() -> None:
    found = bug(f'{NASTY}\nTraceback (most recent call last):\n  File "/srv/`a`.py", line 3, in f\nmy.OddError: {NASTY}\n')
    text = bugreport.render(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    fence = next(line for line in text.splitlines() if line.startswith("```"))
    inside = text.partition(fence + "\n")[2].partition("\n" + fence.removesuffix("text") + "\n")[0]
    assert len(fence.removesuffix("text")) == 4
    assert "<img" in inside
    outside = text.replace(inside, "")
    assert "<img" not in outside
    assert "@everyone" not in outside
    assert "[a\\](java" in outside
    title = outside.splitlines()[0]
    assert "&#35;1" in title
    assert "\\|" in title


@pytest.mark.parametrize(("text", "shown"), [("a`b", "`` a`b ``"), ("a|b", "`a¦b`"), ("x", "`x`")])
def test_code_spans_stay_closed(text: str, shown: str) -> None:
    assert markdown.code(text) == shown


def test_long_tracebacks_and_logs_are_cut() -> None:
    frames = "".join(f'  File "/srv/x.py", line {number}, in f{number}\n    call()\n' for number in range(400))
    log = f"start\nTraceback (most recent call last):\n{frames}my.OddError: {'x' * 5000}\n" + "after\n" * 4000
    document = intake.read([(1, log.encode())])
    lines = excerpt(document, api.diagnose_document(document)).splitlines()
    assert len(lines) <= MOST + 5
    assert max(map(len, lines)) < 700
    assert "my.OddError" in "\n".join(lines)


def test_it_takes_about_a_second_and_imports_no_torch(tmp_path: Path) -> None:
    import os
    import resource

    (tmp_path / "run.log").write_text(CRASH)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = aifix(tmp_path / "home", "report", "run.log", cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{spent:.2f} s of processor time")
    assert not re.search(r"\|\s+(?:torch|sqlite_utils|textual)$", done.err, re.MULTILINE)
    assert spent < 3
    assert os.name


# ---------------------------------------------------------------- written


def test_a_zip_holds_all_of_it_and_is_the_same_each_time() -> None:
    found = bug(CRASH)
    data = archive.pack(found, bugreport.render(found))
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        assert set(packed.namelist()) == {"report.md", "log.txt", "environment.json", "packages.txt", "report.json"}
        assert json.loads(packed.read("report.json"))["schema"] == "aifix.report/1"
        assert b"Tried to allocate" in packed.read("log.txt")
    assert archive.pack(found, bugreport.render(found)) == data


def test_it_is_written_only_when_that_was_agreed_to(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(CRASH)
    home = tmp_path / "home"
    done = aifix(home, "report", "run.log", "-o", "x.md", cwd=tmp_path)
    assert done.status == 2
    assert "nothing was written" in done.err
    assert not (tmp_path / "x.md").exists()
    done = aifix(home, "report", "run.log", "-o", "x.md", "--zip", "x.zip", "--yes", cwd=tmp_path)
    assert done.status == 0, done.err
    assert (tmp_path / "x.md").read_text() == done.out
    assert zipfile.is_zipfile(tmp_path / "x.zip")
    assert aifix(home, "report", "run.log", "-o", "missing/x.md", "--yes", cwd=tmp_path).status == 2
    assert aifix(home, "report", "nowhere.log", cwd=tmp_path).status == 2


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_on_a_terminal_it_is_shown_and_then_asked(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(CRASH)
    child = pexpect.spawn(AIFIX[0], [*AIFIX[1:], "report", "run.log", "-o", "x.md"], env=environ(tmp_path / "home"), cwd=str(tmp_path), timeout=30)  # type: ignore[arg-type]
    child.expect("CUDA out of memory on GPU 0")
    child.expect("Write it to x.md")
    child.sendline("y")
    child.expect("x.md was written")
    child.expect(pexpect.EOF)
    assert (tmp_path / "x.md").read_text().startswith("# CUDA")
