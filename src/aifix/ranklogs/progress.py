"""How far a rank came and how long its steps took, as trainers print it: step numbers, step time, time spent waiting for data."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import msgspec

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

    from aifix.model import Line
    from aifix.ranklogs.clock import Clock

_STEP = lazy_re(
    r"(?i)(?:^|[\s,|{\[(\"'])(?:global[_ ]?step|train[_ ]?step|steps?|iter(?:ation)?s?|it|batch|update|num_updates)[\"']?\s*[:=#\[(]?\s*(\d{1,9})\b"
    r"|Epoch:? ?\[ ?\d+ ?\]\[ *(\d{1,9}) */"
    r"|(?:Iter|Epoch)\(train\) *(?:\[ *\d+\])?\[ *(\d{1,9}) */"
    r"|Epoch:? ?\[?\d+\]?(?:/\d+)?[:,]? .{0,80}?[|\s](\d{1,9})/\d{1,9} \["
)
_BEFORE = r"(?i)(?:^|[\s,|{(\"'])"
_VALUE = r"(?P<named> ?\(ms\))?[\"']?\s*[:=]?\s*(?P<value>\d+\.\d+|\d+(?=\s*ms))\s*(?P<unit>ms|milliseconds|msec|s|sec|seconds)?\b"
_DATA = lazy_re(
    rf"{_BEFORE}(?:data[_ -]?(?:load(?:ing|er)?)?[_ -]?(?:time|wait)|dataload(?:er|ing)?|"
    rf"batch[_-]generator|data|fetch(?:_time)?|input[_ -](?:wait|time)){_VALUE}"
)
_TIME = lazy_re(
    rf"{_BEFORE}(?:elapsed time per iteration|(?:step|iter(?:ation)?|batch|train_step)[_ -]?time|"
    rf"time[_ ](?:per|/)[_ ]?(?:step|iter(?:ation)?)|time|sec(?:onds)?/(?:it|step)){_VALUE}"
)
_RATE = lazy_re(r"(\d+\.\d+) ?(s/it|it/s)\b")
_NUMBERED = ("step", "iter", "batch", "poch", "it ", "it:", "update")
LONGEST = 600
"""Characters of a line in which progress is looked for."""
MOST_STEPS = 200
"""Steps whose times are kept of one rank, to set clocks against each other."""
MOST_TIMES = 400


class Progress:
    """Collects the progress of one rank from lines in any order."""

    def __init__(self) -> None:
        self.step: int | None = None
        self.stepped = 0
        """The number of the line that told of the furthest step: what stands behind it belongs to the end."""
        self.at: dict[int, float] = {}
        self.step_times: list[float] = []
        self.data_times: list[float] = []

    def read(self, line: Line, clock: Clock) -> None:
        """Take what one line tells."""
        text = line.text[:LONGEST]
        low = text.lower()
        if any(word in low for word in _NUMBERED) and "cancelled" not in low and "slurm" not in low:  # `STEP 4711.0 ON node CANCELLED`
            match = _STEP.search(text)
            if match:
                number = int(match[1] or match[2] or match[3] or match[4])
                if self.step is None or number > self.step:
                    self.step, self.stepped = number, line.number
                if len(self.at) < MOST_STEPS and number not in self.at:
                    moment = clock.read(line.prefix + text) if line.prefix else clock.read(text)
                    if moment is not None:
                        self.at[number] = moment
        if len(self.step_times) < MOST_TIMES and ("time" in low or "s/it" in low or "it/s" in low or "sec/" in low):
            taken = _figure(_TIME.search(text))
            rate = _RATE.search(text) if taken is None else None
            if rate:
                value = float(rate[1])
                taken = value if rate[2] == "s/it" else 1 / value if value else None
            if taken is not None:
                self.step_times.append(taken)
        if len(self.data_times) < MOST_TIMES and ("data" in low or "fetch" in low or "input" in low or "batch" in low):
            waited = _figure(_DATA.search(text))
            if waited is not None:
                self.data_times.append(waited)

    def seconds(self) -> tuple[float | None, float | None]:
        """Give the median step time and data time; of a warm-up the median makes nothing."""
        return (median(self.step_times) if self.step_times else None, median(self.data_times) if self.data_times else None)


def _figure(match: re.Match[str] | None) -> float | None:
    if match is None:
        return None
    value = float(match["value"])
    milli = bool(match["named"]) or (match["unit"] or "").lower() in {"ms", "msec", "milliseconds"}
    return value / 1000 if milli else value


class Pace(msgspec.Struct, frozen=True):
    """The typical figure of all ranks, and those that stand out above it."""

    typical: float
    slow: tuple[tuple[int, float], ...]


FACTOR = 1.25
"""A straggler takes so many times what is typical, at least."""
SCATTERS = 6.0
"""And lies so many times the ranks' own scatter (median absolute deviation) above it: about four standard deviations."""
LEAST = 0.005
"""And loses so many seconds a step: below that nothing is worth a word."""


def stragglers(figures: Iterable[tuple[int, float]]) -> Pace | None:
    """Find the ranks whose figure stands out above the others'; None of fewer than three ranks."""
    known = list(figures)
    if len(known) < 3:
        return None
    typical = median(value for _, value in known)
    scatter = median(abs(value - typical) for _, value in known)
    bound = max(typical * FACTOR, typical + SCATTERS * scatter, typical + LEAST)
    slow = sorted(((rank, value) for rank, value in known if value > bound), key=lambda pair: -pair[1])
    return Pace(typical, tuple(slow))
