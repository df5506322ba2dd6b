"""What launchers, containers and loggers put in front of a line: taken off, kept, and read for the rank."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress, numberless
from aifix.lazy import lazy_re
from aifix.model import Line

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|SUCCESS|TRACE|NOTICE)"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9}|-\d{6})?)?"
_DATE = r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.](?:\d{4}|\d\d)|\d\d?/\d\d?|\d{2}-\d{2})"
_ZONE = r"(?:Z|[ ]?[+-]\d\d:?\d\d|[ ](?:UTC|GMT|[CEMP][DES]T|CEST))?"
_STAMP = rf"(?:{_DATE}[T _]{_CLOCK}{_ZONE}|\d{{4}}-\d\d-\d\d:\d\d:\d\d:\d\d(?:,\d{{3}})?|\d\d:\d\d:\d\d(?:[.,]\d{{1,9}}|-\d{{6}})?)"

# How far a claim about the rank is to be believed when several stand in one line.
_TASK, _LOCAL, _GLOBAL = 1, 2, 3

# After a date: the level and the logger's name, in the ways in which loggers write them.
_AFTER_STAMP = (
    rf"(?:"
    rf"[ ]-[ ](?:[\w.\-/]{{1,80}}[ ]-[ ])?{_LEVEL}[ ]-[ ](?:[\w.]{{1,100}}[ ]-[ ]{{1,3}})?"  # - mmdet - INFO - , - INFO - name -
    rf"|[ ]\|[ ]{_LEVEL}[ ]*\|[ ](?:[\w.<>]{{1,100}}:[\w.<>]{{1,60}}:\d+[ ]-[ ]|[\w.]{{1,80}}[ ]\|[ ])?"  # loguru, fairseq
    rf"|[ ]\[{_LEVEL}\][ ]\[[^\]\s]{{1,120}}:\d+(?::[^\]\s]{{1,80}})?\][ ]"  # DeepSpeed
    rf"|[ \t]{_LEVEL}[ ][\w./\\-]{{1,80}}\.\w{{1,4}}:\d+[ ]--[ ]"  # Ray
    rf"|[ ][\w.\-]{{1,80}}[ ]{_LEVEL}:[ ]"  # maskrcnn: name INFO: text
    rf"|[ ]{_LEVEL}[ ]+(?=\S)(?!-{{3}}|=[ ]|\d\d-\d\d[ ]|[\w.]+:[\w.]+:\d)"
    rf"|:[ ]"  # TensorFlow: date: I file.cc:12] text
    rf"|[ ]"
    rf"|$)"
)

_BRACKET = lazy_re(
    r"\[rank(?P<rank>\d+)\]:[ ]?"
    r"|\[[a-z_]{2,20}(?P<local>\d+)\]:"  # torchrun --tee: [default0]:, [trainer1]:
    r"|\[(?P<plain>\d{1,4})\]:(?=.)[ ]?(?![ ]*$)"
    r"|\[\d+,(?:mpirank:)?(?P<mpi>\d+)(?:,[^\]\s]{1,60})?\](?:<std(?:out|err|diag)>)?:[ ]?"
    r"|\[pod/[^\]\s]+\][ ]?"
    r"|\[std(?:out|err)\][ ]"
    r"|\[[ ]*\+?\d{1,9}\.\d{6}\][ ]?"  # kernel ring buffer
    r"|\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[ ][A-Z][a-z]{2}[ ][ \d]\d[ ]\d\d:\d\d:\d\d[ ]\d{4}\][ ]"
    rf"|\[{_STAMP}\](?:[ ]-)?{_AFTER_STAMP}"
    rf"|\[{_STAMP}\]\[[\w.]{{1,80}}\]\[{_LEVEL}\][ ]-[ ]"  # Hydra
    rf"|\[{_DATE},[ ]{_CLOCK}{_ZONE}\][ ]\{{[\w.]{{1,80}}:\d+\}}[ ]{_LEVEL}[ ]-[ ]"  # Airflow
    rf"|\[NeMo[ ][IWED][ ]{_STAMP}[ ][^\]]{{1,80}}\](?:[ ]|$)"
    rf"|\[{_STAMP}[ ][IWEF][ ]\d+[ ]\d+\][ ]"  # Ray's C++ side
    r"|\[[IWEF]\d{3,4}[ ]\d\d:\d\d:\d\d\.\d+[ ](?=\S)"  # torch C++: the location stays
)
_PAREN = lazy_re(
    r"\((?:(?P<actor>[^()\s]{1,100}(?:\([^()]{0,80}\))?(?:[ ]rank=(?P<rank>\d+))?)[ ])?pid=\d+(?:,[ ]ip=[^)\s]{1,60})?\)(?:[ ]|$)"
    r"|\((?:raylet|autoscaler|gcs_server|dashboard|runtime_env|scheduler)(?:[ ][^()]{0,40}|,[ ]ip=[^)\s]{1,60})?\)(?:[ ]|$)"
)
_DIGIT = lazy_re(
    rf"{_STAMP}{_AFTER_STAMP}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)$"
)
_HASH = lazy_re(
    r"##\[(?:error|warning|debug|command|group|section|notice|endgroup)\]"
    r"|#\d{1,4}[ ]\d{1,6}\.\d{1,3}(?:[ ]|$)"  # buildkit
    r"|#\d{1,4}[ ](?=\[[^\]]*\d+/\d+\]|\[(?:internal|auth)|ERROR|CACHED|DONE|sha256:|exporting|extracting)"
)
_LETTER = lazy_re(
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ ][ \d]\d[ ]\d\d:\d\d:\d\d(?:\.\d+)?[ ][\w.\-]{1,100}[ ]"
    r"(?:[\w./@()\-]{1,80}(?:\[\d+\])?:[ ])?"
    r"|kernel:[ ]"
    r"|[IWEF]\d{4}[ ]\d\d:\d\d:\d\d\.\d{1,9}[ ]+\d+[ ](?=\S)"  # glog: the location stays
    rf"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[A-Za-z_][\w.\-]{{0,120}}:(?![ ]*\d+\b)"  # logging.basicConfig
    rf"|{_LEVEL}[ ]{{1,4}}[A-Za-z_][\w.\-]{{0,120}}:[\w.\-/]{{1,120}}\.py:\d+[ ](?=\S)"  # pytest's live log
    rf"|{_LEVEL}[ ]\d\d-\d\d[ ]\d\d:\d\d:\d\d(?:\.\d+)?[ ](?:\[[^\]\s]{{1,120}}:\d+\]|[\w./\-]{{1,120}}:\d+\])(?:[ ]|$)"  # vLLM
    rf"|{_LEVEL}[ ]{_STAMP}[ ]"
    r"|(?:[A-Za-z][\w.]*-)+\d+[ ]*\|(?:[ ]|$)"  # docker compose
    r"|std(?:out|err)[ ][FP][ ]"  # CRI: follows the date
)
_BOXED = lazy_re(r"(?P<edge>[ ]*[│┃║][ ]?)(?P<inner>.*?)[ ]*[│┃║][ ]*$")
_LID = lazy_re(r"(?P<edge>[ ]*[╭┌┏╔╰└┗╚+][─━═-]{2,}[ ]?)(?P<inner>.*?)[ ]?[─━═-]*[╮┐┓╗╯┘┛╝+][ ]*$")
_GUTTER = lazy_re(r"[ ]{1,4}(?:│[ ](?=[a-z>\[])|╰─[>▶][ ]|├─[>▶][ ]|×[ ])")
_HOST_WORD = lazy_re(r"kernel:[ ]|[\w.\-]{1,80}[ ][\w./@\-]{1,60}(?:\[\d+\]:[ ]|(?<=kernel):[ ])")

_FILE_HEAD = lazy_re(
    r"(?:[\w./@+\-]{0,200}?rank[._-]?(?P<rank>\d{1,5})[\w.\-]{0,60}?|[\w./@+\-]{1,200}?)\.(?:log|out|err|txt)(?:\.\d{1,3})?"
    r"(?::(?:\d{1,9}:)?|-(?:\d{1,9}-)?)"
)
_NUMBER_HEAD = lazy_re(r"[ ]{0,8}(\d{1,8})(?:\t|→|:|-|[ ]{0,2}[|│]|[ ]{2})")
_AHEAD_RANK = lazy_re(r"\[rank: (\d+)\]|(?:(?:\[[IWEF] )?[\w./\\]+\.(?:cpp|cc|h|hpp):\d+\] )?\[(?:PG [^\]]{0,120}?)?Rank (\d+)\]")
_TASK_HEAD = lazy_re(r" {0,3}(\d{1,4}): ?|\[(\d{1,4})\] ")
_HOST_HEAD = lazy_re(r"(?=[\w.\-]*[\d.\-])([A-Za-z0-9][\w.\-]{1,80}): ")
_SERVICE_HEAD = lazy_re(r"([A-Za-z][\w.\-]{0,60}) *\| ?")
_WORD_HEAD = lazy_re(r"(?=\S*[\d/.\-\]>|@])(\[?[<\w][\w./@<>\-]{1,150}\]?[:>|]{0,2})[ ]")
_BUILD_CLOCK = lazy_re(r"(\d{1,5}\.\d{1,3})(?: |$)")
_LOOKS_MESSAGE = lazy_re(r"\.(?:py|pyx|c|cc|cpp|cu|cuh|h|hpp|js|ts|tsx|rs|go|java)\b|::|npm|https?:|Error|error|Warning")
_TRACE_INSIDE = '  File "'
_TRACE_BODY = lazy_re(r"Traceback \(|[ ]+File \"|\[rank\d|[A-Za-z_.]+Error: ")
_LOCATION = lazy_re(r"[\w./\\\-]+\.\w{1,4}:\d+\](?: (?:\[(?:!?\d+/\d+(?:_\d+)?|__\w+)\](?: |$)){0,2}|$)")  # and torch.compile's frame: [2/8]

_BY_FIRST: dict[str, re.Pattern[str]] = {
    "[": _BRACKET,
    "(": _PAREN,
    "#": _HASH,
    **dict.fromkeys("0123456789", _DIGIT),
    **dict.fromkeys("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", _LETTER),
    **dict.fromkeys("│┃║╭┌┏╔╰└┗╚", _LID),
}
_MAX_DEPTH = 8  # nested prefixes on one line; each is at least one character, so this only stops nonsense
_POLLED = 2000  # lines that are asked when the whole document decides
_ROUNDS = 4  # of voting: each can uncover another layer


class _Stem:
    """A line on its way: how much of it is prefix by now, and what rank was claimed how credibly."""

    __slots__ = ("cut", "prefix", "rank", "strength", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.cut = 0
        self.prefix = ""
        self.rank: int | None = None
        self.strength = 0

    def take(self, count: int) -> None:
        self.prefix += self.text[:count]
        self.text = self.text[count:]
        self.cut += 1

    def claim(self, rank: str | None, strength: int) -> None:
        if rank is not None and strength >= self.strength and len(rank) < 7:
            self.rank, self.strength = int(rank), strength


def strip(lines: Sequence[Line]) -> list[Line]:
    """Take the prefixes off all lines. What is ambiguous on one line (`12: `) is decided by the document as a whole."""
    stems = [_Stem(line.text) for line in lines]
    _strip_shown(stems)
    for stem in stems:
        _peel(stem)
    for _ in range(_ROUNDS):
        voted = _vote_tasks(stems) or _vote_hosts(stems) or _vote_services(stems) or _vote_words(stems) or _vote_clock(stems)
        if not voted:
            break
        for stem in voted:
            _peel(stem)
    _strip_repeated_locations(stems)
    out: list[Line] = []
    for line, stem in zip(lines, stems, strict=True):
        if stem.strength < _GLOBAL and "ank" in stem.text[:200]:
            ahead = _AHEAD_RANK.match(stem.text)
            if ahead:
                stem.claim(ahead[1] or ahead[2], _GLOBAL)
        if stem.prefix or stem.rank is not None:
            out.append(Line(line.number, stem.text, stem.rank, stem.prefix))
        else:
            out.append(line)
    return out


def _strip_shown(stems: list[_Stem]) -> None:
    """Take off what was put first to show a file: by `cat -n` or an editor the line's number, `grep` the file's name, a paste its indentation."""
    _vote_files(stems)
    _vote_numbers(stems)
    _take_indent(stems)


def _vote_files(stems: list[_Stem]) -> None:
    """`logs/rank3.log:12:text`, as grep prints, and `logs/rank3.log-13-text` of the lines around a hit."""
    found = [(stem, match) for stem in stems if (match := _FILE_HEAD.match(stem.text))]
    filled = sum(1 for stem in stems if stem.text.strip() not in {"", "--"})
    if len(found) < 3 or len(found) < 0.9 * filled:
        return
    for stem, match in found:
        stem.claim(match["rank"], _TASK)
        stem.take(match.end())


def _vote_numbers(stems: list[_Stem]) -> None:
    """`  12<tab>text`: the numbers count up, one a line; ranks come again, and the first of them is 0."""
    found = [(stem, match) for stem in stems if (match := _NUMBER_HEAD.match(stem.text))]
    if len(found) < 4 or len(found) < 0.9 * sum(1 for stem in stems if stem.text.strip() not in {"", "--"}):
        return
    numbers = [int(match[1]) for _, match in found]
    steps = [after - before for before, after in pairwise(numbers)]
    if numbers[0] == 0 or min(steps) < 1 or steps.count(1) < 0.9 * len(steps):
        return
    apart = all(match.end() == len(stem.text) or stem.text[match.end()] == " " for stem, match in found)
    if apart and found[0][1][0].endswith(":") and not any(_TRACE_INSIDE in stem.text for stem, _ in found):
        return  # a list of steps
    for stem, match in found:
        stem.take(match.end() + (apart and match.end() < len(stem.text)))


def _take_indent(stems: list[_Stem]) -> None:
    """Take off the blanks that stand before every line, but for those of a traceback's frames."""
    filled = [stem for stem in stems if stem.text.strip()]
    depth = min((len(stem.text) - len(stem.text.lstrip(" ")) for stem in filled), default=0)
    if depth < 2 or len(filled) < 2 or any(stem.text.startswith(('File "', "^", "at "), depth) for stem in filled):
        return
    for stem in filled:
        stem.take(depth)


