"""What kind of text an input is: the output of a run, or something that merely quotes one.

A message that a README, a test or a chat quotes was never uttered by a program, so nothing must be diagnosed from it.
The default is 'log': every other genre needs several signs at once and little or nothing that only a run prints.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress
from aifix.intake.tracebacks import uttered
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aifix.model import Genre, Line, Traceback

_SAMPLE = 3000  # lines looked at: the head and the tail of anything longer
_WIDTH = 400  # characters of a line that are looked at
_UNIFORM = 20  # a shape that recurs so often (training steps, downloads) tells nothing about the rest
_ENOUGH = 4  # lines below which nothing is decided
_PARTS = 60  # more commands or dividers than that are a log's


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPWORDS = _words(
    "a about after all also an and any are as at be because been before but by can could did do does each even every few for "
    "from had has have here how i if in into is it its just like look many may means more most much must need never no nor "
    "not of off often on once one only or other our out over same see should since so some still such than that the their "
    "them then there these they this those though to too two under until up use used usually very was we were what when where "
    "which while who why will with without would you your "
)
_WORD = lazy_re(r"[A-Za-z][A-Za-z'’-]*")
_DIGITS = lazy_re(r"\d+")

# ---- what only a run prints
_UTTERED = lazy_re(
    r"(?:[A-Za-z_][\w]*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?:\(\w+\))?(?:: |:?$)"
    r"|Traceback \(most recent|(?:ERROR|FATAL|CRITICAL|WARNING|WARN|INFO|DEBUG)\b[ :\]]|\[(?:ERROR|INFO|WARN|WARNING|DEBUG)\]"
    r"|npm (?:ERR!|error|WARN|warn)|(?:error|fatal|warning|note|hint|ERROR|srun|slurmstepd|make|ninja|collect2|ld)(?:\[\w+\])?: "
    r"|\$ (?!git (?:diff|log|show|grep)|gh |man |cat |grep |rg |head |less )|[\w.-]+@[\w.-]+[:~ ].{0,60}[$#%] "
    r"|PS [A-Z]:|[A-Z]:\\.*>|>>> |frame #\d+: |NVRM: |node-\d+:\d+:\d+ |\S+:\d+:\d+ \[\d+\] NCCL|Segmentation fault|Killed$|Aborted"
    r"|[\w./\\-]+\.(?:c|cc|cpp|cu|cuh|h|hpp|py|ts|rs):\d+(?::\d+)?[:\]]? (?:fatal |internal )?(?:error|warning|note|\[)"
    r"|[\w./\\-]+\.(?:cc|cpp|py):\d+\] |\s+at .{1,200}[(:]\S+:\d+:\d+\)?$|E   |={5,} .* ={5,}$|FAILED|PASSED|terminate called"
    r"|Collecting |Requirement already|Downloading |Successfully |Building |Epoch[ :\[]\d|[Ss]tep[ :]\d|Loading |Saving |Processing \w+ "
)
_LOGGED = lazy_re(r"DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL| pid=|\d{4} \d\d:\d\d:\d\d\.")

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
_GREP = lazy_re(r"(?:\./)?[\w./\\@+-]{1,200}\.\w{1,6}[:-]\d{1,6}[:-](?P<rest>.*)$")
_GREP_CODE = lazy_re(r"raise |throw |re\.|[\"'`]|def |#|//|assert|return |match|import |=|\* ")
_HISTORY = lazy_re(r"\s*(\d{1,6})\*?\s{1,4}(?:\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?\s+)?[a-z.~/][\w./~-]*(?:\s|$)")
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

# ---- chats and mails
_SAID = lazy_re(
    r"(?:\[?(?:\d{4}-\d\d-\d\d |\d\d?/\d\d?/\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\]?(?: -)?\s+)?"
    r"(?:<[@+ ]?(?P<nick>[\w.|\[\]-]{1,30})>|@?(?P<name>[A-Za-z][\w.-]{1,24}(?: [A-Z][\w.-]{0,20})?)(?: \(.{1,30}\))?:)\s+(?P<words>\S.*)$"
)
_STAMPED = lazy_re(r"\[?(?:\d{4}-\d\d-\d\d |\d\d?/\d\d?/\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\]?\s+(?:- )?[<@A-Za-z]")
_PERSONAL = lazy_re(r"\b(?:I|I'm|my|me|you|your|we|us|our|thanks|thank|hey|hi|hello|please|yes|yeah|nope|lol|anyone|somebody)\b|\?(?: |$)|:[a-z_]+:$")
_ROLE = lazy_re(
    r"(?:\*\*)?(User|Assistant|Human|AI|Q|A|Question|Answer|Me|You|Bot|ChatGPT|Claude|Customer|Support|Agent)(?:\*\*)?: ?(?:\*\*)? ?(?P<words>\S.*)$"
)
_SPEAKER = lazy_re(
    r"(?:\*\*)?@?[A-Za-z][\w.-]{1,24}(?: [A-Z][\w.'-]{0,20})?(?:\*\*)?(?: APP)?"
    r"(?:  ?\[?\d{1,2}:\d\d(?: ?[AaPp][Mm])?\]?$| ?[—–-]+ ?(?:Today|Yesterday|\d\d?/\d\d?/\d{2,4})"
    r"| (?:commented|wrote|replied|said|answered|opened this issue|asked)\b.{0,60}$)"
)
_MAIL_HEAD = lazy_re(r"(?:From|To|Cc|Subject|Date|Message-ID|In-Reply-To|Reply-To|References|List-Id|Sent): \S")
_WROTE = lazy_re(r"(?:On .{4,80}|.{2,60}) (?:wrote|writes|schrieb|said):$")
_NO_NAME = _words(
    "info error warning warn debug critical fatal note hint notice trace epoch step train val test loss error cause reason "
    "traceback file line usage failed passed collecting time host rank exitcode pid name date status message details output "
    "input args config total memory process device version root success result user assistant system human bot ai model "
    "prompt response question answer "
)

# ---- source code
_CODE_SURE = lazy_re(
    r"\s*(?:import [\w.]+(?: as \w+)?(?:, [\w.]+)*$|from [\w.]+ import [\w(*]|(?:async )?def \w+\(|class \w+[(:]|@[\w.]+(?:\(.*\)?)?$"
    r"|return(?: .+)?$|(?:el)?if .+:$|else:$|for .+ in .+:$|while .+:$|(?:async )?with .+:$|try:$|except(?: .+)?:$|raise \w[\w.]*\(?|assert \S"
    r"|if __name__ == |#include [<\"]|(?:const|let|var) [\w{\[].* = |(?:export |async )?function \w*\(|export (?:default|const|class)"
    r"|(?:public|private|static|void|int|bool|auto|template|namespace|using|struct|fn|func|impl|use|pub|package|type"
    r"|typedef|extern|inline|const|unsigned|enum|union|class|let|var|module\.exports|this\.\w+|await|throw|case|break|continue)\b.*[;{(,)]$"
    r"|#\s*(?:define|ifdef|ifndef|endif|pragma|undef|if|else|elif)\b|'use strict'|module\.exports"
    r"|[\w.\]\[]+ [+|-]?= .{2,}$|\w[\w.]*\(.*\):?,?;?$|\}\)?[;,]?$|describe\(|it\(|expect\(|pytest\.)"
)
_DEFINITION = lazy_re(
    r"\s*(?:import |from \S+ import|(?:async )?def |class |#include|#define|function |const |export |fn |func |package |typedef |extern |struct )"
)
_CODE_MAYBE = lazy_re(r"\s*(?:#|//|/\*|\*/?\s|\"\"\"|'''|[)\]}]+[;,:]*$|[\"'(\[{].*[,)\]};]$|pass$|.*[;{}(\[,\\]$|\w+=.+,$|r?[\"'].*[\"'],?$|.* = )")
_YAML = lazy_re(r"\s*(?:- )?[\w./ -]{1,60}:(?: .*|$)|\s*- \S|\s*#|---$|\s{4,}\S|\s*[|>]-?$")
_YAML_ITEM = lazy_re(r"\s*- [\w-]+: \S|\s*- ['\"]")
_ALERT_KEY = lazy_re(r"\s*(?:- )?(?:alert|expr|annotations|regex|pattern|match|matcher|query|runbook_url|for_each|condition):(?: |$)")
_HOLES = lazy_re(r"%[sd]|%\(\w+\)|\{\w*\}|\$\{?\w+|\(\?|\\\\?[wdsS]")  # where a program puts its values into a text
_JSON_ROW = lazy_re(r"\s*(?:[{}\[\]]+,?$|\"[^\"]*\" ?: ?.*|\".*\",?$)")
_TAG_ROW = lazy_re(r"\s*</?[a-zA-Z!?][\w:-]*(?:\s[^>]*)?/?>")
_RESULT_TAG = lazy_re(r"<(?:testcase|failure|error|testsuites?|Error|Code)\b")
_PO_ROW = lazy_re(r"(?:msgid|msgstr|msgctxt|#[:,.~|])(?:\[\d\])? ?|\"")
_DOCKER_ROW = lazy_re(
    r"(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|CMD|ENTRYPOINT|EXPOSE|USER|LABEL|SHELL|VOLUME|HEALTHCHECK|ONBUILD|STOPSIGNAL"
    r"|MAINTAINER) |\s*#|\s+\S|.*\\$|&& "
)
_SQL_HEAD = lazy_re(r"(?i)(?:insert into|create (?:table|index|view)|select|update|delete from|alter table|with|begin|--|drop table) ?")
_TEX_ROW = lazy_re(r"\s*(?:\\[a-zA-Z]+\*?(?:[\[{ ]|$)|%)")
_REGEX_BITS = lazy_re(r"\\[.dws(\[]|\(\?[P:i]|\.\*|\[\^|\\\\")

# ---- prose and markup
_HEADING = lazy_re(r"#{1,6} [A-Z0-9`\"'\[].{0,100}$|(?:Chapter|Section|Lecture|Part|Lesson|Q|Question|Step) \d+[.:) -]|Q: |A: ")
_UNDERLINE = lazy_re(r"([=\-~^*\"'#])\1{2,}\s*$")
_BULLET = lazy_re(r"\s{0,8}(?:[-*+•] |\d{1,2}[.)] |\(?[a-z]\) )(?P<body>\S.*)$")
_CHECK = lazy_re(r"\s*(?:[-*+] )?\[[ xX]\] \S")
_TABLE = lazy_re(r"\s*\|.*\|\s*$")
_TABLE_RULE = lazy_re(r"\s{0,20}\|?[ :]{0,4}-{2,80}[ :]{0,4}\|[-| :]*$")
_WIKI_ROW = lazy_re(r"\{\|| ?\|[-}|] ?|!+ ?\S|\| ?\S|\[\[[^\]]+\]\]$|={2,4} ?[^=]+ ?={2,4}$|h[1-6]\. |\|\|.*\|\|$|<code>|__\w+__$")
_FENCE = lazy_re(r"\s{0,3}(?:```|~~~)")
_LINK = lazy_re(r"\]\((?:https?:|\.{0,2}/|#)")
_INLINE = lazy_re(r"`[^`\n]{2,80}`|\*\*[^*\n]{2,60}\*\*|``[^`]+``|:\w+:`")
_DIRECTIVE = lazy_re(r"\.\. [\w-]+::|<(?:p|h[1-6]|div|details|summary|code|pre|li|ul)\b")
_QUOTING = lazy_re(r"[\"“„«](?![^\"”“»]* --?\w)(?=[^\"”“»]* )[A-Za-z][^\"”“»]{5,120}[\"”“»]")
_EXPLAINS = lazy_re(
    r"\b(?:you|your|we|means?|sees?|saw|should|which|what|why|how|when|if|because|document|handle|ask|use|it is|TODO|DONE|FIXME"
    r"|catch|retry|instead|before)\b",
    re.IGNORECASE,
)
_ISSUE_FORM = lazy_re(
    r"#{2,4} .{0,40}(?:Describe the bug|Bug|To Reproduce|Reproduc|Logs?|Error|Stack trace|Traceback|Actual|What happened|Versions?)", re.IGNORECASE
)


# ---- sentences that programs print: help texts of launchers, resolvers and libraries
_SPOKEN = lazy_re(
    r"\s{0,6}(?:[×✕✗✖⨯] |ERR_[A-Z_]{4,} |ELIFECYCLE |[╰├]─|│ |-{70,}$|\*{30,}$)|(?:Warning|Error|Uncaught \w*Error|ERROR|FATAL|Fatal|Failed): [A-Z]"
    r"|A module that was compiled using NumPy|If this call came from a _pb2|There are not enough slots|mpi(?:run"
    r"|exec) (?:has detected|was unable|noticed)"
    r"|(?:So, because|And because|Because) .{1,120}(?:depends on|requires|match|available)|\w+Error: |BREAKING CHANGE: webpack|NVIDIA-SMI has failed"
    r"|Cannot access gated repo|Access to (?:model|dataset) |The NVIDIA driver on your system|An? .{3,40}(?:MPI|UCX|OpenFabrics|PMIx) .{3,60}"
    r"|If you wish to install a non-Debian|To install Python packages system-wide|You have not agreed to the Xcode"
)

# ---- sessions: commands that only show what files say
_PROMPT = lazy_re(
    r"(?:\([\w.+-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}(?:[:~ ][^$#%>]{0,80})?[$#%>]|\[[\w.-]{1,40}@[^\]]{1,80}\][$#%]"
    r"|[\w./~-]{0,60}[$❯➜]|[❯➜] +[\w~./-]{0,60}"
    r"|PS [A-Z]:[^>]{0,100}>|[A-Z]:\\[^>]{0,100}>) ?(?P<command>\S.*)$"
)
_DIVIDER = lazy_re(r"(?:-{3,}|={3,}|\*{3,}|_{3,}|#{5,}|~{5,})\s*$|diff --git |==> \S.* <==$|-{2,} ?>8|={3,} \S.{0,80} ={3,}$")
_CELL = lazy_re(r"(?:In|Out) ?\[\d*\]: ?|>>> ")
_SOURCE_FILE = (
    r"(?:\.(?:pyi?|ipynb|md|rst|adoc|c|cc|cpp|cxx|cu|cuh|h|hh|hpp|rs|go|m?js|cjs|tsx?|jsx|java|kt|swift|rb|sh|bash|toml|ya?ml"
    r"|cfg|ini|json5?|diff|patch|tex|html?"
    r"|css|sql|proto|cmake|bazel|in|po|service)\b|\b(?:CHANGELOG|CHANGES|README|LICENSE|TODO|NEWS|CONTRIBUTING|Makefile|Dockerfile)\b)"
)
_LOG_FILE = lazy_re(r"\.(?:log|out|err|txt|stderr|stdout|jsonl|gz)\b|\blogs?\b|slurm-|/var/|nohup|wandb|/proc/|/sys/|/dev/|<\(")
_SHOWS_SOURCE = lazy_re(rf"(?:cat|bat|less|more|head|tail|sed|awk|nl|view|diff|pygmentize|type|Get-Content|gc)\s.*{_SOURCE_FILE}")
_SEARCHES = lazy_re(r"(?:[ef]?grep|rg|ag|ack|ugrep|findstr|Select-String|find \S+ .*(?:-exec|xargs) grep)\s")
_SEARCHES_SOURCE = lazy_re(
    rf"{_SOURCE_FILE}|\s-[a-zA-Z]*[rR]|--(?:recursive|include|type)|\s-t ?\w+|^(?:rg|ag|ack)\s|\s(?:src|lib|tests?|docs?|csrc"
    rf"|include|scripts|tools|examples)\b/?"
)
_QUOTES = lazy_re(
    r"git (?:-\S+ (?:\S+ )?)*(?:diff|show|log|blame|grep|shortlog|range-diff|whatchanged|stash show)\b|(?:hg|svn|jj) (?:diff|log|show)\b"
    r"|gh (?:issue|pr|release|search) (?:list|view|diff|status|issues|prs|code)\b|glab (?:issue|mr) (?:list|view|diff)\b"
    r"|(?:man|apropos|whatis|tldr|info|pydoc3?|help|history|fc)\b|\S*python\S* -m pydoc\b|strings\s"
)
_IDLE = lazy_re(
    r"(?:ls|cd|pwd|wc|tree|clear|which|date|whoami|hostname|true|export|alias|source|\.|mkdir|cp|mv|touch|rm|chmod|vim?|nano|exit|find|du|uname"
    r"|git (?:status|fetch|pull|checkout|switch|clone|branch|add|commit|remote|rev-parse|stash))(?:\s|$)"
)


class _Text:
    """The lines that count, and what was seen in them."""

    __slots__ = (
        *("rows", "raws", "fenced", "open_rows", "uttered", "logged", "traced"),
        *("prose", "inline", "markup", "headings", "bullets"),
    )

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.raws: list[str] = []
        self.fenced: list[bool] = []
        self.open_rows: list[str] = []
        self.uttered = 0  # lines that only a run prints, outside fences and quotations
        self.logged = 0
        self.traced = 0  # lines of complete tracebacks
        self.prose = 0
        self.inline = 0  # code and emphasis inside a sentence: programs print these too
        self.markup = 0
        self.headings = 0
        self.bullets = 0


def classify(lines: Sequence[Line], tracebacks: Sequence[Traceback]) -> Genre:
    """Decide the genre; only a confident decision leaves 'log'."""
    if uttered(lines, tracebacks):
        return "log"
    traced = {id(lines[index]) for item in tracebacks if item.kind and item.frames for index in range(item.start, item.end)}
    text = _read(lines, traced)
    if (shown := _session(lines, text, traced)) is not None:
        return shown
    if (genre := _decide(text)) != "log" or len(text.rows) < _ENOUGH:
        return genre
    return _compound(lines, text, traced)


def _decide(text: _Text) -> Genre:
    if len(text.rows) < _ENOUGH:
        return "log"
    deciders: tuple[tuple[Genre, Callable[[_Text], bool]], ...] = (
        ("diff", _is_diff),
        ("manual", _is_manual),
        ("chat", _is_chat),
        ("listing", _is_listing),
        ("source", _is_source),
        ("document", _is_document),
    )
    for genre, decide in deciders:
        if decide(text):
            return genre
    return "log"


def _session(lines: Sequence[Line], text: _Text, traced: set[int]) -> Genre | None:
    """Tell what a shell session shows in which nothing was run, but files, histories and manuals were read."""
    prompts = [index for index, line in enumerate(lines) if (found := _PROMPT.match(line.text[:_WIDTH])) and not _CELL.match(found["command"])]
    if not prompts or len(prompts) > _PARTS or any(_CELL.match(row) for row in text.rows):
        return None
    genre: Genre | None = None
    ahead = _read(lines[: prompts[0]], traced)
    if ahead.rows and not _silent(ahead) and _decide(ahead) == "log":
        return None
    for here, following in zip(prompts, [*prompts[1:], len(lines)], strict=True):
        found = _PROMPT.match(lines[here].text[:_WIDTH])
        shown = [line.text[:_WIDTH] for line in lines[here + 1 : following] if line.text.strip()]
        kind = _shows(found["command"], shown) if found else None
        if kind is None:
            return None
        if kind != "log":
            genre = genre or kind
        elif any(_UTTERED.match(row) for row in shown):
            return None
    return genre


def _shows(command: str, shown: Sequence[str]) -> Genre | None:
    """Give the genre of what a command line prints, 'log' if nothing that matters, None if it may be the output of a run."""
    genre: Genre = "log"
    for part in re.split(r"&&|;", command):
        first = re.sub(r"^\s*(?:sudo |time |command |\w+=\S* )*", "", part).rstrip()
        if not first:
            continue
        if _QUOTES.match(first):
            kind: Genre = (
                "diff" if re.search(r"\b(?:diff|show)\b", first) else "manual" if first.startswith(("man ", "help", "tldr", "pydoc")) else "listing"
            )
        elif _SEARCHES.match(first) and not _LOG_FILE.search(first):
            if not _SEARCHES_SOURCE.search(first) or any((hit := _GREP.match(row)) and _LOG_FILE.search(row[: hit.start("rest")]) for row in shown):
                return None
            kind = "listing"
        elif _SHOWS_SOURCE.match(first) and not _LOG_FILE.search(first):
            kind = "source"
        elif _IDLE.match(first):
            continue
        else:
            return None
        genre = kind
    return genre


def _compound(lines: Sequence[Line], text: _Text, traced: set[int]) -> Genre:
    """Several texts in one, as a diff with a mail below: no log if each of them is none."""
    if text.traced or any(_SPOKEN.match(row) for row in text.open_rows):
        return "log"
    cuts = [index for index, line in enumerate(lines) if _DIVIDER.match(line.text) or _starts_mail(lines, index)]
    if not cuts or len(cuts) > _PARTS:
        return "log"
    genres: Counter[Genre] = Counter()
    rows = 0
    for low, high in pairwise([0, *cuts, len(lines)]):
        part = _read([line for line in lines[low:high] if not _DIVIDER.match(line.text) or line.text.startswith("diff ")], traced)
        rows += len(part.rows)
        genre = _decide(part)
        if genre != "log":
            genres[genre] += len(part.rows)
        elif part.rows and not _silent(part):
            return "log"
    if sum(genres.values()) < 0.6 * rows or not genres:
        return "log"
    return genres.most_common(1)[0][0]


def _silent(text: _Text) -> bool:
    """Whether a few lines hold nothing that a run prints."""
    return len(text.rows) < 2 * _ENOUGH and not (text.uttered or text.logged or text.traced or any(_SPOKEN.match(row) for row in text.rows))


def _starts_mail(lines: Sequence[Line], index: int) -> bool:
    if not _MAIL_HEAD.match(lines[index].text) or (index and _MAIL_HEAD.match(lines[index - 1].text)):
        return False
    return sum(_MAIL_HEAD.match(line.text) is not None for line in lines[index : index + 6]) >= 3


def _read(lines: Sequence[Line], traced: set[int]) -> _Text:
    sample = list(lines) if len(lines) <= _SAMPLE + 4000 else [*lines[: _SAMPLE // 2], *lines[-_SAMPLE // 2 :]]
    shapes = Counter(_DIGITS.sub("0", line.text[:_WIDTH]) for line in sample) if len(sample) > 2 * _UNIFORM else Counter[str]()
    text = _Text()
    fence = False
    for line in sample:
        row = line.text[:_WIDTH]
        if not row.strip():
            continue
        if is_progress(row) or (shapes and shapes[_DIGITS.sub("0", row)] >= _UNIFORM):
            continue
        if _FENCE.match(row):
            fence = not fence
            text.markup += 1
            continue
        text.rows.append(row)
        text.raws.append(line.prefix + row)
        text.fenced.append(fence)
        if id(line) in traced:
            text.traced += 1
            continue
        text.logged += bool(line.prefix) and _LOGGED.search(line.prefix) is not None
        if not fence:
            text.open_rows.append(row)
            text.uttered += _UTTERED.match(row) is not None
            text.prose += _is_prose(row)
            text.inline += _INLINE.search(row) is not None
            text.markup += _LINK.search(row) is not None or _DIRECTIVE.search(row) is not None or _TABLE_RULE.match(row) is not None
            text.headings += _HEADING.match(row) is not None
            text.bullets += _BULLET.match(row) is not None
    text.headings += _underlined(text.rows)
    return text


def _is_prose(row: str) -> bool:
    """Whether a line reads like a sentence that a person wrote."""
    words = _WORD.findall(row)
    if len(words) < 5:
        return False
    letters = sum(map(len, words))
    if letters + len(words) < 0.72 * len(row.strip()):
        return False
    return sum(word.lower() in _STOPWORDS for word in words) >= 0.22 * len(words)


def _underlined(rows: Sequence[str]) -> int:
    """Titles with a rule of about their own length below them."""
    count = 0
    for above, below in pairwise(rows):
        rule = below.rstrip()
        if 3 <= len(rule) <= 60 and _UNDERLINE.match(rule):
            title = above.rstrip()
            if title[:1].isalnum() and abs(len(title) - len(rule)) <= 2:
                count += 1
    return count


def _share(count: int, rows: Sequence[str]) -> float:
    return count / max(len(rows), 1)


def _count(pattern: re.Pattern[str], rows: Sequence[str]) -> int:
    return sum(pattern.match(row) is not None for row in rows)


def _code_kinds(rows: Sequence[str]) -> list[bool | None]:
    """For each line: surely code, possibly (comments, strings and what goes on inside brackets), or no code at all."""
    kinds: list[bool | None] = []
    closing = ""  # what ends the docstring or block comment that is open
    depth = 0
    for row in rows:
        stripped = row.strip()
        if closing:
            kinds.append(False)
            if closing in stripped:
                closing = ""
            continue
        opening = next((mark for mark in ('"""', "'''", "/*") if stripped.lstrip("rbfuRBFU").startswith(mark)), "")
        if opening:
            end = "*/" if opening == "/*" else opening
            body = stripped.lstrip("rbfuRBFU")[len(opening) :]
            if end not in body:
                closing = end
            kinds.append(False)
            continue
        sure = _CODE_SURE.match(row) is not None
        if sure or depth:
            depth = min(max(depth + sum(map(row.count, "([{")) - sum(map(row.count, ")]}")), 0), 40)
            kinds.append(sure)
        elif row.endswith(('= """', "= '''", '("""')):
            closing = row[-3:]
            kinds.append(False)
        else:
            kinds.append(False if _CODE_MAYBE.match(row) else None)
    return kinds


# ---------------------------------------------------------------- the genres


def _is_diff(text: _Text) -> bool:
    rows = text.rows
    hunks, heads = _count(_HUNK, rows), _count(_DIFF_HEAD, rows)
    changed = sum(row.startswith(("+", "-")) for row in rows)
    inside = sum(row.startswith(("+", "-", " ", "@@")) for row in rows) + _count(_DIFF_HEAD, rows)
    if text.traced or changed < 2:
        return False
    if not hunks and not heads:  # the head is cut off
        coded = sum(_CODE_SURE.match(row[1:]) is not None or _CODE_MAYBE.match(row[1:]) is not None for row in rows if row.startswith(("+", "-")))
        return changed >= 4 and coded >= 0.7 * changed and inside == len(rows) and any(row.startswith(" ") for row in rows)
    return ((hunks >= 1 and heads >= 1) or hunks >= 2 or heads >= 3 or (hunks >= 1 and changed >= 4)) and _share(inside, rows) >= 0.75


def _is_manual(text: _Text) -> bool:
    rows = text.rows
    if text.traced or text.logged:
        return False
    heads = len({row for row in rows if row in _MAN_HEADS})
    indented = sum(row.startswith(("  ", "\t")) for row in rows)
    if (heads >= 2 or (heads >= 1 and _count(_MAN_LINE, rows))) and _share(indented, rows) >= 0.5:
        return True
    if _is_code_table(rows):
        return True
    usage = any(row.lower().startswith("usage:") for row in rows[:6])
    return usage and _count(_FLAG, rows) >= 3 and not any(re.match(r"\S+: error: ", row) for row in rows)


def _is_code_table(rows: Sequence[str]) -> bool:
    """Whether the lines list codes with their meanings: each of many names once, and little beside them."""
    names = [match["code"] for row in rows if (match := _CODE_ROW.match(row)) and match["code"] not in _NO_CODE]
    if len(set(names)) < 4 or len(set(names)) < 0.9 * len(names):
        return False
    deepest = min(len(row) - len(row.lstrip()) for row in rows if _CODE_ROW.match(row))
    inside = sum(_CODE_ROW.match(row) is not None or len(row) - len(row.lstrip()) > deepest + 2 for row in rows)
    return len(names) >= 0.3 * len(rows) and inside >= 0.8 * len(rows)


def _is_chat(text: _Text) -> bool:
    # A time before what somebody says may have been taken for a prefix.
    return _is_talk(text, text.rows) or _is_talk(text, text.raws)


def _is_talk(text: _Text, raws: Sequence[str]) -> bool:
    rows = text.rows
    if text.traced > 0.5 * len(rows):
        return False
    if sum(_MAIL_HEAD.match(row) is not None for row in rows[:14]) >= 3:
        return True
    quoted = sum(row.startswith("> ") for row in rows)
    if quoted >= 2 and any(_WROTE.match(row) for row in rows):
        return True
    if _count(_SPEAKER, raws) >= 2 and text.prose >= 2 and text.logged == 0:
        return True
    joined = "\n".join(rows[:400])
    if joined.count('"user":') + joined.count('"author":') >= 2 and '"text":' in joined and '"ts":' in joined:
        return True
    roles = [match for raw in raws if (match := _ROLE.match(raw))]
    asked = sum(len(_WORD.findall(match["words"])) >= 4 and _PERSONAL.search(match["words"]) is not None for match in roles)
    if len(roles) >= max(3, 0.5 * len(rows)) and len({match[1] for match in roles}) == 2 and asked >= 2:
        return all(_ROLE.match(row) or (_is_prose(row) and not _UTTERED.match(row)) for row in rows)
    names: Counter[str] = Counter()
    stamped = sentences = personal = 0
    for raw in raws:
        match = _SAID.match(raw)
        if match is None:
            continue
        name = (match["nick"] or match["name"]).lower()
        if name in _NO_NAME or name.endswith(("error", "exception", "warning")):
            continue
        names[name] += 1
        stamped += _STAMPED.match(raw) is not None or bool(match["nick"])
        words = _WORD.findall(match["words"])
        sentences += len(words) >= 3 and any(word.lower() in _STOPWORDS for word in words)
        personal += _PERSONAL.search(match["words"]) is not None
    said = sum(names.values())
    speakers = [name for name, n in names.items() if n >= 2]
    if said < 3 or len(names) < 2 or text.logged or personal < 0.25 * said:
        return False
    if _share(said, rows) >= 0.35 and sentences >= 0.5 * said:
        return bool(stamped >= 0.6 * said or (len(speakers) >= 2 and text.uttered <= 0.2 * len(rows)))
    return False


def _is_listing(text: _Text) -> bool:
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
    tickets = _count(_TICKET, rows)
    if tickets >= 3 and tickets >= 0.6 * size and text.logged == 0:
        return True
    if any(re.match(r"Showing \d+ of \d+ ", row) for row in rows[:3]):
        return True
    found = [match for row in rows if (match := _GREP.match(row))]
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
    versions, changes = _count(_VERSION_HEAD, rows), _count(_CHANGE_HEAD, rows)
    if versions >= 1 and versions + changes >= 2 and text.bullets >= max(3, 0.2 * size) and text.uttered + text.logged <= 0.1 * size:
        return True
    return _is_table_of_tickets(rows)


def _is_green(rows: Sequence[str]) -> bool:
    """Whether a test runner's report says of every test that it passed: their names are inputs, not events."""
    passed = _count(_PASSED, rows)
    return passed >= 2 and passed >= 0.5 * len(rows) and not any(_NOT_PASSED.search(row) for row in rows if not _PASSED.match(row))


def _is_table_of_tickets(rows: Sequence[str]) -> bool:
    """CSV or TSV with a header of plain names and cells that hold sentences; a table of metrics is a run's output."""
    for mark in (",", ";", "\t"):
        head = rows[0].split(mark)
        if len(head) < 3 or not all(re.fullmatch(r"\s*\"?[A-Za-z][\w ./-]{0,30}\"?\s*", cell) for cell in head):
            continue
        bare = [re.sub(r'"(?:[^"]|"")*"', "x", row) for row in rows[1:]]
        even = sum(row.count(mark) == len(head) - 1 for row in bare)
        wordy = sum(len(_WORD.findall(row)) >= 5 for row in rows[1:])
        if even >= max(3, 0.8 * len(bare)) and wordy >= 0.6 * len(bare):
            return True
    return False


def _is_source(text: _Text) -> bool:
    rows = text.rows
    joined = "\n".join(rows[:60])
    if '"cells"' in joined and ('"cell_type"' in joined or '"nbformat"' in joined):
        return True
    if text.logged:
        return False
    if _is_rule_list(text):
        return True
    if text.traced:
        return False
    if _is_other_language(text):
        return True
    kinds = [kind for kind in _code_kinds(rows) if kind is not None]
    sure, maybe = kinds.count(True), kinds.count(False)
    hard = sum(_UTTERED.match(row) is not None and _CODE_SURE.match(row) is None and row[0].isalpha() for row in rows)
    if sure >= 3 and hard <= 0.03 * len(rows) and _share(sure + maybe, rows) >= 0.75:
        defined = any(_DEFINITION.match(row) for row in rows)
        if (defined and sure >= 0.15 * len(rows)) or (_share(sure + maybe, rows) >= 0.9 and sure >= 0.3 * len(rows)):
            return True
    return False


def _is_rule_list(text: _Text) -> bool:
    """YAML whose items hold patterns or sentences; tracebacks may stand in it, as examples."""
    rows = text.rows
    hard = sum(_UTTERED.match(row) is not None and _CODE_SURE.match(row) is None and row[0].isalpha() for row in rows)
    if _share(_count(_YAML, rows), rows) < 0.9 or _count(_YAML_ITEM, rows) < 2 or hard:
        return False
    quoted = sum(re.search(r": ['\"]|: \|$|- ['\"]", row) is not None for row in rows)
    if _count(_ALERT_KEY, rows) >= 2:
        return True
    return quoted >= 2 and (sum(_REGEX_BITS.search(row) is not None for row in rows) >= 2 or text.prose >= 2)


def _is_other_language(text: _Text) -> bool:
    """Markup, catalogues of texts, and files for shells, Docker, databases and TeX."""
    rows = text.rows
    size = len(rows)
    bare = sum(_UTTERED.match(row) is not None and row[0].isalpha() for row in rows)
    if rows[0].startswith("#!") and "/" in rows[0]:
        return bare == 0
    if _count(_TAG_ROW, rows) >= max(_ENOUGH, 0.75 * size):
        return not any(_RESULT_TAG.search(row) for row in rows)
    if rows[0].strip() in ("{", "[") and rows[-1].strip() in ("}", "]") and _count(_JSON_ROW, rows) >= 0.95 * size:
        return sum(_HOLES.search(row) is not None for row in rows) >= 2
    if sum(row.startswith(("msgid ", "msgstr ")) for row in rows) >= _ENOUGH and _count(_PO_ROW, rows) >= 0.9 * size:
        return True
    if any(row.startswith("FROM ") for row in rows) and any(row.startswith(("RUN ", "CMD ", "COPY ", "ENV ", "ENTRYPOINT ")) for row in rows):
        return _count(_DOCKER_ROW, rows) >= 0.9 * size and bare == 0
    if _SQL_HEAD.match(rows[0]) and any(row.rstrip().endswith(";") for row in rows[-2:]):
        return sum(row.rstrip().endswith((",", ";", "(")) for row in rows) >= 0.75 * size and bare == 0
    return _count(_TEX_ROW, rows) >= max(3, 0.5 * size) and bare == 0


def _is_document(text: _Text) -> bool:
    rows = text.open_rows
    size = len(text.rows)
    if not rows:
        return False
    log = text.traced + text.logged + sum(_UTTERED.match(row) is not None for row, fenced in zip(text.rows, text.fenced, strict=True) if fenced)
    if log > 0.35 * size or (text.traced and any(_ISSUE_FORM.match(row) for row in rows)):
        return False
    if any(row.startswith(("{|", "||", "|-", "[[Category:")) for row in rows) and _count(_WIKI_ROW, rows) >= 0.6 * len(rows):
        return True
    checks = _count(_CHECK, rows)
    if checks >= 3 and _share(checks, rows) >= 0.4:
        return True
    written = text.prose + sum(1 for row in rows if (match := _BULLET.match(row)) and not _is_prose(row) and len(_WORD.findall(match["body"])) >= 3)
    share = _share(written, rows)
    marks = min(text.headings, 4) + min(text.markup, 4) + (1 if text.bullets >= 3 else 0)
    structure = marks + min(text.inline, 3)
    noise = _share(text.uttered, rows)
    if structure >= 4 and text.headings >= 1 and share >= 0.3 and noise <= 0.25:
        return True
    if text.traced or any(_SPOKEN.match(row) for row in rows):
        return False
    # Sentences that quote what programs say, and tell what it means or what is to be done.
    quoting = sum(_QUOTING.search(row) is not None and len(_WORD.findall(_QUOTING.sub("", row))) >= 3 for row in rows)
    if quoting >= 2 and share >= 0.35 and not (text.uttered or text.logged) and sum(_EXPLAINS.search(row) is not None for row in rows) >= 2:
        return True
    if not text.headings and any(_UTTERED.match(row) for row in rows[-4:]):
        return False  # a run ends with what went wrong, a page hardly ever
    if marks >= 1 and structure >= 2 and share >= 0.45 and noise <= 0.2:
        return True
    # Plain prose: nearly everything is sentences, and nothing stands there that a program said.
    return text.prose >= 5 and share >= 0.6 and noise <= 0.04
