"""Detectors: what no single line says. A rule names one (`detector: flat-loss`); each gives lines and captures like a regex.

The figures: a classifier that has learnt nothing has the cross-entropy of a uniform guess, ln(classes), and the accuracy
1 / classes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from aifix.model import Line

NUMBER = r"[-+]?(?:\d+\.\d*(?:[eE][-+]?\d+)?|\d+(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_SPLIT = r"train(?:ing)?|val(?:id(?:ation)?)?|eval|test|total|avg|average|mean"
_SAYS = r"['\"]?\s*(?:[:=|]|\bis\b|\bof\b|\s)\s*\[?\(?"
_LOSS = lazy_re(
    rf"(?i)(?<![\w.])['\"]?(?P<name>(?:(?:{_SPLIT})[ ])?(?:[\w./-]*[_./-])?"
    rf"(?:loss|nll|cross[_ -]?entropy|xent|bce|cost|objective)(?:[_./-][\w./-]*)?|[a-z]+loss)"
    rf"{_SAYS}(?P<value>{NUMBER})(?![\w.%])"
)
_ACCURACY = lazy_re(
    rf"(?i)(?<![\w.])['\"]?(?P<name>[\w./-]*acc(?:uracy)?(?:@1|_?top_?1|1)?|top-?1)['\"]?\s*(?:[:=|]|\bis\b|\bof\b|\s)\s*\[?\(?(?P<value>{NUMBER})"
    rf"(?:\s?/\s?(?P<of>[1-9]\d*)\b)?\s?(?P<percent>%?)"
)
_NORM = lazy_re(rf"(?i)(?<![\w.])['\"]?(?P<name>g(?:rad(?:ient)?)?[_ -]?norm|total[_ -]norm)['\"]?\s*[:=|\s]\s*\[?\(?(?P<value>{NUMBER})(?![\w.])")

LEAST = 4
"""Values that a series needs."""
FLAT = 0.006
"""Spread of a flat series, relative to its mean."""
IMPROVED = 0.02
"""A loss that fell by this share of its start has learnt something."""
CLASSES = 1200
SMALL = 12
"""Up to so many classes the values ln(k) lie far enough apart that a loss alone tells the number."""
VANISHED = 1e-6
"""Gradient norm below which nothing moves (float32's relative precision is 1e-7)."""
CITED = 6
ENDLESS = 6
"""So often in a row one and the same value is no chance."""
FINE, COARSE = 3, 2
"""Digits after the point that make sameness tell something, of a loss and of an accuracy."""
LOW, HIGH = 0.05, 0.97
"""A loss below, or an accuracy above: it is learnt."""
GUESSED = (4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 21, 25, 40, 43, 50, 100, 101, 102, 120, 196, 200, 257, 365, 525, 1000)
"""Numbers of classes that a lone accuracy is compared with: a half and a third are other things as well."""


class Detection(NamedTuple):
    """A detector's finding: an index of a line, and captures as printed."""

    line: int
    captures: dict[str, str]


class _Point(NamedTuple):
    line: int
    text: str
    value: float


_MARKS = " '\""
_BLANK = lazy_re(r"[\d.\s]+")


def _series(lines: Sequence[Line], expression: re.Pattern[str], words: tuple[str, ...], *, every: bool) -> dict[str, list[_Point]]:
    """Give the values by their name, with what stands before it: two loops of one log may both print a "loss"."""
    found: dict[str, list[_Point]] = defaultdict(list)
    for index, line in enumerate(lines):
        if (not every and line.rank not in (None, 0)) or len(line.text) > 4000:
            continue
        lower = line.text.lower()
        if not any(word in lower for word in words):
            continue
        for match in expression.finditer(line.text):
            value, text = float(match["value"]), match["value"]
            if "of" in match.re.groupindex and match["of"]:  # 980/10000
                value, text = value / float(match["of"]), f"{value / float(match['of']):.4f}"
            if math.isfinite(value):
                before = _BLANK.sub("", line.text[max(match.start() - 24, 0) : match.start()])[-4:]
                found[f"{match['name'].lower().strip(_MARKS)}\t{before}"].append(_Point(index, text, value))
    return found


def _flat(points: Sequence[_Point]) -> bool:
    """Tell whether a series stands still from its start (or nearly) to its end."""
    values = [point.value for point in points]
    if len(values) < LEAST:
        return False
    settled = values[len(values) // 4 :] if len(values) > 2 * LEAST else values[1:]
    mean = sum(settled) / len(settled)
    if mean <= 0 or max(settled) - min(settled) > FLAT * mean:
        return False
    return values[0] - settled[-1] < IMPROVED * abs(values[0])


def _standing(points: Sequence[_Point]) -> list[_Point]:
    """Give the longest end of a series in which the printed value never changes."""
    last = points[-1].text
    count = next((at for at, point in enumerate(reversed(points)) if point.text != last), len(points))
    return list(points[len(points) - count :])


def _digits(text: str) -> int:
    """Count the digits after the point: how finely a value is printed."""
    return len(text.partition(".")[2]) if "e" not in text.lower() else 0


def _collapsed(points: Sequence[_Point]) -> int | None:
    """Give the number of classes where a series ends in exactly ln(classes), over and over: the outputs no longer depend on the input.

    Two players at their equilibrium (a GAN's losses) look the same, hence the names.
    """
    end = _standing(points)
    if len(end) < ENDLESS or len(end) < len(points) / 2 or _digits(end[-1].text) < FINE:
        return None
    return next((classes for classes in range(2, SMALL) if abs(end[-1].value - math.log(classes)) <= 0.6 * 10 ** -_digits(end[-1].text)), None)


def _frozen(losses: Sequence[_Point], accuracy: Sequence[_Point]) -> bool:
    """Tell whether loss and accuracy are printed the same over and over from (nearly) the start: nothing reaches the weights."""
    loss, share = _standing(losses), _standing(accuracy)
    least = min(len(loss), len(share))
    if least < ENDLESS or len(loss) < 0.8 * len(losses) or len(share) < 0.8 * len(accuracy):
        return False
    if _digits(loss[-1].text) < FINE or _digits(share[-1].text) < COARSE:
        return False
    full = 100 if share[-1].value > 1 else 1
    return loss[-1].value > LOW and share[-1].value < HIGH * full and losses[0].value - loss[-1].value < IMPROVED * abs(losses[0].value)


def _at_chance(accuracy: Sequence[_Point]) -> int | None:
    """Give the number of classes where a whole run prints one accuracy only, and that of a guess ("10.00 %")."""
    if len(_standing(accuracy)) < max(len(accuracy), ENDLESS) or _digits(accuracy[-1].text) < COARSE:
        return None
    half = 0.6 * 10 ** -_digits(accuracy[-1].text)
    readings = ((accuracy[-1].value, half), (accuracy[-1].value / 100, half / 100))
    return next((classes for value, step in readings for classes in GUESSED if abs(value - 1 / classes) <= step), None)


def _classes(loss: float, accuracies: Sequence[float]) -> int | None:
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


def flat_loss(lines: Sequence[Line]) -> list[Detection]:
    """Find a run whose loss stays that of a guess, or whose gradients have vanished while the loss stands still."""
    found = _flat_loss(lines, every=False)
    return found or (_flat_loss(lines, every=True) if any(line.rank for line in lines) else [])


def _flat_loss(lines: Sequence[Line], *, every: bool) -> list[Detection]:
    losses = _series(lines, _LOSS, ("loss", "nll", "entropy", "xent", "bce", "cost", "objective"), every=every)
    accuracy_series = _series(lines, _ACCURACY, ("acc", "top"), every=every)
    # Accuracies are fractions or percents; both readings of a value below 1.5 % are allowed.
    stuck = [
        points
        for points in accuracy_series.values()
        if len(points) >= LEAST and max(p.value for p in points[1:]) - min(p.value for p in points[1:]) <= 0.03 * max(p.value for p in points)
    ]
    accuracies = [reading for points in stuck for reading in (points[-1].value, points[-1].value / 100) if 0 < reading < 1]
    norms = _series(lines, _NORM, ("norm",), every=every)
    vanished = next((points for points in norms.values() if len(points) >= LEAST and all(point.value < VANISHED for point in points[1:])), None)
    balanced: bool | None = None
    judged = {point.line for points in accuracy_series.values() for point in points}
    for name in sorted(losses, key=lambda name: (not name.startswith(("val", "eval", "test")), losses[name][-1].line not in judged, name)):
        points = losses[name]
        beside = _beside(name, accuracy_series)
        guess, idle = _guessed(points, accuracies, told=bool(stuck)), _flat(points) and vanished is not None
        if guess is None and not idle:
            idle = any(_frozen(points, accuracy) for accuracy in beside) or _idle(points, vanished)
        if guess is None and not idle:
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


def _guessed(points: Sequence[_Point], accuracies: Sequence[float], *, told: bool) -> int | None:
    """Give the number of classes where a loss is, or has become, that of a guess; a coarsely printed one needs an accuracy that tells it too."""
    classes = _classes(points[-1].value, accuracies) if _flat(points) else None
    if classes is not None and (told or _digits(points[-1].text) >= FINE):
        return classes
    return _collapsed(points)


_PLAYERS = lazy_re(r"(?i)(?:^|[\s_./-])(?:[dg]|gan|adv\w*|disc\w*|gen\w*|critic|fake|real|policy|actor|pi|pg|vf|value|ppo)(?:[\s_./-]|\d|loss|$)")
"""Losses of two players, or of a policy: standing still is their balance, or tells nothing."""
_PREFERS = lazy_re(
    r"\b[DG][ _-]?[Ll]oss\b|\b(?:[Dd]iscriminator|[Gg]enerator)[ _]?(?:\w+[ _])?[Ll]oss"
    r"|rewards?/(?:chosen|rejected|margins|accuracies)|logps/|\b(?:DPO|ORPO|GRPO|PPO)Trainer\b"
)
"""Two players again; and training on preferences starts at ln 2, and stays there while the rate warms up."""


def _idle(points: Sequence[_Point], vanished: Sequence[_Point] | None) -> bool:
    """Tell whether all gradients are nought and the loss did not fall, however it wavers from batch to batch."""
    if vanished is None or len(vanished) < ENDLESS or any(point.value != 0 for point in vanished) or len(points) < ENDLESS:
        return False
    quarter = max(len(points) // 4, 2)
    first, last = (sum(point.value for point in part) / quarter for part in (points[:quarter], points[-quarter:]))
    return last >= (1 - IMPROVED) * first


def _beside(name: str, series: dict[str, list[_Point]]) -> list[list[_Point]]:
    """Give the accuracies that belong to a loss: of the same split, as their names say."""
    held = name.startswith(("val", "eval", "test"))
    return [points for other, points in series.items() if other.startswith(("val", "eval", "test")) is held and len(points) >= LEAST]


def _only_accuracy(series: dict[str, list[_Point]]) -> list[Detection]:
    """Find a run that prints no loss, and always the accuracy of a guess."""
    for points in series.values():
        classes = _at_chance(points) if points else None
        if classes is not None:
            captures = {"accuracy": points[-1].text, "points": str(len(points)), "classes": str(classes)}
            return [Detection(point.line, captures) for point in points[-CITED:]]
    return []


_NAN = lazy_re(
    r"(?i)(?<![\w.])['\"]?(?P<component>[\w./-]*(?:loss|cost|nll|ppl|perplexity|objective)[\w./-]*|loss[\w./-]*)['\"]?\s*(?:[:=|]|\bis\b|\bof\b|\s)\s*\[?\(?(?:tensor\()?(?P<value>nan|[-+]?inf(?:inity)?)\b"
)
_STEP = lazy_re(
    r"(?i)(?P<step>Train: \d+ \[ *\d+/\d+|(?:epoch|step|iter(?:ation)?|batch|update|it)s?\W{0,3}\[?\d+(?:\]?\s?[/,|-]\s?\[?\d+)?\]?(?:\[\s*\d+/\d+\])?(?:,?\s(?:step|iter(?:ation)?|batch)\W{0,3}\d+(?:/\d+)?)?)"  # noqa: E501
)
_RATE = lazy_re(rf"(?i)(?<![\w.])['\"]?(?:lr|learning_rate|learning rate)['\"]?\s*[:=|\s]\s*\[?(?P<rate>{NUMBER})")


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
        rate = _RATE.search(text)
        chosen = min(components, key=lambda match: (match["component"].lower() in {"loss", "total_loss", "train_loss"}, match.start()))
        captures = {"component": chosen["component"], "value": chosen["value"]}
        if step := _step_at(lines, index, _tells_loss):
            captures["step"] = step
        if rate:
            captures["learning_rate"] = rate["rate"]
        if not found:
            captures |= _before(lines[:index], captures["component"])
        found.append(Detection(index, captures))
        if len(found) >= CITED:
            break
    return found


def _step_at(lines: Sequence[Line], index: int, tells: Callable[[str], bool]) -> str:
    """Give the step that was printed last, on a line that may tell one; empty where none was."""
    for at in range(index, -1, -1):
        text = lines[at].text
        here = _STEP.search(text) if len(text) <= 4000 and tells(text) else None
        if here:
            return _paired(here["step"].strip())
    return ""


def _tells_loss(text: str) -> bool:
    """Tell whether a line is one of those that print losses: a step elsewhere may be another loop's."""
    return "loss" in text or "Loss" in text or "nan" in text or "LOSS" in text


def _tells_step(text: str) -> bool:
    """Tell whether a line may print a step: beside a norm, `it: 3` and the like are no steps."""
    return "norm" not in text or "tep" in text or "poch" in text or "iter" in text


def _before(lines: Sequence[Line], component: str) -> dict[str, str]:
    """Give the last finite value of a loss and the lowest one: what exploded had risen before it was no number."""
    series = _series(lines, _LOSS, (component.lower(),), every=True)
    named = [points for name, points in series.items() if name.partition("\t")[0] == component.lower()]
    points = max(named, key=len, default=[])
    if len(points) < LEAST_BEFORE:
        return {}
    return {"last_loss": points[-1].text, "least_loss": min(points, key=lambda point: point.value).text}


def _paired(text: str) -> str:
    """Drop a closing bracket whose opening one was not taken."""
    return text[:-1] if text.endswith("]") and text.count("[") < text.count("]") else text


LEAST_BEFORE = 3
"""Values of a loss that must stand before the first nan to tell a rise from a jump."""
_NORMS = lazy_re(
    r"(?i)(?<![\w.])['\"]?(?P<name>g(?:rad(?:ient)?s?)?[_ -]?norm|total[_ -]norm)(?:[/_]\w+)?['\"]?\s*[:=|\s]\s*\[?\(?(?:tensor\()?"
    rf"(?P<value>{NUMBER}|nan|[-+]?inf)(?![\w.])"
)
HUGE = 1e6
"""Gradient norm that no clipping threshold in use (0.1 to 100) leaves any meaning."""
GROWN = 1000
"""A norm that grew by this factor over its first quarter explodes."""
RUN = 3
"""Norms in a row that are not finite; one or two at the start are the search of a loss scale."""


def grad_norm(lines: Sequence[Line]) -> list[Detection]:
    """Find gradient norms that stay nan or inf, or that explode at the end of a run."""
    series: dict[str, list[_Point]] = defaultdict(list)
    for index, line in enumerate(lines):
        if len(line.text) <= 4000 and "norm" in line.text.lower():
            for match in _NORMS.finditer(line.text):
                series[match["name"].lower()].append(_Point(index, match["value"], float(match["value"])))
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
        step, rate = _step_at(lines, first.line, _tells_step), _RATE.search(lines[first.line].text)
        captures = {"grad_norm": first.text, **({"step": step} if step else {}), **({"learning_rate": rate["rate"]} if rate else {})}
        if exploded and finite:
            captures["usual_norm"] = f"{usual:g}"
        return [Detection(point.line, captures) for point in chosen]
    return []


class Detector(NamedTuple):
    """A detector, the types of its captures, and literals of which one stands in every log that it can find something in."""

    find: Callable[[Sequence[Line]], list[Detection]]
    types: dict[str, str]


def parted_ranks(lines: Sequence[Line]) -> list[Detection]:
    """Find the rank that is in another collective than those that wait for it."""
    from aifix.match.parted import parting  # late: few logs are of more than one rank

    found = parting(lines)
    return [Detection(found.parted, found.captures)] if found is not None else []


def waiting_ranks(lines: Sequence[Line]) -> list[Detection]:
    """Find the ranks that wait for one that is in another collective."""
    from aifix.match.parted import parting

    found = parting(lines)
    return [Detection(line, {}) for line in found.waiting] if found is not None else []


DETECTORS: dict[str, Detector] = {
    "flat-loss": Detector(
        flat_loss,
        {
            "loss": "float",
            "loss_name": "text",
            "first_loss": "float",
            "points": "int",
            "classes": "int",
            "accuracy": "float",
            "grad_norm": "float",
        },
    ),
    "grad-norm": Detector(grad_norm, {"grad_norm": "float", "step": "text", "learning_rate": "float", "usual_norm": "float"}),
    "nan-loss": Detector(
        nan_loss,
        {"component": "text", "value": "text", "step": "text", "learning_rate": "float", "last_loss": "float", "least_loss": "float"},
    ),
    "parted-ranks": Detector(
        parted_ranks,
        {
            "first_rank": "int",
            "op_type": "name",
            "waits_at": "text",
            "other_rank": "int",
            "parted_rank": "int",
            "other_op_type": "name",
            "parted_at": "text",
        },
    ),
    "waiting-ranks": Detector(waiting_ranks, {}),
}
"""By the name that rules use."""
