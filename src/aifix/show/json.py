"""The report as JSON, for programs: the shape that report.schema.json publishes."""

from __future__ import annotations

from typing import Any

import msgspec


def dump(report: Any, *, indent: int = 2) -> bytes:
    """Encode a report, or whatever else a command prints as JSON, as one JSON value, ending with a line feed.

    Every character outside ASCII that a terminal might act on (C1 controls, bidi overrides, line separators) is
    escaped, so the text is the log's to the letter and still safe to print.

    Args:
        report: What to say.
        indent: Blanks per level; 0 puts everything on one line.
    """
    try:
        encoded = msgspec.json.encode(report, enc_hook=str)
    except (UnicodeEncodeError, OverflowError):  # a lone surrogate, an integer beyond 64 bits: not msgspec's, but JSON's
        return _encode_slowly(report, indent)
    return printable(msgspec.json.format(encoded, indent=indent)) + b"\n"


def printable(encoded: bytes) -> bytes:
    """Escape in a JSON text whatever a terminal might act on; it says the same."""
    text = encoded.decode()
    if not text.isascii():
        text = "".join([c if c < "\x7f" or c.isprintable() else _escape(c) for c in text])
    return text.replace("\x7f", "\\u007f").encode()


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _encode_slowly(report: Any, indent: int) -> bytes:
    import json

    plain: Any = msgspec.to_builtins(report, enc_hook=str)
    return json.dumps(plain, ensure_ascii=True, allow_nan=False, default=str, indent=indent or None).encode() + b"\n"
