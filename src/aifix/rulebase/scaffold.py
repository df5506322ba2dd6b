"""`rules new`: a rule file from a log, with the variable parts already turned into captures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.reason.unknown import told_by

if TYPE_CHECKING:
    from aifix.model import Document, Line

_PARTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("path", re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.+-]+){2,}")),
    ("shape", re.compile(r"torch\.Size\(\[[\d, ]*\]\)|\[\d+(?:, ?\d+)*\]|\(\d+(?:, ?\d+)+\)|\b\d+(?:x\d+)+\b")),
    ("bytes", re.compile(r"\b\d+(?:\.\d+)? ?(?:[KMGT]i?B|bytes)\b")),
    ("seconds", re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|milliseconds|seconds|minutes|min|s)\b")),
    ("device", re.compile(r"\b(?:cuda|mps|xpu|npu|cpu):\d+\b")),
    ("version", re.compile(r"\b\d+\.\d+\.\d+(?:[-+.]\w+)*\b")),
    ("quoted", re.compile(r"(?<!\w)'([^'\n]+)'(?!\w)|`([^`\n]+)`|\"([^\"\n]+)\"")),
    ("hex", re.compile(r"\b0x[0-9a-fA-F]+\b")),
    ("float", re.compile(r"\b\d+\.\d+(?:e[+-]?\d+)?\b")),
    ("int", re.compile(r"(?<![\w.])-?\d+(?![\w.])")),
)


def pattern_of(message: str) -> str:
    """Turn a message into a signature pattern: sizes, shapes, paths, versions and numbers become typed captures."""
    pieces: list[tuple[int, int, str]] = []
    for kind, expression in _PARTS:
        for found in expression.finditer(message):
            start, end = found.span(found.lastindex or 0)  # of a quotation what stands between its marks
            if all(end <= other or start >= last for other, last, _ in pieces):
                pieces.append((start, end, kind))
    counts: dict[str, int] = {}
    out: list[str] = []
    at = 0
    for start, end, kind in sorted(pieces):
        out.append(_escape(message[at:start]))
        counts[kind] = counts.get(kind, 0) + 1
        out.append(f"{{{kind}_{counts[kind]}:{kind}}}")
        at = end
    out.append(_escape(message[at:]))
    return "".join(out)


def _escape(text: str) -> str:
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


def scaffold(document: Document, rule_id: str) -> str:
    """Give the YAML of a new rule made from a log.

    Args:
        document: the cleaned log.
        rule_id: the id of the new rule.

    Raises:
        ValueError: nothing in the log reads like an error.

    """
    lines, message = _error(document)
    pattern = pattern_of(message).replace("'", "''")
    example = "\n".join("      " + line.text for line in lines)
    return f"""# yaml-language-server: $schema=../schema.json
id: {rule_id}
title: TITLE, under 60 characters, in plain words
severity: error
symptom: false
transient: false
phase: [training]
tags: []
signatures:
  # Which program prints this, in which versions? Look the message up in its source: every part that varies must be a capture
  # (give them names of the field: requested, expected, got), every other wording another signature.
  - pattern: '{pattern}'
    covers: ''
explain: |
  What it means, in two to five sentences, with the numbers: {{name}} is filled from the log; [[ a part with {{name}} ]] is
  dropped when the log does not tell it.
fixes:
  - id: first-fix
    title: The fix that most often ends it
    prior: 0.5
    effort: low
    risk: none
    do:
      - kind: command
        text: the exact command, line or setting
examples:
  - text: |
{example}
counterexamples:
  - text: a near text that is another failure, or none
references: []
"""


def _error(document: Document) -> tuple[list[Line], str]:
    """Find the message to make the signature of, and the lines for the example."""
    told = [one for one in document.tracebacks if one.kind and one.message]
    if told:
        traceback = told_by(told)
        start = max(traceback.start, traceback.error - 12)
        return [line for line in document.lines[start : traceback.end] if line.text.strip()], traceback.message.splitlines()[0]
    for index, line in enumerate(document.lines):
        if re.search(r"(?i)error|fatal|failed|exception|abort", line.text):
            return list(document.lines[max(0, index - 2) : index + 3]), line.text.strip()
    message = "nothing in this log reads like an error"
    raise ValueError(message)
