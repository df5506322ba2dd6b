"""What fixes claim to gain is gained: measured before and after."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifix import api
from aifix.lab import environment, figures
from aifix.lab.running import Runner
from aifix.lab.specimen import SpecimenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aifix.lab.environment import Target

SPECIMENS = Path(__file__).parents[1] / "specimens"
FIGURES = figures.load_chosen(SPECIMENS)


@pytest.fixture(scope="module")
def target() -> Target:
    return environment.describe(os.environ.get("AIFIX_TEST_TORCH") or sys.executable, [])


@pytest.fixture(scope="module")
def runner(target: Target) -> Iterator[Runner]:
    with Runner(target.python) as one:
        yield one


def test_each_figure_is_of_a_fix_that_there_is() -> None:
    figures.check(FIGURES, api.rule_base())


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read off /proc")
@pytest.mark.parametrize("figure", FIGURES, ids=[one.name for one in FIGURES])
def test_what_a_fix_claims_to_gain_is_gained(figure: figures.Figure, target: Target, runner: Runner) -> None:
    if not target.modules.get("torch"):
        pytest.skip("needs the module torch")
    for one in figures.measure(figure, runner):
        assert one.holds, f"{one.what}: {one.before} before, {one.after} after, claimed {one.claim}"


def test_a_claim_that_does_not_hold_is_said_and_a_silent_program_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "_figures" / "mine"
    folder.mkdir(parents=True)
    (folder / "figure.yaml").write_text("title: a\nrule: cuda.oom\nfix: smaller-batch\nmeasures: {held: {what: b, unit: bytes, least: 2}}\n", "utf-8")
    (folder / "before.py").write_text('print("{\\"held\\": 2097152}")\n', "utf-8")
    (folder / "after.py").write_text('print("a line")\nprint("{\\"held\\": 1572864}")\n', "utf-8")
    with Runner(sys.executable) as runner:
        (one,) = figures.measure(figures.load_chosen(tmp_path)[0], runner)
        assert not one.holds
        page = figures.page([one], environment.Target(sys.executable, "3.11.0"))
        assert "| 2.00 MiB | 1.50 MiB | 0.75 × | at least 2 times less (does not hold) |" in page
        (folder / "after.py").write_text("raise SystemExit('no torch')\n", "utf-8")
        with pytest.raises(figures.FigureError, match="printed no held; its last line is: no torch"):
            figures.measure(figures.load_chosen(tmp_path)[0], runner)
    with pytest.raises(SpecimenError, match="there is no figure other"):
        figures.load_chosen(tmp_path, ["other"])
    (folder / "figure.yaml").write_text("title: a\nrule: cuda.oom\nfix: smaller-batch\nmeasures: {held: {what: b, most: x}}\n", "utf-8")
    with pytest.raises(SpecimenError, match=r"figure.yaml:4:\d+: Expected"):
        figures.load_chosen(tmp_path)
