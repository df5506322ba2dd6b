"""Texts of rules with the log's values filled in, and no holes.

`{name}` is the fact as printed, `{expression}` its value, `{{` and `}}` are braces; `[[a||b]]` is `a` if everything in it
is known, else `b`; `{x||y}` is short for `[[{x}||y]]`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from aifix.lazy import lazy_re
from aifix.reason import expressions

LONGEST = 30_000
OPTIONS = 200


class TemplateError(ValueError):
    """The text is not a well-formed template."""


class Hole(NamedTuple):
    """A placeholder and what stands for it when it is unknown."""

    expression: str
    default: str | None


class Option(NamedTuple):
    """A part that is kept only when it is complete, and its replacement."""

    body: tuple[Any, ...]
    otherwise: tuple[Any, ...]


class MissingError(Exception):
    """A placeholder outside optional parts is unknown."""


@functools.lru_cache(maxsize=4096)
def parse(text: str) -> tuple[Any, ...]:
    """Parse a template into literal strings, holes and options.

    Raises:
        TemplateError: braces or brackets do not pair, or an expression does not parse.

    """
    if len(text) > LONGEST or text.count("[[") > OPTIONS:  # a stranger's rule: no text may nest without end, or take long
        message = f"longer than {LONGEST} characters, or more than {OPTIONS} times '[[', in {text[:60]!r}"
        raise TemplateError(message)
    parts, end, _ = _parse(text, 0, inside=False)
    if end != len(text):
        message = f"'||' or ']]' without '[[' in {text[:60]!r}"
        raise TemplateError(message)
    return parts


def _parse(text: str, at: int, *, inside: bool) -> tuple[tuple[Any, ...], int, str]:
    parts: list[Any] = []
    literal: list[str] = []

    def flush() -> None:
        if literal:
            parts.append("".join(literal))
            literal.clear()

    while at < len(text):
        two = text[at : at + 2]
        if two in {"{{", "}}"}:
            literal.append(two[0])
            at += 2
        elif two == "[[" and _closes(text, at):
            flush()
            body, at, closed = _parse(text, at + 2, inside=True)
            otherwise: tuple[Any, ...] = ()
            if closed == "||":
                otherwise, at, closed = _parse(text, at, inside=True)
            if closed != "]]":
                message = f"'[[' is not closed in {text[:60]!r}"
                raise TemplateError(message)
            parts.append(Option(body, otherwise))
        elif inside and two in {"||", "]]"}:
            if two == "]]" and _closing(text, at) % 2:  # the option ends in a bracket of its own: [[x[0]]]
                literal.append("]")
                at += 1
                continue
            flush()
            return tuple(parts), at + 2, two
        elif text[at] == "{":
            flush()
            hole, at = _hole(text, at)
            parts.append(hole)
        elif text[at] == "}":
            message = f"single '}}' in {text[max(0, at - 30) : at + 10]!r}: write '}}}}' for a brace"
            raise TemplateError(message)
        else:
            literal.append(text[at])
            at += 1
    flush()
    return tuple(parts), at, ""


def _closing(text: str, at: int) -> int:
    """Count the closing brackets that stand here."""
    end = at
    while end < len(text) and text[end] == "]":
        end += 1
    return end - at


def _closes(text: str, at: int) -> bool:
    """Tell whether this `[[` opens an option: code has `[[` too (nested lists), but no `{…}` or `||` within."""
    depth, here = 0, at
    while here < len(text) - 1:
        two = text[here : here + 2]
        if two == "[[":
            depth += 1
            here += 2
        elif two == "]]":
            depth -= 1
            here += 2
            if depth == 0:
                inside = text[at + 2 : here - 2].replace("{{", "")
                return "{" in inside or "||" in inside
        else:
            here += 1
    return False


def _hole(text: str, at: int) -> tuple[Hole, int]:
    end = text.find("}", at)
    if end < 0:
        message = f"'{{' is not closed in {text[at : at + 40]!r}"
        raise TemplateError(message)
    inner = text[at + 1 : end]
    expression, bar, default = inner.partition("||")
    expression = expression.strip()
    try:
        expressions.parse(expression)
    except expressions.ExpressionError as error:
        message = f"{{{inner}}}: {error}; write '{{{{' for a brace"
        raise TemplateError(message) from error
    return Hole(expression, default if bar else None), end + 1


def holes(text: str) -> list[tuple[str, bool]]:
    """Give every placeholder's expression, and whether it must be known (it stands outside options and has no default)."""
    found: list[tuple[str, bool]] = []

    def walk(parts: tuple[Any, ...], *, required: bool) -> None:
        for part in parts:
            if isinstance(part, Hole):
                found.append((part.expression, required and part.default is None))
            elif isinstance(part, Option):
                walk(part.body, required=False)
                walk(part.otherwise, required=False)

    walk(parse(text), required=True)
    return found


