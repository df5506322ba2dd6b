"""A regression is told by ratios, after the best of several measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench.regress import Measured

from bench import page, regress

if TYPE_CHECKING:
    from pathlib import Path

BASELINE = {"empty pipe": 1.0, "healthy, 60 MB": 1.6}


def named(**costs: float) -> dict[str, Measured]:
    return regress.best([[Measured("stream", name, cost) for name, cost in costs.items()]])


@pytest.mark.parametrize(
    ("costs", "worse"),
    [
        pytest.param({"empty pipe": 1.0, "healthy, 60 MB": 1.6}, [], id="as it was"),
        pytest.param({"empty pipe": 0.5, "healthy, 60 MB": 0.9}, [], id="better"),
        pytest.param({"empty pipe": 1.35, "healthy, 60 MB": 2.2}, [], id="within what noise does"),
        pytest.param({"empty pipe": 1.5, "healthy, 60 MB": 1.6}, ["empty pipe"], id="one worse"),
        pytest.param({"empty pipe": 3.0, "healthy, 60 MB": 4.0}, ["empty pipe", "healthy, 60 MB"], id="both worse"),
        pytest.param({"empty pipe": 1.0, "something new": 99.0}, [], id="a new figure has nothing to be worse than"),
    ],
)
def test_what_costs_more_than_its_baseline_allows(costs: dict[str, float], worse: list[str]) -> None:
    assert [one.figure.name for one in regress.regressions(named(**costs), BASELINE)] == worse


def test_the_best_of_several_measurements_counts() -> None:
    runs = [[Measured("start-up", "empty pipe", cost)] for cost in (1.9, 1.1, 2.4)]
    assert regress.best(runs)["empty pipe"].cost == 1.1


def test_a_baseline_that_has_none_of_the_figures_is_refused() -> None:
    with pytest.raises(LookupError, match="--accept"):
        regress.regressions(named(other=1.0), BASELINE)


def test_an_accepted_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    regress.write(tmp_path / "baseline.json", named(**BASELINE))
    assert regress.read(tmp_path / "baseline.json") == BASELINE


def test_the_baseline_in_the_repository_holds_what_ci_measures() -> None:
    names = regress.read(regress.BASELINE)
    assert {"empty pipe / python3 -I -c pass", "healthy, 20 MB / ripgrep -F, same literals", "healthy, 60 MB / that of 10 MB"} <= names.keys()
    assert all(0 < cost < 100 for cost in names.values())


def test_the_page_says_what_was_missed() -> None:
    figure = {"name": "healthy", "yardstick": "cat", "ratio": 0.5, "limit": 0.75, "at_least": True, "note": "", "kept": False, "group": "stream"}
    text = page.page({"about": {"python": "3.12.1", "processors": 2}, "figures": [figure]})
    assert "| healthy | 0.50 | cat | ≥ 0.75, missed |" in text
    assert "## Memory" not in text
