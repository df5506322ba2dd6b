"""Diffs, manuals, and lists of commits, tickets, hits and tests that passed."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence


from aifix.intake.genre.reading import CODE_MAYBE, CODE_SURE, GREP, UTTERED, WORD, Text, count_of, share_of

# ---- diffs
_HUNK = lazy_re(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_DIFF_HEAD = lazy_re(r"diff --git |index [0-9a-f]{6,}\.\.|--- (?:a/|\S+\t|/dev/null)|\+\+\+ (?:b/|\S+\t|/dev/null)|Index: \S")
# ---- listings
_PASSED = lazy_re(
    r"\s*(?:[✓✔√] |ok \d+\b|(?:--- )?PASS\b|=== (?:RUN|PAUSE|CONT)\b|\[ +(?:OK|RUN|PASSED) +\]|\[-{6,}\]"
    r"|test \S.{0,200} \.\.\. ok$|.{1,200} \.\.\. ok$)"
    r"|.{1,300}(?:\bPASSED(?: +\[ *\d+%\])?|\.{3,} +Passed +[\d.]+ sec)$"
)
_NOT_PASSED = lazy_re(
    r"(?i)[✗✕✖×✘]|\bnot ok\b|--- FAIL|^FAIL|\bFAILED\b|\*\*\*|\.\.\. (?:fail|error)|\b[1-9]\d* (?:failed|failing|errors?"
    r"|failures?)\b|^E  |panicked|^Traceback|core dumped|^Killed|exit(?:ed)? (?:code|status)[ :=]+[1-9]"
)
_COMMIT = lazy_re(r"[*|\\/ ]{0,12}\b([0-9a-f]{7,40})\b (?:\([^)]*\) )?\S")
_TICKET = lazy_re(r"(?:[-*] )?(?:\[?#\d{1,6}\]?|[A-Z]{2,10}-\d{1,6})(?:\t|[ ]{1,}|: )\S")
_GREP_CODE = lazy_re(r"raise |throw |re\.|[\"'`]|def |#|//|assert|return |match|import |=|\* ")
_HISTORY = lazy_re(r"\s*(\d{1,6})\*?\s{1,4}(?:\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?\s+)?(?:[A-Z_]\w*=\S*\s+){0,4}[a-z.~/!][\w./~-]*(?:\s|$)")
# A statistic: how often each message was seen, and its share.
_TALLY = lazy_re(r"\s*\d[\d,.']*\s+\(?\d{1,3}(?:[.,]\d+)?\s?%\)?\s+\S.*[A-Za-z]{2}|.{4,160}?\S\s{2,}\d[\d,.']*\s+\(?\d{1,3}(?:[.,]\d+)?\s?%\)?$")
_VERSION_HEAD = lazy_re(r"(?:#{1,4} |\[)?\[?[vV]?\d+\.\d+(?:\.\d+)?\]?(?: .{0,40})?$|#{1,4} (?:Unreleased|\[Unreleased\])")
_CHANGE_HEAD = lazy_re(r"(?:#{2,4} )?(?:Added|Fixed|Changed|Removed|Deprecated|Security|Bug [Ff]ixes|Features|New|Breaking.*):?$")
# ---- manuals
_MAN_LINE = lazy_re(r"[A-Za-z][\w.+-]*\(\d\w?\)\s{2,}.*\(\d\w?\)$")
_MAN_HEADS = frozenset(
    (
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "OPTIONS",
        "EXIT STATUS",
        "ENVIRONMENT",
        "FILES",
        "SEE ALSO",
        "BUGS",
        "AUTHOR",
        "EXAMPLES",
        "NOTES",
        "RETURN VALUE",
        "ERRORS",
        "DIAGNOSTICS",
        "COPYRIGHT",
        "HISTORY",
        "AUTHORS",
        "EXAMPLE",
        "COMMANDS",
        "ARGUMENTS",
    )
)
_GROUP = lazy_re(r"(?:[A-Za-z]+ ){0,3}[A-Za-z]+:$")
_FLAG = lazy_re(r"\s{2,}-{1,2}[A-Za-z][\w-]*(?:[ =,].*|)$")
# One row of a table of codes: errno names, signals, statuses of CUDA's libraries, and what they mean.
_CODE_ROW = lazy_re(
    r"[ \t|*-]{0,12}(?:#define\s+)?[`\"]?(?P<code>E[A-Z][A-Z0-9]{1,14}|SIG[A-Z]{2,6}\d?|(?:CUDA|CUDNN|CUBLAS|CUSPARSE|CUSOLVER"
    r"|CUFFT|NVML|HIP)_(?:ERROR|STATUS)?_?[A-Z_]+"
    r"|cudaError[A-Z]\w*|nccl[A-Z]\w*Error|WSAE[A-Z]+|ERROR_[A-Z_]+)[`\"]?(?:\s*[=(]?\s*\d{1,5}\)?)?(?:\s*[|:,–—-])?(?:\s+\S.*|)$"
)
_NO_CODE = frozenset(
    ("ERROR", "EPOCH", "EVAL", "EXCEPTION", "ENV", "EOF", "EXIT", "END", "ERR", "ETA", "EMA", "EP", "EARLY", "EVENT", "EXTRA", "EACH", "EMPTY")
)


def is_diff(text: Text) -> bool:
    """Tell whether a text is a patch."""
    rows = text.rows
    hunks, heads = count_of(_HUNK, rows), count_of(_DIFF_HEAD, rows)
    changed = sum(row.startswith(("+", "-")) for row in rows)
    inside = sum(row.startswith(("+", "-", " ", "@@")) for row in rows) + count_of(_DIFF_HEAD, rows)
    if text.traced or changed < 2:
        return False
    if not hunks and not heads:  # the head is cut off
        coded = sum(CODE_SURE.match(row[1:]) is not None or CODE_MAYBE.match(row[1:]) is not None for row in rows if row.startswith(("+", "-")))
        return changed >= 4 and coded >= 0.7 * changed and inside == len(rows) and any(row.startswith(" ") for row in rows)
    return ((hunks >= 1 and heads >= 1) or hunks >= 2 or heads >= 3 or (hunks >= 1 and changed >= 4)) and share_of(inside, rows) >= 0.75


def is_manual(text: Text) -> bool:
    """Tell whether a text is a manual page, a usage text or a table of codes."""
    rows = text.rows
    if text.traced or text.logged:
        return False
    heads = len({row for row in rows if row in _MAN_HEADS})
    indented = sum(row.startswith(("  ", "\t")) for row in rows)
    if (heads >= 2 or (heads >= 1 and count_of(_MAN_LINE, rows))) and share_of(indented, rows) >= 0.5:
        return True
    if _is_code_table(rows):
        return True
    options = count_of(_FLAG, rows)
    groups = count_of(_GROUP, rows)
    if options >= 4 and indented + groups >= 0.95 * len(rows) and not any(UTTERED.match(row) for row in rows):
        return True  # the head with its usage is cut off
    usage = any(row.lower().startswith("usage:") for row in rows[:6])
    return usage and count_of(_FLAG, rows) >= 3 and not any(re.match(r"\S+: error: ", row) for row in rows)


def _is_code_table(rows: Sequence[str]) -> bool:
    """Whether the lines list codes with their meanings: each of many names once, and little beside them."""
    names = [match["code"] for row in rows if (match := _CODE_ROW.match(row)) and match["code"] not in _NO_CODE]
    if len(set(names)) < 4 or len(set(names)) < 0.9 * len(names):
        return False
    deepest = min(len(row) - len(row.lstrip()) for row in rows if _CODE_ROW.match(row))
    inside = sum(_CODE_ROW.match(row) is not None or len(row) - len(row.lstrip()) > deepest + 2 for row in rows)
    return len(names) >= 0.3 * len(rows) and inside >= 0.8 * len(rows)


def is_listing(text: Text) -> bool:
    """Tell whether a text lists commits, tickets, hits of a search, commands typed, or tests that passed."""
    rows, raws = text.rows, text.raws
    size = len(rows)
    if text.traced:
        return False
    commits = [match for row in rows if (match := _COMMIT.match(row))]
    # Seconds since 1970 are digits only, hashes hardly ever.
    if len(commits) >= max(4, 0.7 * size) and sum(not match[1].isdecimal() for match in commits) >= 0.6 * len(commits):
        return True
    if any(re.match(r"commit [0-9a-f]{40}\b", row) for row in rows) and any(row.startswith("Author: ") for row in rows):
        return True
    tickets = count_of(_TICKET, rows)
    if tickets >= 3 and tickets >= 0.6 * size and text.logged == 0:
        return True
    if any(re.match(r"Showing \d+ of \d+ ", row) for row in rows[:3]):
        return True
    found = [match for row in rows if (match := GREP.match(row))]
    if len(found) >= max(3, 0.7 * size):
        coded = sum(_GREP_CODE.search(match["rest"]) is not None for match in found)
        verdicts = sum(re.match(r"(?:\d+: ?)? ?(?:fatal )?(?:error|warning|note|[EWFCD]\d{3})\b", match["rest"]) is not None for match in found)
        if coded >= 0.6 * len(found) and verdicts <= 0.1 * len(found):
            return True
    for shown in (rows, raws):
        numbers = [int(match[1]) for row in shown if (match := _HISTORY.match(row))]
        if len(numbers) >= max(6, 0.85 * size) and all(b == a + 1 for a, b in pairwise(numbers)):
            return True
    if _is_green(rows) and text.logged == 0:
        return True
    if count_of(_TALLY, rows) >= max(4, 0.5 * size) and text.logged == 0 and text.uttered == 0:
        return True
    versions, changes = count_of(_VERSION_HEAD, rows), count_of(_CHANGE_HEAD, rows)
    if versions >= 1 and versions + changes >= 2 and text.bullets >= max(3, 0.2 * size) and text.uttered + text.logged <= 0.1 * size:
        return True
    return _is_table_of_tickets(rows)


def _is_green(rows: Sequence[str]) -> bool:
    """Whether a test runner's report says of every test that it passed: their names are inputs, not events."""
    passed = count_of(_PASSED, rows)
    first = next((index for index, row in enumerate(rows) if _PASSED.match(row)), 0)
    last = next((index for index in reversed(range(len(rows))) if _PASSED.match(rows[index])), 0)
    if any(UTTERED.match(row) and not row.startswith("=") for row in (*rows[:first], *rows[last + 1 :])):
        return False  # what stands before and after the tests, no test wanted
    return passed >= 2 and passed >= 0.5 * len(rows) and not any(_NOT_PASSED.search(row) for row in rows if not _PASSED.match(row))


def _is_table_of_tickets(rows: Sequence[str]) -> bool:
    """CSV or TSV with a header of plain names and cells that hold sentences; a table of metrics is a run's output."""
    for mark in (",", ";", "\t"):
        head = rows[0].split(mark)
        if len(head) < 3 or not all(re.fullmatch(r"\s*\"?[A-Za-z][\w ./-]{0,30}\"?\s*", cell) for cell in head):
            continue
        bare = [re.sub(r'"(?:[^"]|"")*"', "x", row) for row in rows[1:]]
        even = sum(row.count(mark) == len(head) - 1 for row in bare)
        wordy = sum(len(WORD.findall(row)) >= 5 for row in rows[1:])
        if even >= max(3, 0.8 * len(bare)) and wordy >= 0.6 * len(bare):
            return True
    return False