def begins_record(text: str) -> bool:
    """Whether a raw line begins with a prefix, so that it continues no other."""
    stem = _Stem(text)
    _peel(stem)
    return bool(stem.prefix)


def _peel(stem: _Stem) -> None:
    """Take off whatever needs no vote, over and over."""
    for _ in range(_MAX_DEPTH):
        text = stem.text
        if not text:
            return
        head = text[0]
        pattern = None
        if head == " ":
            match = _gutter(text)
            if match is None:
                return
        else:
            pattern = _BY_FIRST.get(head)
            if pattern is None:
                return
            match = _LID.match(text) or _BOXED.match(text) if pattern is _LID else pattern.match(text)
            if match is None:
                return
        if "inner" in match.re.groupindex:  # a box
            stem.prefix += match["edge"]
            stem.text = match["inner"]
            stem.cut += 1
            continue
        if not match.end():
            return
        if pattern is _BRACKET:
            stem.claim(match["rank"], _GLOBAL)
            stem.claim(match["mpi"], _GLOBAL)
            stem.claim(match["local"], _LOCAL)
            stem.claim(match["plain"], _LOCAL)
        elif pattern is _PAREN:
            stem.claim(match["rank"], _LOCAL)
        stem.take(match.end())
        if pattern is _DIGIT and stem.text:
            host = _HOST_WORD.match(stem.text)
            if host:
                stem.take(host.end())


