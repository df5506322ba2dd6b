"""The expressions by which more than one part of the machine knows the lines of a traceback."""

from __future__ import annotations

import re

from aifix.lazy import lazy_re

# Tolerant of a wrong letter in the fixed words: people retype and recognise text from pictures.
FRAME = lazy_re(
    r"(?P<margin>[ \t|+>]*)(?:F\w{3}|\wi\w{2}|\w\wl\w|\w{3}e) \"(?P<file>[^\"]{1,1000})\", \w{4} (?P<line>\d{1,7})"
    r"(?:,? \w{2} (?P<function>.{1,300}?))?\s*$"
)
HEADER_WORDS = "(most recent call "
NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_<]\w*>?)*"
ERROR = lazy_re(rf"(?P<margin>[ \t|]*)(?P<kind>{NAME}(?:\({NAME}\))?)(?P<rest>: .*|:|)$", re.DOTALL)
ERROR_WORD = lazy_re(
    r"(?:Error|Exception|Exit|Interrupt|Warning|Iteration|Failure|Failed|Fault|Timeout|Group|Abort|Aborted|NotFound|NoSuchFile|"
    r"InvalidArgument|Fail|Unavailable|Refused|Killed|Empty|Full|Invalid\w*|OutOfMemory|Stop\w*|Died|Unsupported|Traceback|"
    r"NotImplemented|Denied|Missing\w*|Canceled|Cancelled|Signal\w*|Errors?|Interrupted|Unreachable|Exceeded|Not[A-Z]\w*|No[A-Z]\w*)"
    r"(?:\(.*\))?$"
)
CAUSE = "the direct cause of the following"
CONTEXT = "uring handling of the above exception"
WORKER = lazy_re(
    r"Original Traceback|Caught \w[\w.]* in |-- Process \d+ terminated|RemoteTraceback|ray::|"
    r"The above exception was the following|worker process"
)
ELIDED = lazy_re(r"[ \t|]*\.\.\.<\d+ lines?>\.\.\.$|[ \t|]*\.\.\. *$|\d+ frames$")
GROUP_RULE = lazy_re(r"[ |]*\+-[+-]*-{3,} (?:\d+|\.\.\.) -+$|[ |]*\+-{8,}$")

NEW_RECORD = lazy_re(
    r"(?:\(\w[\w.-]*\) )?[\w.-]+@[\w.-]+[:~ ].{0,80}[$#%] |\$ |>>> |[A-Za-z]:\\[^>]{0,80}>|PS [A-Z]:|In \[\d+\]:|Out\[\d+\]:"
    r"|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b(?: \[|:? )|\[(?:INFO|WARN|WARNING|ERROR|DEBUG)\]"
    r"|[IWEF]\d{4} \d\d:|\[[IWEF] ?\w*[ .]|(?:srun|slurmstepd|npm|make|wandb|error|hint|kernel):|wandb: "
    r"|\[?[\w.-]+@[\w.-]+[ :][^$#]{0,80}[$#] |\[rank: \d|(?:DEBUG|INFO|WARNING|ERROR):\S|Process \S+:$"
    r"|-{2,} Process \d+ terminated|={5,} |Fatal Python error|Exception ignored in|Exception in thread"
    r"|terminate called|Segmentation fault|Aborted|Killed|\w+ exited with code|\[\d{4}-|\d{4}-\d\d-\d\d[ T]"
    r"|\S+:\d+:\d+ \[\d+\] |Sending process \d|failed \(exitcode|\S+\.\w+:\d+\] |Exception raised from"
)
_OPENERS = ("Cell In", "Input In", "<ipython", "Fatal Python")


def may_matter(text: str) -> bool:
    """Whether a line may open a traceback; most lines are told apart by this alone."""
    return ('"' in text and ", " in text) or HEADER_WORDS in text or text.startswith(_OPENERS) or ".py in " in text


def indent_of(text: str) -> int:
    """Count the blanks at the beginning."""
    return len(text) - len(text.lstrip(" \t"))
