"""Before and after: what a fix claims to gain, measured.

A folder of `tests/specimens/_figures/` holds `before.py`, `after.py` and `figure.yaml`; both programs print their figures as a line of JSON.
"""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from aifix.lab.specimen import SpecimenError
from aifix.reason.expressions import size
from aifix.rulebase.source import Problem, RuleError, load_yaml, position

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aifix.lab.environment import Target
    from aifix.lab.running import Runner
    from aifix.model import Rule

FORM = "figure.yaml"
FOLDER = "_figures"
SETTINGS = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}
"""For figures of memory: what is freed goes back at once, so that resident memory is memory in use. It costs time, so figures of time go without."""
LIMIT = 120.0
Unit = Literal["bytes", "seconds", "share", ""]


class Measure(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One figure that both programs print (`failed`: the share of runs that end with another status than 0), and what the fix claims of it."""

    what: str
    unit: Unit = ""
    least: float | None = None
    """The value before is at least so many times the one after."""
    most: float | None = None
    """The value after is at most so many times the one before."""
    to: float | None = None
    """The value after is this one."""


class Form(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`figure.yaml`."""

    title: str
    rule: str
    fix: str
    measures: dict[str, Measure]
    runs: int = 1
    """How often each program runs, with RUN=0, 1, ... in its environment; figures are medians."""
    warm: bool = False


class Figure(msgspec.Struct, frozen=True):
    """A figure as it is measured."""

    name: str
    folder: Path
    form: Form


class Measured(msgspec.Struct, frozen=True):
    """What one measure came to."""

    figure: str
    title: str
    rule: str
    fix: str
    what: str
    unit: Unit
    runs: int
    before: float
    after: float
    claim: str
    holds: bool


class FigureError(RuntimeError):
    """A program printed no figure."""


def load_chosen(folder: Path, names: Iterable[str] = ()) -> list[Figure]:
    """Read the figures of a specimens' folder, all of them or those that are named.

    Raises:
        SpecimenError: one cannot be used, or there is none of a name.

    """
    wanted = list(names)
    found = [_load(one) for one in sorted((folder / FOLDER).iterdir()) if (one / FORM).is_file()] if (folder / FOLDER).is_dir() else []
    missing = set(wanted) - {one.name for one in found}
    if missing:
        raise SpecimenError(f"there is no figure {min(missing)} in {folder / FOLDER}")
    return [one for one in found if not wanted or one.name in wanted]


def _load(folder: Path) -> Figure:
    path = folder / FORM
    text = path.read_text("utf-8")
    try:
        return Figure(folder.name, folder, msgspec.convert(load_yaml(text, str(path)), Form))
    except RuleError as error:
        raise SpecimenError(str(error)) from error
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `")
        line, column = position(text, where.rstrip("`") or "$")
        raise SpecimenError(str(Problem(str(path), line or 1, column or 1, message))) from error


def check(figures: Iterable[Figure], rules: Mapping[str, Rule]) -> None:
    """See that each figure is of a fix that there is.

    Raises:
        SpecimenError: its rule or its fix is unknown.

    """
    for one in figures:
        rule = rules.get(one.form.rule)
        if rule is None or all(fix.id != one.form.fix for fix in rule.fixes):
            raise SpecimenError(f"{one.folder / FORM}: there is no fix {one.form.fix} of {one.form.rule}")


def measure(figure: Figure, runner: Runner) -> list[Measured]:
    """Run both programs and compare what they print.

    Raises:
        FigureError: one of them printed no figure.

    """
    sides = [_side(figure, name, runner) for name in ("before.py", "after.py")]
    found = []
    for key, one in figure.form.measures.items():
        before, after = (_value(figure, key, runs) for runs in sides)
        holds, claim = _judge(one, before, after)
        form = figure.form
        found.append(Measured(figure.name, form.title, form.rule, form.fix, one.what, one.unit, form.runs, before, after, claim, holds))
    return found


def _side(figure: Figure, program: str, runner: Runner) -> list[tuple[int | None, str]]:
    """Run one program as often as its form says; give exit status and output of each run."""
    results = []
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as place:
        folder = Path(place, "run")
        shutil.copytree(figure.folder, folder)
        for helper in figure.folder.parent.glob("*.py"):
            shutil.copy(helper, folder)
        memory = any(one.unit == "bytes" for one in figure.form.measures.values())
        for number in range(figure.form.runs):
            env = {**(SETTINGS if memory else {}), "RUN": str(number)}
            if figure.form.warm:
                ran = runner.warm(("torch",), folder, program, env, LIMIT)
            else:
                ran = runner.anew([runner.python, program], folder, env, LIMIT)
            results.append((ran.status, ran.output.decode("utf-8", "replace")))
    return results


def _value(figure: Figure, key: str, runs: Sequence[tuple[int | None, str]]) -> float:
    if key == "failed":
        return sum(status != 0 for status, _ in runs) / len(runs)
    values = [float(said[key]) for _, output in runs if key in (said := _said(output))]
    if not values:
        last = runs[-1][1].strip().rpartition("\n")[2] or "nothing"
        raise FigureError(f"{figure.name}: a program printed no {key}; its last line is: {last}")
    return statistics.median(values)


def _said(output: str) -> Mapping[str, float]:
    """Give the last line that is a JSON object."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict):
                return said
    return {}


def _judge(one: Measure, before: float, after: float) -> tuple[bool, str]:
    claims = []
    holds = True
    if one.least is not None:
        claims.append(f"at least {one.least:g} times less")
        holds &= before >= one.least * after
    if one.most is not None:
        claims.append(f"at most {one.most:g} times as much")
        holds &= after <= one.most * before
    if one.to is not None:
        claims.append(f"down to {shown(one.to, one.unit)}")
        holds &= after == one.to
    return holds, "; ".join(claims)


def shown(value: float, unit: str) -> str:
    """Give a value as text."""
    if unit == "bytes":
        return size(int(value))
    if unit == "seconds":
        return f"{value:.2f} s"
    return f"{value:.0%}" if unit == "share" else f"{value:g}"


def ratio(one: Measured) -> str:
    """Say how the value after stands to the one before."""
    return f"{one.after / one.before:.2f} ×" if one.before else "–"


def page(measured: Sequence[Measured], target: Target) -> str:
    """Give the page of all figures."""
    lines = [
        "# What fixes gain, measured",
        "",
        "Generated by `aifix lab figures --page docs/figures.md`; the programs stand in `tests/specimens/_figures/`. One of them again:",
        "",
        "    aifix lab figures NAME",
        "",
        f"Measured with {target.name} on one thread of a CPU. Memory is what the process held at most, beyond what it held before the step.",
        "",
        "| figure | diagnosis, fix | measured | before | after | ratio | claim |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    lines += [
        f"| `{one.figure}`: {one.title} | `{one.rule}`, `{one.fix}` | {one.what}{f', {one.runs} runs' if one.runs > 1 else ''} "
        f"| {shown(one.before, one.unit)} | {shown(one.after, one.unit)} | {ratio(one)} | {one.claim}{'' if one.holds else ' (does not hold)'} |"
        for one in measured
    ]
    return "\n".join(lines) + "\n"