def _gutter(text: str) -> re.Match[str] | None:
    """Boxes and gutters may be indented; hardly any line is, so look for the characters first."""
    stripped = text.lstrip(" ")[:1]
    if stripped in "│┃║":
        return _BOXED.match(text) or _GUTTER.match(text)
    if stripped in "╰├×":
        return _LID.match(text) or _GUTTER.match(text)
    if stripped in "╭┌┏╔":
        return _LID.match(text)
    return None


def _vote_tasks(stems: list[_Stem]) -> list[_Stem]:
    """`12: text`, as srun --label prints: most lines have it, or a traceback stands behind it."""
    found: list[tuple[_Stem, re.Match[str]]] = []
    filled = proof = 0
    for stem in stems:
        text = stem.text
        if not text or text.isspace():
            continue
        match = _TASK_HEAD.match(text) if text[0] in " 0123456789[" else None
        if match:
            found.append((stem, match))
            if proof < 2 and _TRACE_BODY.match(text, match.end()):
                proof += 1
        filled += match is not None or not is_progress(text)
    if len(found) < 2:
        return []
    if not proof:
        found = [(stem, match) for stem, match in found if match[1]]  # `[3] ` may be anything
        if len(found) < 2:
            return []
    tasks = [int(match[1] or match[2]) for _, match in found]
    counting = all(b > a for a, b in pairwise(tasks))
    share = len(found) / filled
    if (counting and not (proof and share > 0.9)) or not (proof or share >= 0.6):
        return []
    if not proof and len(found) < 6 and share < 0.9:
        return []
    if share < 0.95 and len(set(tasks)) > 0.7 * len(tasks) and not proof:
        return []  # nearly every number once: a listing, not tasks
    for stem, match in found:
        stem.claim(match[1] or match[2], _TASK)
        stem.take(match.end())
    return [stem for stem, _ in found]


