from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.show.reports import OOM, REPORTS, TIMEOUT

from aifix.model import Action, Evidence, Fact, Fix, Location, Report
from aifix.show.commands import LAST
from aifix.show.layout import display_width
from aifix.show.terminal import render
from aifix.show.why import render_why

if TYPE_CHECKING:
    from collections.abc import Callable

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", sorted(REPORTS))
def test_golden(name: str, width: int, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}-{width}.txt", render(REPORTS[name], width=width, colour=False, lines=1204))


@pytest.mark.parametrize("name", ["cascade", "unknown"])
def test_golden_why(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"why-{name}-80.txt", render_why(REPORTS[name], width=80, colour=False))


def test_golden_verbose(golden: Callable[[str, str], None]) -> None:
    golden("verbose-80.txt", render(REPORTS["cascade"], width=80, colour=False, verbose=True))


@pytest.mark.parametrize("width", [1, 40, 80, 120])
def test_colour_changes_nothing_but_colour(report: Report, width: int) -> None:
    for show in (render, render_why):
        plain = show(report, width=width, colour=False)
        painted = show(report, width=width, colour=True)
        assert "\x1b" not in plain
        assert COLOUR.sub("", painted) == plain


@pytest.mark.parametrize("width", [40, 80, 120])
def test_only_code_is_wider_than_the_terminal(report: Report, width: int) -> None:
    code = {line for diagnosis in report.diagnoses for fix in diagnosis.fixes for action in fix.do for line in action.text.split("\n")}
    for line in render(report, width=width, colour=False).split("\n"):
        assert display_width(line) <= width or line.strip() in {text.strip() for text in code} or line.startswith("  at ")


def test_code_is_ready_to_copy() -> None:
    lines = render(REPORTS["cascade"], width=40, colour=False).split("\n")
    at = lines.index("         for step, batch in enumerate(loader):")
    assert [line[9:] for line in lines[at : at + 4]] == OOM.fixes[0].do[0].text.strip("\n").split("\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "cp437", "nonsense"])
def test_every_encoding_prints(report: Report, encoding: str) -> None:
    for show in (render, render_why):
        text = show(report, width=80, colour=False, encoding=encoding)
        text.encode("ascii" if encoding == "nonsense" else encoding)
        assert "?" not in text.replace("  ? ", "")


@given(st.text(st.characters(exclude_categories=()), max_size=300), st.integers(1, 130), st.booleans())
def test_no_control_character_of_a_log_reaches_the_terminal(text: str, width: int, verbose: bool) -> None:
    evil = msgspec.structs.replace(
        OOM,
        title=text,
        evidence=(Evidence(1, text), Evidence(2, text)),
        explanation=text,
        location=Location(text, 1, text, text),
        fixes=(Fix("x", text, 0.5, "low", text, (Action("command", text), Action("note", text)), text),),
        references=(text,),
    )
    report = Report(source=text, failed=True, diagnoses=(evil, TIMEOUT), hints=(evil,))
    for shown in (
        render(report, width=width, colour=False, verbose=verbose),
        render_why(report, width=width, colour=False),
    ):
        assert shown.replace("\n", "").isprintable()


def test_evidence_is_shown_whole_and_repeats_are_collapsed() -> None:
    long = "RuntimeError: " + "x" * 500 + " end"
    evidence = (Evidence(1, long), Evidence(2, "same"), Evidence(3, "same"), *(Evidence(n, f"line {n}") for n in range(4, 10)))
    shown = render(Report(source="-", failed=True, diagnoses=(msgspec.structs.replace(OOM, evidence=evidence),)), width=80, colour=False)
    bars = "".join(line.partition("│ ")[2] for line in shown.split("\n") if "│" in line)
    assert long.replace(" ", "") in bars.replace(" ", "")
    assert shown.count("same") == 1
    assert "5 more: lines 3, 6, 7 and 2 more" in shown
    verbose = render(
        Report(source="-", failed=True, diagnoses=(msgspec.structs.replace(OOM, evidence=evidence),)), width=80, colour=False, verbose=True
    )
    assert verbose.count("same") == 2


def test_consequences_in_a_circle_end() -> None:
    one = msgspec.structs.replace(OOM, id="a.a", caused_by="b.b")
    two = msgspec.structs.replace(OOM, id="b.b", caused_by="a.a")
    shown = render(Report(source="-", failed=True, diagnoses=(one, two)), width=80, colour=False)
    assert shown.count("a.a") == 1
    assert shown.count("b.b") == 1


def test_many_roots_are_named_and_the_first_ones_told() -> None:
    roots = tuple(msgspec.structs.replace(OOM, id=f"x.{n}", title=f"Failure {n}") for n in range(5))
    shown = render(Report(source="-", failed=True, diagnoses=roots), width=80, colour=False)
    assert all(f"Failure {n}" in shown for n in range(5))
    assert shown.count("also: ") == 2


def test_a_file_name_is_quoted_for_the_shell() -> None:
    shown = render(Report(source="my run's.log", failed=True, diagnoses=(OOM,)), width=80, colour=False)
    assert "more: aifix why 'my run'\\''s.log'" in shown


def test_verdict_of_a_healthy_run_is_one_line() -> None:
    assert render(REPORTS["healthy"], width=80, colour=False, lines=1204) == "aifix: nothing failed in 1,204 lines\n"
    assert render(REPORTS["healthy"], width=80, colour=False, lines=1) == "aifix: nothing failed in 1 line\n"
    assert render(REPORTS["healthy"], width=80, colour=False) == "aifix: nothing failed\n"


@pytest.mark.parametrize(
    ("source", "said"), [(LAST, "aifix rerun"), ("run.log", "aifix rerun --from run.log -- COMMAND"), ("-", "aifix rerun --from LOG -- COMMAND")]
)
def test_a_second_run_is_named_where_the_first_shows_only_where_it_was_noticed(source: str, said: str) -> None:
    noticed = msgspec.structs.replace(OOM, id="autograd.inplace", caused_by=None)
    report = Report(source=source, failed=True, diagnoses=(noticed,))
    assert f"where it was made: {said}\nmore: aifix why" in render(report, width=80, colour=False)
    assert "rerun" not in render(msgspec.structs.replace(report, diagnoses=(OOM,)), width=80, colour=False)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("batch_size", "32", "batch_size 32 (train.py:4)"),
        ("shuffle", "True", "shuffle (train.py:4)"),
        ("pin_memory", "False", "no pin memory (train.py:4)"),
        ("clears_gradients", "True", "gradients cleared (train.py:4)"),
        ("clears_gradients", "False", "gradients never cleared (train.py:4)"),
    ],
)
def test_what_was_read_off_the_source_is_said_in_words(name: str, text: str, said: str) -> None:
    diagnosis = msgspec.structs.replace(OOM, facts={name: Fact(text, origin="train.py:4")})
    assert f"     {said}\n" in render(Report(source="-", failed=True, diagnoses=(diagnosis,)), width=80, colour=False)
