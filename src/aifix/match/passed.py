"""Test runs that passed: whatever stands between their first line and their verdict is what the tests wanted to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

_BEGINS = lazy_re(
    r"(?P<pytest>={5,} test session starts ={5,}$|[.sxX]{3,}(?:\s+\[ *\d+%\])?$|={5,} PASSES ={5,}$|-{5,} Captured .{3,40} -{5,}$)"
    r"|(?P<unittest>test\w* \([\w.]+\)(?: \.\.\. |$)|.{1,200} \.\.\. (?:ok|skipped\b.*)$)"
    r"|(?P<jest>\s?(?:PASS|RUNS) +\S+\.\w+|\s?RUN +v\d|\s+● Console$|\s+console\.(?:error|warn|log|info)$)"
    r"|(?P<ctest>Test project )"
    r"|(?P<cargo>running \d+ tests?$)"
    r"|(?P<go>=== RUN )"
    r"|(?P<gtest>\[={5,}\] Running \d+ tests?\b)"
)
_GREEN = lazy_re(
    r"(?P<pytest>(?:=+ )?(?=.*\bpassed\b)\d+ (?:passed|skipped|xfailed|xpassed|deselected|warnings?|rerun)\b"
    r"(?:, \d+ (?:passed|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)\b)* in \d)"
    r"|(?P<unittest>OK(?: \((?:(?:skipped|expected failures)=\d+(?:, )?)+\))?$)"
    r"|(?P<jest>Tests: +(?:\d+ (?:skipped|todo), )*\d+ passed, \d+ total$|\s*Tests +\d+ passed(?: \| \d+ (?:skipped|todo))* \(\d+\)$)"
    r"|(?P<ctest>100% tests passed\b)"
    r"|(?P<cargo>test result: ok\. )"
    r"|(?P<go>ok  \t|PASS$)"
    r"|(?P<gtest>\[  PASSED  \] \d+ tests?\.$)"
)
_RED = lazy_re(
    r"(?:=+ )?.{0,80}\b[1-9]\d* (?:failed|errors?)\b.{0,80} in \d|FAILED(?: \(|$)|FAIL\b|Tests: .*\bfailed\b|\s*Tests +\d+ failed"
    r"|\d+% tests passed, [1-9]|test result: FAILED|\[  FAILED  \]|!{5,} |={5,} ERRORS ={5,}$|[.sxX]*[FE][.sxXFE]*(?:\s+\[ *\d+%\])?$"
)
_TAIL = 2000
"""Lines at the end in which a verdict is looked for: a run's last word comes late."""


def passed(lines: Sequence[Line]) -> list[range]:
    """Give the stretches of lines that belong to test runs of which no test failed.

    Args:
        lines: the cleaned lines.
    """
    if not any(_GREEN.match(line.text) for line in lines[-_TAIL:]):
        return []
    found: list[range] = []
    begin, runner, red = 0, "", False
    for index, line in enumerate(lines):
        text = line.text[:400]
        if not runner:
            if (start := _BEGINS.match(text)) is not None:
                begin, runner, red = index, start.lastgroup or "", False
        elif _RED.match(text):
            red = True
        elif (verdict := _GREEN.match(text)) is not None and verdict.lastgroup == runner:
            if not red:
                found.append(range(begin, index + 1))
            runner = ""
    return found