def _vote_hosts(stems: list[_Stem]) -> list[_Stem]:
    """`node-2: text`, as DeepSpeed's pdsh prints."""
    return _vote(stems, _HOST_HEAD, share=0.5)


def _vote_services(stems: list[_Stem]) -> list[_Stem]:
    """`web  | text`: docker compose without a replica number."""
    return _vote(stems, _SERVICE_HEAD, share=0.6)


def _vote_words(stems: list[_Stem]) -> list[_Stem]:
    """Any other machine-made word that stands before (nearly) every line."""
    return _vote(stems, _WORD_HEAD, share=0.95)


def _vote(stems: list[_Stem], pattern: re.Pattern[str], share: float) -> list[_Stem]:
    """Take a head off when it recurs and either stands before a share of all lines or before the frames of a traceback."""
    counts: Counter[str] = Counter()
    filled = 0
    for stem in stems[:: len(stems) // _POLLED + 1]:
        text = stem.text
        if not text or text.isspace():
            continue
        match = pattern.match(text)
        if match:
            counts[match[1]] += 1
            filled += 1
        elif not is_progress(text):
            filled += 1
    # A prefix recurs; a word that stands before one line only is the beginning of what the line says.
    heads = {head for head, n in counts.items() if n >= 3 and not _LOOKS_MESSAGE.search(head)}
    common = sum(counts[head] for head in heads)
    if common < 0.9 * sum(counts.values()) or common < share * filled or common < 3:
        heads = set()
    framed = {
        numberless(match[1])
        for stem in stems
        if _TRACE_INSIDE in stem.text and (match := pattern.match(stem.text)) and not _LOOKS_MESSAGE.search(match[1])
    }
    if not heads and not framed:
        return []
    found = [(stem, match) for stem in stems if (match := pattern.match(stem.text))]
    if framed:
        every = Counter(match[1] for _, match in found)
        heads |= {head for head, n in every.items() if n >= 3 and numberless(head) in framed}
    voted = [(stem, match) for stem, match in found if match[1] in heads]
    for stem, match in voted:
        stem.take(match.end())
    return [stem for stem, _ in voted]


def _vote_clock(stems: list[_Stem]) -> list[_Stem]:
    """`4.310 text`: the plain-text end of a docker build, after its `> [stage]:` line."""
    if not any(stem.text.startswith(" > [") for stem in stems):
        return []
    voted: list[tuple[_Stem, int]] = []
    inside = False
    clock = 0.0
    for stem in stems:
        if stem.text.startswith(" > ["):
            inside, clock = True, 0.0
            continue
        match = _BUILD_CLOCK.match(stem.text) if inside else None
        if match and float(match[1]) >= clock:
            clock = float(match[1])
            voted.append((stem, match.end()))
        elif not is_progress(stem.text):
            inside = False
    for stem, end in voted:
        stem.take(end)
    return [stem for stem, _ in voted]


def _strip_repeated_locations(stems: list[_Stem]) -> None:
    """A traceback that was logged line by line repeats the log call's `file.py:12] `: there it is no news."""
    run: list[tuple[_Stem, int]] = []
    head = ""
    traced = False

    def flush() -> None:
        if traced:
            for stem, end in run:
                stem.take(end)
        run.clear()

    for stem in stems:
        match = _LOCATION.match(stem.text) if "] " in stem.text[:200] or stem.text.endswith("]") else None
        if match is None:
            if run and not is_progress(stem.text):
                flush()
                head, traced = "", False
            continue
        if match[0].rstrip() != head:
            flush()
            head, traced = match[0].rstrip(), False
        run.append((stem, match.end()))
        traced = traced or "Traceback (" in stem.text or stem.text.startswith('  File "', match.end())
    flush()
