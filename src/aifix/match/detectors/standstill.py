"""What a series says that does not move: the number of classes of which it is a guess, outputs that are frozen, gradients that are nought.

A classifier that has learnt nothing has the cross-entropy of a uniform guess, ln(classes), and the accuracy 1 / classes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aifix.match.detectors.series import LEAST, Point

if TYPE_CHECKING:
    from collections.abc import Sequence

FLAT = 0.006
"""Spread of a flat series, relative to its mean."""
IMPROVED = 0.02
"""A loss that fell by this share of its start has learnt something."""
CLASSES = 1200
SMALL = 12
"""Up to so many classes the values ln(k) lie far enough apart that a loss alone tells the number."""
ENDLESS = 6
"""So often in a row one and the same value is no chance."""
FINE, COARSE = 3, 2
"""Digits after the point that make sameness tell something, of a loss and of an accuracy."""
LOW, HIGH = 0.05, 0.97
"""A loss below, or an accuracy above: it is learnt."""
GUESSED = (4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 21, 25, 40, 43, 50, 100, 101, 102, 120, 196, 200, 257, 365, 525, 1000)
"""Numbers of classes that a lone accuracy is compared with: a half and a third are other things as well."""


def flat(points: Sequence[Point]) -> bool:
    """Tell whether a series stands still from its start (or nearly) to its end."""
    values = [point.value for point in points]
    if len(values) < LEAST:
        return False
    settled = values[len(values) // 4 :] if len(values) > 2 * LEAST else values[1:]
    mean = sum(settled) / len(settled)
    if mean <= 0 or max(settled) - min(settled) > FLAT * mean:
        return False
    return values[0] - settled[-1] < IMPROVED * abs(values[0])


def _standing(points: Sequence[Point]) -> list[Point]:
    """Give the longest end of a series in which the printed value never changes."""
    last = points[-1].text
    count = next((at for at, point in enumerate(reversed(points)) if point.text != last), len(points))
    return list(points[len(points) - count :])


def _digits(text: str) -> int:
    """Count the digits after the point: how finely a value is printed."""
    return len(text.partition(".")[2]) if "e" not in text.lower() else 0


def guessed(points: Sequence[Point], accuracies: Sequence[float], *, told: bool) -> int | None:
    """Give the number of classes where a loss is, or has become, that of a guess; a coarsely printed one needs an accuracy that tells it too."""
    classes = _classes_of(points[-1].value, accuracies) if flat(points) else None
    if classes is not None and (told or _digits(points[-1].text) >= FINE):
        return classes
    return _collapsed(points)


def _classes_of(loss: float, accuracies: Sequence[float]) -> int | None:
    """Give the number of classes for which the loss is that of a guess, confirmed by the accuracy unless they are few."""
    for classes in range(2, CLASSES):
        if abs(loss - math.log(classes)) > 0.004 * max(loss, 1):
            continue
        chance = 1 / classes
        if any(0.8 * chance <= accuracy <= 1.25 * chance for accuracy in accuracies):
            return classes
        if classes <= SMALL and not accuracies:
            return classes
    return None


def _collapsed(points: Sequence[Point]) -> int | None:
    """Give the number of classes where a series ends in exactly ln(classes), over and over: the outputs no longer depend on the input.

    Two players at their equilibrium (a GAN's losses) look the same: whoever asks has to tell them apart.
    """
    end = _standing(points)
    if len(end) < ENDLESS or len(end) < len(points) / 2 or _digits(end[-1].text) < FINE:
        return None
    return next((classes for classes in range(2, SMALL) if abs(end[-1].value - math.log(classes)) <= 0.6 * 10 ** -_digits(end[-1].text)), None)


def frozen(losses: Sequence[Point], accuracy: Sequence[Point]) -> bool:
    """Tell whether loss and accuracy are printed the same over and over from (nearly) the start: nothing reaches the weights."""
    loss, share = _standing(losses), _standing(accuracy)
    least = min(len(loss), len(share))
    if least < ENDLESS or len(loss) < 0.8 * len(losses) or len(share) < 0.8 * len(accuracy):
        return False
    if _digits(loss[-1].text) < FINE or _digits(share[-1].text) < COARSE:
        return False
    full = 100 if share[-1].value > 1 else 1
    return loss[-1].value > LOW and share[-1].value < HIGH * full and losses[0].value - loss[-1].value < IMPROVED * abs(losses[0].value)


def at_chance(accuracy: Sequence[Point]) -> int | None:
    """Give the number of classes where a whole run prints one accuracy only, and that of a guess ("10.00 %")."""
    if len(_standing(accuracy)) < max(len(accuracy), ENDLESS) or _digits(accuracy[-1].text) < COARSE:
        return None
    half = 0.6 * 10 ** -_digits(accuracy[-1].text)
    readings = ((accuracy[-1].value, half), (accuracy[-1].value / 100, half / 100))
    return next((classes for value, step in readings for classes in GUESSED if abs(value - 1 / classes) <= step), None)


def idle(points: Sequence[Point], vanished: Sequence[Point] | None) -> bool:
    """Tell whether all gradients are nought and the loss did not fall, however it wavers from batch to batch."""
    if vanished is None or len(vanished) < ENDLESS or any(point.value != 0 for point in vanished) or len(points) < ENDLESS:
        return False
    quarter = max(len(points) // 4, 2)
    first, last = (sum(point.value for point in part) / quarter for part in (points[:quarter], points[-quarter:]))
    return last >= (1 - IMPROVED) * first
