"""The table of `aifix lab run`, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aifix.show.json import dump
from aifix.show.safe import sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.lab.environment import Target
    from aifix.lab.verify import Row
    from aifix.show.layout import Paint

SCHEMA = "aifix.lab/1"
TAIL = 40
"""Lines of a program's output that are shown."""


def header(width: int) -> str:
    """Give the head of the table; `width` is that of the longest name."""
    return f"{'specimen':{width}}  {'fails':8}  {'diagnosed':16}  {'seconds':>7}  fix ends it"


def line(row: Row, width: int, paint: Paint, *, verbose: bool) -> list[str]:
    """Give a row as lines; what is wrong stands below it."""
    name = f"{row.name:{width}}"
    if row.verdict == "skipped":
        return [paint.dim(sanitise(f"{name}  skipped: needs {row.needs}"))]
    fails = f"yes, {row.status}" if row.fails else f"NO, {'no end' if row.status is None else row.status}"
    found = f"yes, {row.confidence:.0%}" if row.diagnosed else f"NO, {row.found[0] if row.found else 'nothing'}"
    fixes = "  ".join(f"{one.fix} {'yes' if one.ended else 'NO'}" + (" (patch)" if one.how == "apply" else "") for one in row.fixes)
    fixes += "".join(f"  {fix} –" for fix in row.unproven)
    text = sanitise(f"{name}  {fails:8}  {found:16}  {row.seconds:7.1f}  {fixes.strip()}")
    lines = [text if row.verdict == "right" else paint.strong(text)]
    lines += [f"    {sanitise(one)}" for one in row.wrong]
    if verbose:
        lines += _shown("it printed", row.output)
        for one in row.fixes:
            lines += _shown(f"with {one.fix} it printed", one.output)
    return lines


def _shown(what: str, output: str) -> list[str]:
    kept = output.rstrip("\n").split("\n")
    more = [f"    ({len(kept) - TAIL} lines before)"] if len(kept) > TAIL else []
    return [sanitise(f"  {what}:"), *more, *[f"    {one}" for one in sanitise_block("\n".join(kept[-TAIL:])).split("\n")]]


def summary(rows: Sequence[Row], target: Target, seconds: float) -> str:
    """Sum up."""
    ran = [row for row in rows if row.verdict != "skipped"]
    wrong = sum(row.verdict == "wrong" for row in ran)
    ids = {row.id for row in ran if row.verdict == "right"}
    proven = {row.id for row in ran if row.verdict == "right" and row.fixes}
    skipped = len(rows) - len(ran)
    parts = [f"{len(ran)} specimens, {wrong} wrong" + (f", {skipped} skipped" if skipped else "")]
    parts.append(f"{len(ids)} ids fail and are diagnosed as they should, {len(proven)} of them with a proven fix")
    return f"{'; '.join(parts)}; {seconds:.0f} s; {target.name}"


def as_json(rows: Sequence[Row], target: Target, seconds: float) -> str:
    """Give everything as one JSON object."""
    answer: dict[str, Any] = {
        "schema": SCHEMA,
        "target": {"python": target.python, "version": target.version, "torch": target.modules.get("torch"), "torch_build": target.torch_build},
        "seconds": round(seconds, 2),
        "specimens": [msgspec.to_builtins(row) for row in rows],
    }
    return dump(answer).decode().rstrip("\n")
