"""Gradient norms that are no numbers any more, or explode."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from aifix.match import progress
from aifix.match.detectors.series import CITED, NORM, RATE, Detection, Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

HUGE = 1e6
"""Gradient norm that no clipping threshold in use (0.1 to 100) leaves any meaning."""
GROWN = 1000
"""A norm that grew by this factor over its first quarter explodes."""
RUN = 3
"""Norms in a row that are not finite; one or two at the start are the search of a loss scale."""


def grad_norm(lines: Sequence[Line]) -> list[Detection]:
    """Find gradient norms that stay nan or inf, or that explode at the end of a run."""
    series: dict[str, list[Point]] = defaultdict(list)
    for index, line in enumerate(lines):
        if len(line.text) <= 4000 and "norm" in line.text.lower():
            for match in NORM.finditer(line.text):
                series[match["name"].lower()].append(Point(index, match["value"], float(match["value"])))
    for points in series.values():
        values = [point.value for point in points]
        broken = [not math.isfinite(value) for value in values]
        run = next((at for at in range(len(values) - RUN + 1) if all(broken[at : at + RUN])), None)
        if run is None and broken[-1] and broken.count(False) >= RUN:
            run = len(values) - 1 - next((at for at, bad in enumerate(reversed(broken)) if not bad), 0) + 1  # the run ends so
        finite = sorted(value for value in values[: max(len(values) // 4, 1)] if math.isfinite(value))
        usual = finite[len(finite) // 2] if finite else 0.0
        last = values[-2:]
        exploded = len(values) > RUN and all(
            math.isfinite(value) and (value >= HUGE or (usual > 0 and value >= GROWN * usual and value > 100)) for value in last
        )
        if run is None and not exploded:
            continue
        chosen = points[run : run + CITED] if run is not None else points[-RUN:]
        first = chosen[0]
        step, rate = progress.last_step(lines, first.line, _tells_step), RATE.search(lines[first.line].text)
        captures = {"grad_norm": first.text, **({"step": step} if step else {}), **({"learning_rate": rate["rate"]} if rate else {})}
        if exploded and finite:
            captures["usual_norm"] = f"{usual:g}"
        return [Detection(point.line, captures) for point in chosen]
    return []


def _tells_step(text: str) -> bool:
    """Tell whether a line may print a step: beside a norm, `it: 3` and the like are no steps."""
    return "norm" not in text or "tep" in text or "poch" in text or "iter" in text
