"""What is fuzzed: functions of some bytes that let nothing out but what is documented. Used by hypothesis (tests) and by atheris (coverage)."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from aifix import api, redact, unpickle
from aifix.flight_recorder import dump
from aifix.intake import document, lines, tracebacks
from aifix.match import keeper
from aifix.reason import expressions, templates
from aifix.rulebase import source
from aifix.show import json as as_json
from aifix.show.terminal import render
from aifix.show.why import render_why

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.rulebase.base import Base

_base: Base | None = None


def base() -> Base:
    """Give a few rules of each kind: what a rule can do is in them, and they load at once."""
    global _base  # noqa: PLW0603 - made once
    if _base is None:
        from pathlib import Path

        from aifix.rulebase import paths
        from aifix.rulebase.base import from_rules

        folder = Path(paths.rules_folder())
        chosen = sorted(folder.glob("*/*.yaml"))
        rules = [source.load(path).rule for path in chosen if path.parent.name in {"cuda", "train", "data"} and path.parent.name != "catalogues"]
        _base = from_rules(rules)
    return _base


def fuzz_intake(data: bytes) -> None:
    """Clean any bytes: lines are numbered, in order, and hold no control character."""
    read = document.read(data)
    numbers = [line.number for line in read.lines]
    assert numbers == sorted(numbers)
    for line in read.lines:
        assert not any(ord(c) < 32 and c != "\t" for c in line.text), line
        assert not any("\x7f" <= c <= "\x9f" or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for c in line.text), line


def fuzz_tracebacks(data: bytes) -> None:
    """Parse tracebacks: their places lie within the text."""
    cleaned = lines.clean(data)
    for item in tracebacks.parse(cleaned):
        assert 0 <= item.start <= item.error < max(item.end, item.error + 1)
        assert item.end <= len(cleaned)


def fuzz_rule(data: bytes) -> None:
    """Load a stranger's rule."""
    with contextlib.suppress(source.RuleError):
        source.loads(data.decode("utf-8", "replace"), "fuzz.yaml", "a stranger")


def fuzz_expression(data: bytes) -> None:
    """Evaluate a stranger's condition."""
    names = {"a": 1, "b": 2.5, "text": "x", "shape": [1, 2, 3], "none": None, "yes": True}
    with contextlib.suppress(expressions.ExpressionError, expressions.UnknownNameError):
        expressions.evaluate(data.decode("utf-8", "replace"), names)


def fuzz_template(data: bytes) -> None:
    """Fill a stranger's text."""

    def look_up(expression: str) -> str:
        if "a" in expression:
            return "1"
        raise expressions.UnknownNameError

    text = data.decode("utf-8", "replace")
    for fill in (templates.fill, templates.line, templates.prose):
        with contextlib.suppress(templates.MissingError):
            fill(text, look_up)
    templates.bare(text)


def fuzz_keeper(data: bytes) -> None:
    """Keep an input that comes in pieces: all of a small one, and the same verdict however it is cut."""
    whole, parts = keeper.Keeper(), keeper.Keeper()
    whole.feed(data)
    step = 1 + data[0] if data else 1
    for at in range(0, len(data), step):
        parts.feed(data[at : at + step])
    assert whole.blocks() == parts.blocks() == [(1, data)]
    assert whole.lines() == data.count(b"\n") + bool(data and not data.endswith(b"\n"))
    index = keeper.core_index([b"sCUDA out of memory", b"ierror", b"s: "])
    assert keeper.stands(data, index) == (b"CUDA out of memory" in data or b"error" in data.lower() or b": " in data)


def fuzz_redact(data: bytes) -> None:
    """Take out secrets: once is enough."""
    text = data.decode("utf-8", "replace")
    once = redact.redact(text, leaving=redact.Person(("/home/joe",), ("joe",), ("node1",)))
    assert redact.redact(once) == once


def fuzz_unpickle(data: bytes) -> None:
    """Read a stranger's pickle: plain data comes out, or why not."""
    with contextlib.suppress(unpickle.UnpickleError):
        assert type(unpickle.loads(data)) in {type(None), bool, int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset}
    with contextlib.suppress(unpickle.UnpickleError):
        unpickle.loads(data, small=0)


def fuzz_flight(data: bytes) -> None:
    """Read a stranger's flight-recorder dump, of JSON or as a pickle."""
    with contextlib.suppress(unpickle.UnpickleError, dump.DumpError):
        try:
            plain = json.loads(data)
        except (ValueError, RecursionError):
            plain = unpickle.loads(data)
        dump.parse(plain, rank=0, file="rank_0")


def fuzz_diagnose(data: bytes) -> None:
    """Diagnose anything and show it in every form: no control character gets out."""
    report = api.diagnose_blocks([(1, data)], base=base())
    shown = render(report, width=80, colour=False, verbose=True) + render_why(report, width=80, colour=False)
    assert all(line.isprintable() for line in shown.split("\n")), shown
    as_json.dump(report)


TARGETS: dict[str, Callable[[bytes], None]] = {name[5:]: target for name, target in list(globals().items()) if name.startswith("fuzz_")}