Lookup = Callable[[str], str]
"""Gives the text for an expression, or raises UnknownNameError."""


def fill(text: str, look_up: Lookup) -> str:
    """Fill a template.

    Args:
        text: the template.
        look_up: gives the text for an expression.

    Raises:
        MissingError: a placeholder that must be known is not.

    """
    try:
        parts = parse(text)
    except TemplateError as error:  # a user's rule that was never linted: its text is left out, the diagnosis stands
        raise MissingError(text) from error
    return _fill(parts, look_up).strip("\n")


def bare(text: str) -> str:
    """Give a text without a case: options fall back to what stands for them, and holes become an ellipsis."""

    def unknown(_expression: str) -> str:
        raise expressions.UnknownNameError

    try:
        return " ".join(fill(text, unknown).split())
    except MissingError:
        text = text[: LONGEST // 10]  # from every bracket the rest is searched for its end
        return " ".join(re.sub(r"\[\[.*?\]\]", "", re.sub(r"\{[^}]*\}", "…", text)).split())


def longest(text: str) -> int:
    """Count the characters of a text's longest reading, each value as its name in braces; what only keeps or drops a part counts nothing."""

    def count(parts: tuple[Any, ...]) -> int:
        total = 0
        for part in parts:
            if isinstance(part, str):
                total += len(part)
            elif isinstance(part, Option):
                total += max(count(part.body), count(part.otherwise))
            elif not part.expression.startswith("only_if("):
                total += max(len(part.expression) + 2, len(part.default or ""))
        return total

    try:
        return count(parse(text))
    except TemplateError:
        return len(text)


def _fill(parts: tuple[Any, ...], look_up: Lookup) -> str:
    out: list[str] = []
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        elif isinstance(part, Hole):
            try:
                out.append(look_up(part.expression))
            except expressions.UnknownNameError as error:
                if part.default is None:
                    raise MissingError(part.expression) from error
                out.append(part.default)
        else:
            try:
                out.append(_fill(part.body, look_up))
            except MissingError:
                try:
                    out.append(_fill(part.otherwise, look_up))
                except MissingError:
                    out.append("")
    return "".join(out)


def _tidy(text: str) -> str:
    """Close the gaps that dropped parts leave in prose, and end a sentence once whose last value ends one; code is left as it is."""
    closed = re.sub(r" +([.,;:)])(?=\s|$)", r"\1", " ".join(text.split()))
    return re.sub(r"(?:(?<=[^\s.]\.)|(?<=\.\.\.))\.(?=\s|$)", "", closed)


_SENTENCE = lazy_re(r"(?<=[.!?:])\s+(?=[A-Z\[`'\"(0-9{])")


def line(text: str, look_up: Lookup) -> str:
    """Fill a text of one line, such as a title.

    Raises:
        MissingError: as `fill`.
    """
    return _tidy(fill(text, look_up))


def prose(text: str, look_up: Lookup) -> str:
    """Fill a prose text; sentences with a placeholder that stays unknown are dropped."""
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        flat = " ".join(paragraph.split())
        try:
            kept.append(_tidy(fill(flat, look_up)))
            continue
        except MissingError:
            pass
        sentences: list[str] = []
        for sentence in _sentences(flat):
            try:
                sentences.append(fill(sentence, look_up).strip())
            except MissingError:
                continue
        if sentences:
            kept.append(_tidy(" ".join(sentences)))
    return "\n\n".join(part for part in kept if part)


def _sentences(text: str) -> list[str]:
    """Split into sentences, never within `[[ ]]` or braces."""
    pieces: list[str] = []
    for piece in _SENTENCE.split(text):
        if pieces and (pieces[-1].count("[[") > pieces[-1].count("]]") or pieces[-1].count("{") > pieces[-1].count("}")):
            pieces[-1] += " " + piece
        else:
            pieces.append(piece)
    return pieces
