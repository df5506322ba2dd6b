"""Tell a regression: figures beside those of a baseline, by ratios of processor time and of memory, never by seconds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BASELINE = Path(__file__).with_name("baseline.json")
"""What continuous integration measures against."""
TOLERANCE = 1.4
"""Times its baseline that a figure may be: runs of one version on a busy machine lie within a quarter of each other."""


class Measured(NamedTuple):
    """A figure that can be compared: its group, its name with its yardstick, and how many times the yardstick it takes."""

    group: str
    name: str
    cost: float


class Regression(NamedTuple):
    """A figure that has become worse than its baseline allows."""

    figure: Measured
    before: float

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.figure.group}: {self.figure.name} is {self.figure.cost:.2f}, and was {self.before:.2f}"


def best(runs: Iterable[Iterable[Measured]]) -> dict[str, Measured]:
    """Give each figure's lowest cost of several runs: noise only ever adds."""
    found: dict[str, Measured] = {}
    for run in runs:
        for figure in run:
            if figure.name not in found or figure.cost < found[figure.name].cost:
                found[figure.name] = figure
    return found


def regressions(figures: Mapping[str, Measured], baseline: Mapping[str, float], tolerance: float = TOLERANCE) -> list[Regression]:
    """Give the figures that cost more than their baseline allows; new figures have none, and none is missed.

    Args:
        figures: by name.
        baseline: each figure's cost when it was accepted, by name.
        tolerance: times the baseline that a cost may be.

    Raises:
        LookupError: no figure at all is in the baseline: it is another bench's, or every name has changed.
    """
    if not baseline.keys() & figures.keys():
        message = "the baseline has none of these figures: make it anew with --accept"
        raise LookupError(message)
    return [Regression(one, baseline[name]) for name, one in figures.items() if one.cost > tolerance * baseline.get(name, one.cost)]


def read(path: Path) -> dict[str, float]:
    """Read a baseline.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no JSON.
    """
    return {str(name): float(cost) for name, cost in json.loads(path.read_text("utf-8")).items()}


def write(path: Path, figures: Mapping[str, Measured]) -> None:
    """Accept figures as the baseline."""
    path.write_text(json.dumps({name: float(f"{one.cost:.3g}") for name, one in sorted(figures.items())}, indent=1) + "\n", "utf-8")
