"""The laboratory finds claims that do not hold."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from aifix.commands.lab import lab
from aifix.lab import environment, verify
from aifix.lab.running import Runner
from aifix.lab.specimen import load

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aifix.lab.verify import Row

FAIL = 'open("labels.csv")\n'
"""A failure that needs no library: host.file-not-found, whose best fix is proven by `path`."""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(sys.executable) as one:
        yield one


def row(folder: Path, runner: Runner, files: dict[str, str], name: str = "host.file-not-found") -> Row:
    folder = folder / name
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text, "utf-8")
    specimen = load(folder)
    return verify.verify(specimen, environment.describe(sys.executable, [specimen]), runner)


def best_fix(tmp_path: Path, runner: Runner) -> str:
    place = tmp_path / "look"
    place.mkdir()
    said = row(place, runner, {"fail.py": FAIL})
    assert said.found[0] == "host.file-not-found"
    return said.wrong[0].split("the best fix, ")[1].split(",")[0]


def test_what_holds_is_right(tmp_path: Path, runner: Runner) -> None:
    fix = best_fix(tmp_path, runner)
    said = row(tmp_path, runner, {"fail.py": FAIL, f"fixed-{fix}.py": 'open(__file__)\nprint("loaded")\n', "specimen.yaml": "says: loaded"})
    assert said.verdict == "right", said.wrong
    assert said.fails
    assert said.diagnosed
    assert [(one.fix, one.ended) for one in said.fixes] == [(fix, True)]


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({"fail.py": "print('fine')\n"}, "it does not fail: exit status 0"),
        ({"fail.py": "import time\ntime.sleep(60)\n", "specimen.yaml": "limit: 1"}, "it did not end within 1 s"),
        ({"fail.py": FAIL, "specimen.yaml": "status: 3"}, "it ends with 1, not 3"),
        ({"fail.py": "raise ValueError('of my own')\n"}, "diagnosed as nothing"),
        ({"fail.py": FAIL, "specimen.yaml": "facts: {path: other.bin}"}, "fact path is 'labels.csv', not 'other.bin'"),
        ({"fail.py": FAIL, "fixed-no-such-fix.py": "print(1)\n"}, "fix no-such-fix is not offered for it"),
        ({"fail.py": FAIL, "fixed-any.py": FAIL}, "fix any: the fixed program ends with 1 (host.file-not-found)"),
        ({"fail.py": FAIL, "fixed-any.py": "print(1)\n", "specimen.yaml": "says: loaded"}, "fix any: the fixed program does not say 'loaded'"),
        ({"fail.py": FAIL, "specimen.yaml": "apply: [any]"}, "fix any: aifix fix --apply refuses: "),
        ({"fail.py": FAIL}, "has no proof"),
    ],
)
def test_what_does_not_hold_is_said(tmp_path: Path, runner: Runner, files: dict[str, str], wrong: str) -> None:
    said = row(tmp_path, runner, files)
    assert said.verdict == "wrong"
    assert any(wrong in one for one in said.wrong), said.wrong


def test_another_root_cause_is_no_diagnosis_of_this_one(tmp_path: Path, runner: Runner) -> None:
    said = row(tmp_path, runner, {"fail.py": FAIL}, name="host.disk-full")
    assert not said.diagnosed
    assert said.wrong[0].startswith("diagnosed as host.file-not-found")


@pytest.mark.parametrize(
    ("form", "needs"),
    [
        ("modules: [no_such_module]", "the module no_such_module"),
        ("modules: ['pytest>=999']", "pytest>=999 (here is "),
        ("absent: [pytest]", "an interpreter without pytest"),
        ("programs: [no-such-program]", "the program no-such-program"),
        ("python: '>=9'", "Python >=9"),
        ("requires: test -e /no/such/device", "`test -e /no/such/device` to succeed"),
        ("system: win32" if sys.platform != "win32" else "system: linux", "the system "),
    ],
)
def test_what_cannot_run_here_says_why(tmp_path: Path, runner: Runner, form: str, needs: str) -> None:
    said = row(tmp_path, runner, {"fail.py": FAIL, "specimen.yaml": form})
    assert said.verdict == "skipped"
    assert said.needs.startswith(needs)


def test_the_command_tells_by_its_status_and_in_json(tmp_path: Path) -> None:
    folder = tmp_path / "host.file-not-found"
    folder.mkdir()
    (folder / "fail.py").write_text("print('fine')\n", "utf-8")
    cli = CliRunner()
    text = cli.invoke(lab, ["run", "--specimens", str(tmp_path)])
    assert text.exit_code == 1
    assert "it does not fail: exit status 0" in text.output
    assert "1 specimens, 1 wrong" in text.output
    done = json.loads(cli.invoke(lab, ["run", "--specimens", str(tmp_path), "--format", "json"]).output)
    assert done["schema"] == "aifix.lab/1"
    assert done["specimens"][0]["verdict"] == "wrong"
    for arguments, says in (
        (["run", "tensor.nothing", "--specimens", str(tmp_path)], "there is no specimen tensor.nothing"),
        (["run", "--specimens", str(tmp_path / "none")], "is no folder"),
        (["run", "--specimens", str(tmp_path), "--python", "/no/python"], "does not run as a Python interpreter"),
        (["new", "host.file-not-found", "--specimens", str(tmp_path)], "is there already"),
        (["new", "no.rule", "--specimens", str(tmp_path)], "there is no rule no.rule"),
    ):
        bad = cli.invoke(lab, arguments)
        assert bad.exit_code == 2, arguments
        assert says in bad.output, bad.output


def test_a_new_specimen_can_be_read_at_once(tmp_path: Path) -> None:
    done = CliRunner().invoke(lab, ["new", "tensor.view-size+mine", "--specimens", str(tmp_path)])
    assert done.exit_code == 0, done.output
    read = load(tmp_path / "tensor.view-size+mine")
    assert read.id == "tensor.view-size"
    assert "shape '" in (read.folder / "fail.py").read_text("utf-8")
    listed = CliRunner().invoke(lab, ["list", "--specimens", str(tmp_path)])
    assert "tensor.view-size+mine" in listed.output
