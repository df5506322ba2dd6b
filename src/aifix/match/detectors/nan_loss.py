"""A loss that is printed as nan or inf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.match import progress
from aifix.match.detectors.series import CITED, LOSS, RATE, SAYS, Detection, series_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

LEAST_BEFORE = 3
"""Values of a loss that must stand before the first nan to tell a rise from a jump."""
_NAN = lazy_re(
    rf"(?i)(?<![\w.])['\"]?(?P<component>[\w./-]*(?:loss|cost|nll|ppl|perplexity|objective)[\w./-]*|loss[\w./-]*)"
    rf"{SAYS}(?:tensor\()?(?P<value>nan|[-+]?inf(?:inity)?)\b"
)


def nan_loss(lines: Sequence[Line]) -> list[Detection]:
    """Find losses that are printed as nan or inf, whatever the logger: the first line of each component, and a few more."""
    found: list[Detection] = []
    for index, line in enumerate(lines):
        text = line.text
        if len(text) > 4000:
            continue
        if "nan" not in text and "inf" not in text and "NaN" not in text and "NAN" not in text and "Inf" not in text:
            continue
        components = [match for match in _NAN.finditer(text) if not match["component"].lower().startswith(("best", "min"))]
        if not components:
            continue
        rate = RATE.search(text)
        chosen = min(components, key=lambda match: (match["component"].lower() in {"loss", "total_loss", "train_loss"}, match.start()))
        captures = {"component": chosen["component"], "value": chosen["value"]}
        if step := progress.last_step(lines, index, _tells_loss):
            captures["step"] = step
        if rate:
            captures["learning_rate"] = rate["rate"]
        if not found:
            captures |= _before(lines[:index], captures["component"])
        found.append(Detection(index, captures))
        if len(found) >= CITED:
            break
    return found


def _tells_loss(text: str) -> bool:
    """Tell whether a line is one of those that print losses: a step elsewhere may be another loop's."""
    return "loss" in text or "Loss" in text or "nan" in text or "LOSS" in text


def _before(lines: Sequence[Line], component: str) -> dict[str, str]:
    """Give the last finite value of a loss and the lowest one: what exploded had risen before it was no number."""
    series = series_of(lines, LOSS, (component.lower(),), every=True)
    named = [points for name, points in series.items() if name.partition("\t")[0] == component.lower()]
    points = max(named, key=len, default=[])
    if len(points) < LEAST_BEFORE:
        return {}
    return {"last_loss": points[-1].text, "least_loss": min(points, key=lambda point: point.value).text}
