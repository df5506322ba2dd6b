"""Which texts are the output of a run, and which only quote one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from aifix.intake import document

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("AIFIX_CORPUS", HERE.parents[2] / "shared" / "corpus"))
TEXTS = sorted((HERE / "texts").glob("*.txt"))
LOGS = sorted((HERE / "logs").glob("*.txt"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_what_people_wrote_is_no_log(path):
    assert document.read(path.read_bytes()).genre == path.name.partition(".")[0]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_what_programs_print_is_a_log(path):
    assert document.read(path.read_bytes()).genre == "log"
