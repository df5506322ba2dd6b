"""A run whose loss stays that of a guess, or whose gradients have vanished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.match.detectors.series import ACCURACY, CITED, LEAST, LOSS, NORM, Detection, Point, series_of
from aifix.match.detectors.standstill import at_chance, flat, frozen, guessed, idle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

VANISHED = 1e-6
"""Gradient norm below which nothing moves (float32's relative precision is 1e-7)."""
_PLAYERS = lazy_re(r"(?i)(?:^|[\s_./-])(?:[dg]|gan|adv\w*|disc\w*|gen\w*|critic|fake|real|policy|actor|pi|pg|vf|value|ppo)(?:[\s_./-]|\d|loss|$)")
"""Losses of two players, or of a policy: standing still is their balance, or tells nothing."""
_PREFERS = lazy_re(
    r"\b[DG][ _-]?[Ll]oss\b|\b(?:[Dd]iscriminator|[Gg]enerator)[ _]?(?:\w+[ _])?[Ll]oss"
    r"|rewards?/(?:chosen|rejected|margins|accuracies)|logps/|\b(?:DPO|ORPO|GRPO|PPO)Trainer\b"
)
"""Two players again; and training on preferences starts at ln 2, and stays there while the rate warms up."""


def flat_loss(lines: Sequence[Line]) -> list[Detection]:
    """Find a run whose loss stays that of a guess, or whose gradients have vanished while the loss stands still."""
    found = _flat_loss(lines, every=False)
    return found or (_flat_loss(lines, every=True) if any(line.rank for line in lines) else [])


def _flat_loss(lines: Sequence[Line], *, every: bool) -> list[Detection]:
    losses = series_of(lines, LOSS, ("loss", "nll", "entropy", "xent", "bce", "cost", "objective"), every=every)
    accuracy_series = series_of(lines, ACCURACY, ("acc", "top"), every=every)
    # Accuracies are fractions or percents; both readings of a value below 1.5 % are allowed.
    stuck = [
        points
        for points in accuracy_series.values()
        if len(points) >= LEAST and max(p.value for p in points[1:]) - min(p.value for p in points[1:]) <= 0.03 * max(p.value for p in points)
    ]
    accuracies = [reading for points in stuck for reading in (points[-1].value, points[-1].value / 100) if 0 < reading < 1]
    norms = series_of(lines, NORM, ("norm",), every=every)
    vanished = next((points for points in norms.values() if len(points) >= LEAST and all(point.value < VANISHED for point in points[1:])), None)
    balanced: bool | None = None
    judged = {point.line for points in accuracy_series.values() for point in points}
    for name in sorted(losses, key=lambda name: (not name.startswith(("val", "eval", "test")), losses[name][-1].line not in judged, name)):
        points = losses[name]
        beside = _beside(name, accuracy_series)
        guess, still = guessed(points, accuracies, told=bool(stuck)), flat(points) and vanished is not None
        if guess is None and not still:
            still = any(frozen(points, accuracy) for accuracy in beside) or idle(points, vanished)
        if guess is None and not still:
            continue
        if vanished is None and balanced is None:
            balanced = _PLAYERS.search(" ".join(name.partition("\t")[0] for name in losses)) is not None or any(
                _PREFERS.search(line.text) for line in lines if len(line.text) <= 4000
            )
        if vanished is None and balanced:
            continue
        last = points[-1]
        captures = {"loss": last.text, "loss_name": name.partition("\t")[0], "first_loss": points[0].text, "points": str(len(points))}
        if guess is not None:
            captures["classes"] = str(guess)
        shown = [point.text for series in (*stuck, *beside) for point in series if point.line == last.line]
        if shown or stuck:
            captures["accuracy"] = shown[0] if shown else stuck[0][-1].text
        if vanished is not None:
            captures["grad_norm"] = vanished[-1].text
        return [Detection(point.line, captures) for point in points[-CITED:]]
    return [] if losses else _only_accuracy(accuracy_series)


def _beside(name: str, series: dict[str, list[Point]]) -> list[list[Point]]:
    """Give the accuracies that belong to a loss: of the same split, as their names say."""
    held = name.startswith(("val", "eval", "test"))
    return [points for other, points in series.items() if other.startswith(("val", "eval", "test")) is held and len(points) >= LEAST]


def _only_accuracy(series: dict[str, list[Point]]) -> list[Detection]:
    """Find a run that prints no loss, and always the accuracy of a guess."""
    for points in series.values():
        classes = at_chance(points) if points else None
        if classes is not None:
            captures = {"accuracy": points[-1].text, "points": str(len(points)), "classes": str(classes)}
            return [Detection(point.line, captures) for point in points[-CITED:]]
    return []
