"""Typed captures: the regex that each type stands for in a pattern, and how its text becomes a value with a unit."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Callable

BYTE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50, "E": 1 << 60}
SECOND_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "mil": 1e-3,
    "mic": 1e-6,
    "nan": 1e-9,
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "hou": 3600.0,
    "d": 86400.0,
    "day": 86400.0,
}
MAX_TEXT = 2000
"""A captured text is cut at this many characters: facts of a hostile log stay bounded."""


class Parsed(NamedTuple):
    """A parsed capture: its value (None when the text does not parse) and its unit."""

    value: Any
    unit: str | None


def parse_bytes(text: str) -> Parsed:
    """Give a size in bytes; torch's and the kernel's units are binary whether spelled GiB or GB."""
    found = re.match(r"\s*(-?\d+(?:\.\d*)?)\s*([kKMGTPE]?)", text.replace(",", ""))
    if not found:
        return Parsed(None, "bytes")
    return Parsed(round(float(found[1]) * BYTE_UNITS[found[2].upper()]), "bytes")


def parse_seconds(text: str) -> Parsed:
    """Give a duration in seconds; a bare number is seconds, `H:MM:SS` is read as a clock."""
    clock = re.fullmatch(r"\s*(?:(\d+)-)?(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*", text)
    if clock:
        days, first, second, third = clock.groups()
        if third is None:
            return Parsed(int(first) * 60.0 + int(second), "seconds")
        return Parsed(int(days or 0) * 86400.0 + int(first) * 3600.0 + int(second) * 60.0 + float(third), "seconds")
    found = re.match(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text)
    if not found:
        return Parsed(None, "seconds")
    word = found[2].lower()
    scale = SECOND_UNITS.get(word) or SECOND_UNITS.get(word[:3]) or SECOND_UNITS.get(word[:1], 1.0)
    return Parsed(round(float(found[1]) * scale, 9), "seconds")


def parse_int(text: str) -> Parsed:
    """Give an integer; thousands separators are dropped."""
    try:
        return Parsed(int(text.replace(",", "").replace("_", "")), None)
    except ValueError:
        return Parsed(None, None)


def parse_float(text: str) -> Parsed:
    """Give a float; nan and inf become text, since JSON has no such numbers."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return Parsed(None, None)
    if not math.isfinite(value):
        return Parsed(text.strip().lower(), None)
    return Parsed(value, None)


def parse_shape(text: str) -> Parsed:
    """Give a shape as a list of integers (-1 where the dimension is free)."""
    return Parsed([-1 if part in {"None", "?"} else int(part) for part in re.findall(r"-?\d+|None|\?", text)], "shape")


def parse_text(text: str) -> Parsed:
    """Give the text itself."""
    return Parsed(text, None)


def _unit(unit: str) -> Callable[[str], Parsed]:
    def parse(text: str) -> Parsed:
        return Parsed(text, unit)

    return parse


class CaptureType(NamedTuple):
    """The regex of a type and its parser."""

    regex: str
    parse: Callable[[str], Parsed]


TYPES: dict[str, CaptureType] = {
    "int": CaptureType(r"[-+]?\d+(?:,\d{3})*", parse_int),
    "float": CaptureType(
        r"[-+]?(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[nN]a[nN]|NAN|[iI]nf(?:inity)?)", parse_float
    ),
    "bytes": CaptureType(r"-?\d+(?:,\d{3})*(?:\.\d*)?\s?(?:[kKMGTPE]i?[bB]?(?:ytes)?|[bB](?:ytes)?)?\b", parse_bytes),
    "seconds": CaptureType(
        r"(?:\d+-)?\d+:\d\d(?::\d\d(?:\.\d+)?)?|\d+(?:\.\d+)?\s?(?:milliseconds?|microseconds?|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|ms|us|ns|s|m|h|d)?\b",
        parse_seconds,
    ),
    "version": CaptureType(r"v?\d+(?:\.\w+)*(?:[-+~][\w.]+)*", _unit("version")),
    "shape": CaptureType(
        r"(?:torch\.Size\(\[[^\]]*\]\)|TensorShape\(\[[^\]]*\]\)|\[(?:\s?(?:-?\d+|None|\?)\s?[,x×]?)*\]|\((?:\s?(?:-?\d+|None|\?)\s?[,x×]?)*\)|-?\d+(?:\s?[x×]\s?-?\d+)+)",
        parse_shape,
    ),
    "dtype": CaptureType(r"(?:[A-Za-z_][\w.:]*)", _unit("dtype")),
    "device": CaptureType(r"(?:(?:cuda|cpu|mps|xpu|npu|hpu|xla|meta|hip|ipu|GPU|gpu|CPU|device|privateuseone)(?::\d+)?)", _unit("device")),
    "name": CaptureType(r"[A-Za-z_@][\w.\-]*", parse_text),
    "word": CaptureType(r"\S+", parse_text),
    "path": CaptureType(r"(?:[A-Za-z]:(?:\\|/))?[^\s'\"`:,;|<>()\[\]]+(?::[^\s'\"`:,;|<>()\[\]\d][^\s'\"`:,;|<>()\[\]]*)?", _unit("path")),
    "quoted": CaptureType(r"[^'\"`]+", parse_text),
    "text": CaptureType(r".+?", parse_text),
    "rest": CaptureType(r".+", parse_text),
    "hex": CaptureType(r"(?:0x)?[0-9a-fA-F]+", parse_text),
    "address": CaptureType(r"\[?[\w.\-:*%]+\]?(?:<\d+>|:\d+)?", _unit("address")),
    "arch": CaptureType(r"(?:(?:sm|compute|gfx|SM|lto)_?[0-9a-f]+[af]?)", _unit("arch")),
    "range": CaptureType(r"[\[(]\s?-?[\w.]+\s?,\s?-?[\w.]+\s?[\])]", parse_text),
}

CAPTURE = lazy_re(r"\{([a-z][a-z0-9_]*):([a-z]+)\}")


class UnknownTypeError(ValueError):
    """A capture names a type that does not exist."""


def expand(pattern: str) -> tuple[str, dict[str, str]]:
    """Turn typed captures into named groups.

    Args:
        pattern: a rule's pattern, as `size {got:int}`.

    Returns:
        The regex text, and the type of each capture by name.

    Raises:
        UnknownTypeError: a capture's type is not one of `TYPES`, or a name occurs twice.

    """
    types: dict[str, str] = {}

    def replace(found: re.Match[str]) -> str:
        name, kind = found.group(1), found.group(2)
        if kind not in TYPES:
            message = f"unknown capture type {kind!r} in {{{name}:{kind}}}; known: {', '.join(sorted(TYPES))}"
            raise UnknownTypeError(message)
        if name in types:
            message = f"capture {name!r} occurs twice in one pattern"
            raise UnknownTypeError(message)
        types[name] = kind
        return f"(?P<{name}>{TYPES[kind].regex})"

    return CAPTURE.sub(replace, pattern), types


def parse(kind: str, text: str) -> Parsed:
    """Parse a captured text by its type.

    Args:
        kind: a key of `TYPES`.
        text: the text as printed.

    """
    return TYPES[kind].parse(text)
