"""Pages that people wrote: documentation, issues, notes."""

from __future__ import annotations

import re
from itertools import pairwise

from aifix.intake.genre.reading import BULLET, SPOKEN, UTTERED, WORD, Text, count_of, is_prose, share_of
from aifix.lazy import lazy_re

_CHECK = lazy_re(r"\s*(?:[-*+] )?\[[ xX]\] \S")
_WIKI_ROW = lazy_re(r"\{\|| ?\|[-}|] ?|!+ ?\S|\| ?\S|\[\[[^\]]+\]\]$|={2,4} ?[^=]+ ?={2,4}$|h[1-6]\. |\|\|.*\|\|$|<code>|__\w+__$")
_QUOTING = lazy_re(r"[\"“„«](?![^\"”“»]* --?\w)(?=[^\"”“»]* )[A-Za-z][^\"”“»]{5,120}[\"”“»]")
_EXPLAINS = lazy_re(
    r"\b(?:you|your|we|means?|sees?|saw|should|which|what|why|how|when|if|because|document|handle|ask|use|it is|TODO|DONE|FIXME"
    r"|catch|retry|instead|before)\b",
    re.IGNORECASE,
)
_ISSUE_FORM = lazy_re(
    r"#{2,4} .{0,40}(?:Describe the bug|Bug|To Reproduce|Reproduc|Logs?|Error|Stack trace|Traceback|Actual|What happened|Versions?)", re.IGNORECASE
)
# What programs write as a page: an error report with the exception's type and message as items.
_REPORT = lazy_re(r"\s*[-*+] \*\*(?:Exception|Error)[\w ]{0,20}:\*\*")
# The two halves of a change's description: what was said before it, and what is said now.
_FORMER = lazy_re(r"\W{0,4}(?:Before|Old|Previously|Previous|Current|Actual)(?: [\w ]{1,30})?\W{0,3}$", re.IGNORECASE)
_LATTER = lazy_re(r"\W{0,4}(?:After|New|Now|Expected|Proposed)(?: [\w ]{1,30})?\W{0,3}$", re.IGNORECASE)
_BLOCKQUOTE = lazy_re(r">+ (?!\w[\w./@-]*@\d|[\w-]+ (?:build|run|start|test)\b)\S")


def is_document(text: Text) -> bool:
    """Tell whether a text is a page that somebody wrote."""
    rows = text.open_rows
    size = len(text.rows)
    if not rows:
        return False
    log = text.traced + text.logged + sum(UTTERED.match(row) is not None for row, fenced in zip(text.rows, text.fenced, strict=True) if fenced)
    if any(_REPORT.match(row) for row in rows):
        return False
    if log > 0.35 * size or (text.traced and any(_ISSUE_FORM.match(row) for row in rows)):
        return False
    if any(row.startswith(("{|", "||", "|-", "[[Category:")) for row in rows) and count_of(_WIKI_ROW, rows) >= 0.6 * len(rows):
        return True
    checks = count_of(_CHECK, rows)
    if checks >= 3 and share_of(checks, rows) >= 0.4:
        return True
    written = text.prose + sum(1 for row in rows if (match := BULLET.match(row)) and not is_prose(row) and len(WORD.findall(match["body"])) >= 3)
    share = share_of(written, rows)
    # Under a title, what programs print stands in quotation only.
    if text.headings and count_of(_BLOCKQUOTE, rows) >= 2 and not (text.uttered or text.logged or text.traced):
        return True
    marks = min(text.headings, 4) + min(text.markup, 4) + (1 if text.bullets >= 3 else 0)
    structure = marks + min(text.inline, 3)
    noise = share_of(text.uttered, rows)
    if structure >= 4 and text.headings >= 1 and share >= 0.3 and noise <= 0.25:
        return True
    if text.prose >= 2 and share >= 0.2 and not (text.traced or text.logged) and _compares(text):
        return True
    if text.traced or any(SPOKEN.match(row) for row in rows):
        return False
    # Sentences that quote what programs say, and tell what it means or what is to be done.
    quoting = sum(_QUOTING.search(row) is not None and len(WORD.findall(_QUOTING.sub("", row))) >= 3 for row in rows)
    if quoting >= 2 and share >= 0.35 and not (text.uttered or text.logged) and sum(_EXPLAINS.search(row) is not None for row in rows) >= 2:
        return True
    if not text.headings and any(UTTERED.match(row) for row in rows[-4:]):
        return False  # a run ends with what went wrong, a page hardly ever
    if marks >= 1 and structure >= 2 and share >= 0.45 and noise <= 0.2:
        return True
    # Plain prose: nearly everything is sentences, and nothing stands there that a program said.
    return text.prose >= 5 and share >= 0.6 and noise <= 0.04


def _compares(text: Text) -> bool:
    """Whether a label for what was and one for what is each stand above a quotation: fenced, indented, or at Python's prompt."""
    labels = [
        row
        for (row, below), fenced in zip(pairwise(text.rows), text.fenced[1:], strict=True)
        if row.rstrip().endswith((":", ":**")) and (fenced or below.startswith(("  ", "\t", ">>> ")))
    ]
    return bool(count_of(_FORMER, labels) and count_of(_LATTER, labels))
