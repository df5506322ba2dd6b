"""An unknown error that misses a name: what the failing file calls nearly so is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

import aifix
from aifix.model import Report
from aifix.show.json import dump
from aifix.show.terminal import render

if TYPE_CHECKING:
    from pathlib import Path

CASES = {
    "a key": ("rows = [{'label': 1}]\n\n\ndef pick(row):\n    return row['labels']\n\n\npick(rows[0])\n", [("label", 1)]),
    "an attribute": ("class Config:\n    hidden = 64\n\n\nprint(Config().hidden_size)\n", [("hidden", 2)]),
    "a name": ("import os\nlearning_rate = 0.1\nprint(learning_rat)\n", [("learning_rate", 2)]),
    "an argument": ("def fit(epochs=1):\n    return epochs\n\n\nfit(epoch=3)\n", [("epochs", 1)]),
    "nothing is like it": ("import os\nprint(undefined_thing)\n", []),
    "a key that is no name": ("rows = {'label': 1}\nrows[17]\n", []),
    "another error in quotes": ("label = 1\nraise ValueError(\"'labels'\")\n", []),
}


@pytest.mark.parametrize("name", CASES)
def test_names_that_are_nearly_the_missing_one(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIFIX_NO_PROBE", raising=False)
    program, wanted = CASES[name]
    (tmp_path / "train.py").write_text(program)
    done = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    (tmp_path / "run.log").write_text(done.stderr)
    report = aifix.diagnose(tmp_path / "run.log")
    assert report.unknown is not None
    assert [(one.name, one.location.line) for one in report.unknown.similar or ()] == wanted
    shown = render(report, width=80, colour=False)
    assert ("nearly so called in your code" in shown) == bool(wanted)
    assert ("similar" in json.loads(dump(report))["unknown"]) == bool(wanted)
    assert msgspec.json.decode(dump(report), type=Report) == report


def test_a_file_that_has_changed_since_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIFIX_NO_PROBE", raising=False)
    program = tmp_path / "train.py"
    program.write_text("label = 1\nother = 2\n")
    log = (
        f"Traceback (most recent call last):\n  File \"{program}\", line 2, in <module>\n    print(labels)\nNameError: name 'labels' is not defined\n"
    )
    assert not aifix.diagnose(log).unknown.similar  # type: ignore[union-attr]  # it is unknown
