"""The lines of an input that count, and what was seen in them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress, numberless
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from aifix.model import Line


_SAMPLE = 3000  # lines looked at: the head and the tail of anything longer
WIDTH = 400  # characters of a line that are looked at
_UNIFORM = 20  # a shape that recurs so often (training steps, downloads) tells nothing about the rest
ENOUGH = 4  # lines below which nothing is decided


def words_of(text: str) -> frozenset[str]:
    """Split a list of words."""
    return frozenset(text.split())


STOPWORDS = words_of(
    "a about after all also an and any are as at be because been before but by can could did do does each even every few for "
    "from had has have here how i if in into is it its just like look many may means more most much must need never no nor "
    "not of off often on once one only or other our out over same see should since so some still such than that the their "
    "them then there these they this those though to too two under until up use used usually very was we were what when where "
    "which while who why will with without would you your "
)
WORD = lazy_re(r"[A-Za-z][A-Za-z'’-]*")
# The same for other languages that people write their pages in: German, French, Spanish, Portuguese, Italian, Dutch.
_STOPWORDS_ELSEWHERE = words_of(
    "der die das dem den des ein eine einen einem einer und oder aber nicht kein keine ist sind war wird werden wurde hat haben kann können "
    "muss müssen soll sie er es wir ihr ich man sich mit von vom zu zum zur auf aus bei beim für über unter nach vor wenn dann dass weil "
    "wie als auch noch schon nur mehr so im am an in um bis durch ihre ihren diese dieser dieses bitte meist "
    "le la les un une et ou mais ne pas est sont été être avec pour dans sur sous par que qui quoi ce cette ces vous nous il elle "
    "au aux du si plus votre vos cela comme lorsque "
    "el los las una y o pero no es son está están ser con para en sobre por cuando lo su sus este esta estos se al del si más hay "
    "os as uma e mas não são foi com em ao da do na no quando seu sua isso você "
    "il gli che di è sono con per nel nella non questo questa quando alla della "
    "het een van met niet is zijn wordt worden naar op te als dat deze dit voor bij uit je jij wij "
)
_UNICODE_WORD = lazy_re(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_OTHER_SCRIPT = lazy_re(r"[\u0370-\u03ff\u0400-\u052f\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_STOP = lazy_re(r"[。，、；：！？「」]")
_NUMBER = lazy_re(r"\d+(?:\.\d+)?")
_SENTENCE = 8  # letters of another script that make a sentence; programs print a word of it at most
# ---- what only a run prints
UTTERED = lazy_re(
    r"(?:[A-Za-z_][\w]*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?:\(\w+\))?(?:: |:?$)"
    r"|Traceback \(most recent|(?:ERROR|FATAL|CRITICAL|WARNING|WARN|INFO|DEBUG)\b[ :\]]|\[(?:ERROR|INFO|WARN|WARNING|DEBUG)\]"
    r"|npm (?:ERR!|error|WARN|warn)|(?:error|fatal|warning|note|hint|ERROR|srun|slurmstepd|make|ninja|collect2|ld)(?:\[\w+\])?: "
    r"|\$ (?!git (?:diff|log|show|grep)|gh |man |cat |grep |rg |head |less )|[\w.-]+@[\w.-]+[:~ ].{0,60}[$#%] "
    r"|PS [A-Z]:|[A-Z]:\\.*>|>>> |frame #\d+: |NVRM: |node-\d+:\d+:\d+ |\S+:\d+:\d+ \[\d+\] NCCL|Segmentation fault|Killed$|Aborted"
    r"|\S+: line \d+: +\d+ (?:Segmentation fault|Killed|Aborted|Bus error|Illegal instruction|Floating point exception|Terminated)\b"
    r"|[\w./\\-]+\.(?:c|cc|cpp|cu|cuh|h|hpp|py|ts|rs):\d+(?::\d+)?[:\]]? (?:fatal |internal )?(?:error|warning|note|\[)"
    r"|[\w./\\-]+\.(?:cc|cpp|py):\d+\] |\s+at .{1,200}[(:]\S+:\d+:\d+\)?$|E   |={5,} .* ={5,}$|FAILED|PASSED|terminate called"
    r"|Collecting |Requirement already|Downloading |Successfully |Building |Epoch[ :\[]\d|[Ss]tep[ :]\d|Loading |Saving |Processing \w+ "
)
_LOGGED = lazy_re(r"DEBUG|INFO|WARN|ERROR|CRITICAL|FATAL| pid=|\d{4} \d\d:\d\d:\d\d\.")
GREP = lazy_re(r"(?:\./)?[\w./\\@+-]{1,200}\.\w{1,6}[:-]\d{1,6}[:-](?P<rest>.*)$")
MAIL_HEAD = lazy_re(r"(?:From|To|Cc|Subject|Date|Message-ID|In-Reply-To|Reply-To|References|List-Id|Sent): \S")
# ---- source code
CODE_SURE = lazy_re(
    r"\s*(?:import [\w.]+(?: as \w+)?(?:, [\w.]+)*$|from [\w.]+ import [\w(*]|(?:async )?def \w+\(|class \w+[(:]|@[\w.]+(?:\(.*\)?)?$"
    r"|return(?: .+)?$|(?:el)?if .+:$|else:$|for .+ in .+:$|while .+:$|(?:async )?with .+:$|try:$|except(?: .+)?:$|raise(?: \w[\w.]*\(?|$)|assert \S"
    r"|if __name__ == |#include [<\"]|(?:const|let|var) [\w{\[].* = |(?:export |async )?function \w*\(|export (?:default|const|class)"
    r"|(?:public|private|static|void|int|bool|auto|template|namespace|using|struct|fn|func|impl|use|pub|package|type"
    r"|typedef|extern|inline|const|unsigned|enum|union|class|let|var|module\.exports|this\.\w+|await|throw|case|break|continue)\b.*[;{(,)]$"
    r"|#\s*(?:define|ifdef|ifndef|endif|pragma|undef|if|else|elif)\b|'use strict'|module\.exports"
    r"|[\w.\]\[]+ [+|-]?= .{2,}$|\w+ = [(\[{]$|[\w.\]\[]+ (?://|\*\*|[+*/|&%-])= \S|\} ?(?:while|else|catch)\b"
    r"|\w[\w.]*\(.*\):?,?;?$|\}\)?[;,]?$|describe\(|it\(|expect\(|pytest\.)"
)
CODE_MAYBE = lazy_re(r"\s*(?:#|//|/\*|\*/?\s|\"\"\"|'''|[)\]}]+[;,:]*$|[\"'(\[{].*[,)\]};]$|pass$|.*[;{}(\[,\\]$|\w+=.+,$|r?[\"'].*[\"'],?$|.* = )")
# ---- prose and markup
_HEADING = lazy_re(r"#{1,6} (?:[A-Z0-9`\"'\[]|[^\W\d_a-z]).{0,100}$|(?:Chapter|Section|Lecture|Part|Lesson|Q|Question|Step) \d+[.:) -]|Q: |A: ")
_UNDERLINE = lazy_re(r"([=\-~^*\"'#])\1{2,}\s*$")
BULLET = lazy_re(r"\s{0,8}(?:[-*+•] |[・●▪] ?|\d{1,2}[.)] |\(?[a-z]\) )(?P<body>\S.*)$")
_TABLE = lazy_re(r"\s*\|.*\|\s*$")
_TABLE_RULE = lazy_re(r"\s{0,20}\|?[ :]{0,4}-{2,80}[ :]{0,4}\|[-| :]*$")
_FENCE = lazy_re(r"\s{0,3}(?:```|~~~)")
_LINK = lazy_re(r"\]\((?:https?:|\.{0,2}/|#)")
_INLINE = lazy_re(r"`[^`\n]{2,80}`|\*\*[^*\n]{2,60}\*\*|``[^`]+``|:\w+:`")
_DIRECTIVE = lazy_re(r"\.\. [\w-]+::|<(?:p|h[1-6]|div|details|summary|code|pre|li|ul)\b")
# ---- sentences that programs print: help texts of launchers, resolvers and libraries
SPOKEN = lazy_re(
    r"\s{0,6}(?:[×✕✗✖⨯] |ERR_[A-Z_]{4,} |ELIFECYCLE |[╰├]─|│ |-{70,}$|\*{30,}$)|(?:Warning|Error|Uncaught \w*Error|ERROR|FATAL|Fatal|Failed): [A-Z]"
    r"|(?:Open)?BLAS : Program is Terminated|OMP: (?:Error|Hint|System error)|Intel (?:oneAPI )?MKL (?:FATAL )?ERROR"
    r"|A module that was compiled using NumPy|If this call came from a _pb2|There are not enough slots|mpi(?:run"
    r"|exec) (?:has detected|was unable|noticed)"
    r"|(?:So, because|And because|Because) .{1,120}(?:depends on|requires|match|available)|\w+Error: |BREAKING CHANGE: webpack|NVIDIA-SMI has failed"
    r"|Cannot access gated repo|Access to (?:model|dataset) |The NVIDIA driver on your system|An? .{3,40}(?:MPI|UCX|OpenFabrics|PMIx) .{3,60}"
    r"|If you wish to install a non-Debian|To install Python packages system-wide|You have not agreed to the Xcode"
)


class Text:
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


def silent(text: Text) -> bool:
    """Whether a few lines hold nothing that a run prints."""
    return len(text.rows) < 2 * ENOUGH and not (text.uttered or text.logged or text.traced or any(SPOKEN.match(row) for row in text.rows))


def starts_mail(lines: Sequence[Line], index: int) -> bool:
    """Tell whether a mail's head begins at a line."""
    if not MAIL_HEAD.match(lines[index].text) or (index and MAIL_HEAD.match(lines[index - 1].text)):
        return False
    return sum(MAIL_HEAD.match(line.text) is not None for line in lines[index : index + 6]) >= 3


