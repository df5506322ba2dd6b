"""Text of strangers made safe to print: no escape, control or bidirectional-override character of a log reaches the terminal."""

from __future__ import annotations

from unicodedata import category

from aifix.lazy import lazy_re

REPLACEMENT = "\ufffd"

# Whole escape sequences, so that their parameters do not stay behind as litter. Strings (OSC, DCS, APC, PM, SOS) first, and only where they
# end: an unfinished one loses its introducer alone, so that no log can hide the rest of its line.
_ESCAPE = lazy_re(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]+[0-~]"
    r"|\x1b[0-~]"
)


def sanitise(text: str) -> str:
    """Make one line printable: the result holds printable characters only, and stands on one line.

    Escape sequences and invisible format characters (bidi overrides, zero-width marks) are removed, tabs become blanks,
    other blanks a blank, and any other control character, private-use or unassigned code point U+FFFD.
    """
    if text.isprintable():
        return text
    text = _ESCAPE.sub("", text.rstrip("\r\n")).expandtabs(4)
    if text.isprintable():
        return text
    return "".join([character if character.isprintable() else _stand_in(character) for character in text])


def one_line(text: str) -> str:
    """Put a text of strangers on one line, fit for a terminal."""
    return sanitise(" ".join(text.split()))


def sanitise_block(text: str) -> str:
    """Make a text of several lines printable; only its line feeds stay."""
    if text.isprintable():
        return text
    return "\n".join([sanitise(line) for line in text.replace("\r\n", "\n").split("\n")])


def fit_encoding(text: str, encoding: str) -> str:
    """Replace what `encoding` cannot print by a question mark; line feeds and printable text stay."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode(encoding, "replace").decode(encoding)
    except LookupError:
        return text.encode("ascii", "replace").decode("ascii")
    return text


def _stand_in(character: str) -> str:
    kind = category(character)
    if kind == "Zs" or character in "\n\u2028\u2029":
        return " "
    return "" if kind == "Cf" else REPLACEMENT