def read_text(lines: Sequence[Line], traced: set[int]) -> Text:
    """Read what counts of some lines.

    Args:
        lines: the cleaned lines; of very many the first and the last ones are read.
        traced: `id`s of the lines of complete tracebacks.
    """
    sample: Sequence[Line] = lines if len(lines) <= _SAMPLE + 4000 else [*lines[: _SAMPLE // 2], *lines[-_SAMPLE // 2 :]]
    shapes = Counter(numberless(line.text[:WIDTH]) for line in sample) if len(sample) > 2 * _UNIFORM else Counter[str]()
    text = Text()
    fence = False
    for line in sample:
        row = line.text[:WIDTH].rstrip()
        if not row:
            continue
        if is_progress(row) or (shapes and shapes[numberless(row)] >= _UNIFORM):
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
            text.uttered += UTTERED.match(row) is not None
            text.prose += is_prose(row)
            text.inline += _INLINE.search(row) is not None
            text.markup += _LINK.search(row) is not None or _DIRECTIVE.search(row) is not None or _TABLE_RULE.match(row) is not None
            text.headings += _HEADING.match(row) is not None
            text.bullets += BULLET.match(row) is not None
    text.headings += _underlined(text.rows)
    return text


def is_prose(row: str) -> bool:
    """Whether a line reads like a sentence that a person wrote."""
    words = (WORD if row.isascii() else _UNICODE_WORD).findall(row)
    if not row.isascii() and len(_OTHER_SCRIPT.findall(row)) >= _SENTENCE:
        # Programs that speak so tell what they do now ("loading ...") and numbers.
        return not row.endswith(("...", "…")) and len(_NUMBER.findall(row)) < 4 and (len(words) >= 5 or _STOP.search(row) is not None)
    if len(words) < 5:
        return False
    letters = sum(map(len, words))
    if letters + len(words) < 0.72 * len(row.strip()):
        return False
    if sum(not word.isascii() for word in words) >= max(3, 0.3 * len(words)):
        return len(words) >= 8 and not row.endswith(("...", "…"))  # another language with letters of its own
    lowered = [word.lower() for word in words]
    return any(sum(word in stops for word in lowered) >= 0.22 * len(words) for stops in (STOPWORDS, _STOPWORDS_ELSEWHERE))


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


def share_of(count: int, rows: Sequence[str]) -> float:
    """Give the share of a count among some lines."""
    return count / max(len(rows), 1)


def count_of(pattern: re.Pattern[str], rows: Sequence[str]) -> int:
    """Count the lines that a pattern matches at their start."""
    return sum(pattern.match(row) is not None for row in rows)
