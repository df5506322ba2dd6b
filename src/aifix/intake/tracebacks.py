"""Python tracebacks: plain, chained, grouped, remote, boxed by rich, printed by IPython, cut off, interleaved.

A small machine walks over the lines of one stream (a rank, an actor, or the whole log) and collects frames until the line
that names the exception. Nothing here raises on odd input: a line that fits nowhere is passed over.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from aifix.intake.lines import is_progress
from aifix.lazy import lazy_re
from aifix.model import Frame, Line, Location, Relation, Traceback

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_NOISE = 60  # foreign lines tolerated between two frames (other ranks, progress bars, log lines)
_MAX_MESSAGE = 400  # lines of one exception's message
_MAX_FRAMES = 2000

# Tolerant of a wrong letter in the fixed words: people retype and recognise text from pictures.
_FRAME = lazy_re(
    r"(?P<margin>[ \t|+>]*)(?:F\w{3}|\wi\w{2}|\w\wl\w|\w{3}e) \"(?P<file>[^\"]{1,1000})\", \w{4} (?P<line>\d{1,7})"
    r"(?:,? \w{2} (?P<function>.{1,300}?))?\s*$"
)
_HEADER = lazy_re(r"\w{9} \((?:most recent|\w{4} \w{6}) (?:call|\w{4}) (?P<order>last|first|\w{4,5})\)")
_EXACT_HEADER = "(most recent call "
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_<]\w*>?)*"
_ERROR = lazy_re(rf"(?P<margin>[ \t|]*)(?P<kind>{_NAME}(?:\({_NAME}\))?)(?P<rest>: .*|:|)$", re.DOTALL)
_ERROR_WORD = lazy_re(
    r"(?:Error|Exception|Exit|Interrupt|Warning|Iteration|Failure|Failed|Fault|Timeout|Group|Abort|Aborted|NotFound|NoSuchFile|"
    r"InvalidArgument|Fail|Unavailable|Refused|Killed|Empty|Full|Invalid\w*|OutOfMemory|Stop\w*|Died|Unsupported|Traceback|"
    r"NotImplemented|Denied|Missing\w*|Canceled|Cancelled|Signal\w*|Errors?|Interrupted|Unreachable|Exceeded|Not[A-Z]\w*|No[A-Z]\w*)"
    r"(?:\(.*\))?$"
)
_NEW_ERROR = lazy_re(r"(?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:Error|Exception)(?:: |:$)")
_CAUSE = "the direct cause of the following"
_CONTEXT = "uring handling of the above exception"
_WORKER = lazy_re(
    r"Original Traceback|Caught \w[\w.]* in |-- Process \d+ terminated|RemoteTraceback|ray::|"
    r"The above exception was the following|worker process"
)
_CARETS = lazy_re(r"[ \t|]*[~^][~^ ]*$")
_REPEATED = lazy_re(r"[ \t|]*\[\w+ line repeated (\d+) more times?\]")
_ELIDED = lazy_re(r"[ \t|]*\.\.\.<\d+ lines?>\.\.\.$|[ \t|]*\.\.\. *$|\d+ frames$")
_GROUP_RULE = lazy_re(r"[ |]*\+-[+-]*-{3,} (?:\d+|\.\.\.) -+$|[ |]*\+-{8,}$")
_GROUP_MARGIN = lazy_re(r" *(?:\+ (?=Exception)|(?:\| ?)+)")

_NEW_RECORD = lazy_re(
    r"(?:\(\w[\w.-]*\) )?[\w.-]+@[\w.-]+[:~ ].{0,80}[$#%] |\$ |>>> |[A-Za-z]:\\[^>]{0,80}>|PS [A-Z]:|In \[\d+\]:|Out\[\d+\]:"
    r"|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b(?: \[|:? )|\[(?:INFO|WARN|WARNING|ERROR|DEBUG)\]"
    r"|[IWEF]\d{4} \d\d:|\[[IWEF] ?\w*[ .]|(?:srun|slurmstepd|npm|make|wandb|error|hint|kernel):|wandb: "
    r"|\[?[\w.-]+@[\w.-]+[ :][^$#]{0,80}[$#] |\[rank: \d|(?:DEBUG|INFO|WARNING|ERROR):\S|Process \S+:$"
    r"|-{2,} Process \d+ terminated|={5,} |Fatal Python error|Exception ignored in|Exception in thread"
    r"|terminate called|Segmentation fault|Aborted|Killed|\w+ exited with code|\[\d{4}-|\d{4}-\d\d-\d\d[ T]"
    r"|\S+:\d+:\d+ \[\d+\] |Sending process \d|failed \(exitcode|\S+\.\w+:\d+\] |Exception raised from"
)
_WARNED = lazy_re(r"\S+\.py:\d+: \w+: ")

_LIBRARY_PARTS = frozenset(("site-packages", "dist-packages", "node_modules", ".pyenv", "pyenv", "importlib", "multiprocessing", "concurrent"))
_STDLIB = lazy_re(
    r"(?:^|/)(?:lib(?:64)?|Lib)/python\d(?:\.\d+)?(?:/|$)|(?:^|/)python\d\.?\d*/[Ll]ib/|(?:^|/)[Ll]ib/(?:runpy|threading|subprocess|copy|contextlib|pickle|json|asyncio|unittest|multiprocessing|importlib|concurrent|queue|socket|ssl|encodings|collections|ctypes|site|codecs|typing|functools|inspect|logging|tempfile|shutil|os|re)(?:\.py|/)"
)
_LIBRARY_HEADS = (
    "<frozen ",
    "<__array_function__",
    "<attrs generated",
    "<eval_with_key>",
    "<decorator-gen",
    "<class_init",
    "<rank",
    "<unknown",
)
_PACKAGE_HEADS = frozenset(
    ("torch", "torchvision", "torchaudio", "transformers", "accelerate", "deepspeed", "lightning", "pytorch_lightning", "tensorflow")
)
# A framework run from its source tree.
_SOURCE_TREE = lazy_re(
    r"(?:^|/)torch/(?:nn|jit|utils|distributed|autograd|optim|cuda|fx|_\w+|multiprocessing|serialization\.py|functional\.py)(?:/|$)"
)
_ENTRY_POINT = lazy_re(r"(?:^|/)(?:bin|Scripts)/[\w.-]*[\w-]+(?:\.exe/__main__\.py|\.exe|-script\.py)?$")

_CELL = lazy_re(
    r"(?:(?:Cell )?(?:In ?\[ *(?P<cell>\d*) *\]|Input In \[\d+\])(?:, line (?P<cline>\d+))?(?:,? in (?P<cfunction>.{1,200}))?$"
    r"|File (?P<file>[^\s\"][^\"\n]{0,500}?):(?P<line>\d+), in (?P<function>.{1,300})$"
    r"|(?P<old><ipython-input-[^>]{1,80}>|[/~.][^\s:]{0,500}\.(?:py|pyx|pxd)|[A-Za-z]:\\[^:\n]{0,500}\.py) in (?P<ofunction>.{1,300})$)"
)
_ARROW = lazy_re(r"-{1,}> ?(\d{1,7})(?: (.*))?$")
_NUMBERED = lazy_re(r" {0,8}\d{1,7}(?: .*|)$")
_RICH_FRAME = lazy_re(r"(?P<file>(?:[/~]|[A-Za-z]:\\|<|\w)[^\n\"]{0,500}?):(?P<line>\d{1,7}) in (?P<function>[\w<>.]{1,200})\s*$")
_RICH_ARROW = lazy_re(r" *[❱>] *(\d{1,7}) ?[│|]?(.*)$")
_OPENERS = ("Cell In", "Input In", "<ipython", "Fatal Python")


class _Open:
    """A traceback that is being read."""

    __slots__ = (
        *("start", "header", "relation", "style", "expected", "frames", "quoted", "twins", "indent"),
        *("noise", "number", "last", "pending", "fatal"),
    )

    def __init__(self, start: int, header: int | None, relation: Relation, *, style: str, expected: str, last: int) -> None:
        self.start = start
        self.header = header
        self.relation = relation
        self.style = style  # plain, ipython, rich, fatal
        self.expected = expected  # IPython names the exception in its header
        self.frames: list[Frame] = []
        self.quoted: set[int] = set()
        self.twins = 1  # processes that print the same traceback into one another
        self.indent: int | None = None
        self.noise = 0
        self.number = 0  # of the input line that gave the last frame
        self.last = last
        self.pending: Frame | None = None
        self.fatal = ""


def parse(lines: Sequence[Line]) -> list[Traceback]:
    """Find all Python tracebacks, in the order of the lines that name their exceptions."""
    if not any(_may_matter(line.text) for line in lines):
        return []
    whole = _Walk(lines, range(len(lines))).run()
    streams = _streams(lines)
    if len(streams) > 1:
        apart = [item for stream in streams for item in _Walk(lines, stream).run()]
        # Ranks attributed wrongly (or line by line at random) tear tracebacks apart: take the reading that holds together.
        if _coherence(apart, lines) > _coherence(whole, lines):
            whole = apart
    return sorted(whole, key=lambda item: (item.start, item.error))


def location(traceback: Traceback | Sequence[Traceback]) -> Location | None:
    """The innermost frame of the user's own code, else the innermost frame, of a traceback or of a chain of them.

    Of a chain, the failing member counts first: the last one, or where a worker's original traceback hangs below it, that.
    """
    chain = [traceback] if isinstance(traceback, Traceback) else list(traceback)
    ordered = [t for t in reversed(chain) if t.relation == "worker"] + [t for t in reversed(chain) if t.relation != "worker"]
    for wanted in (True, False):
        for item in ordered:
            for frame in reversed(item.frames):
                if frame.user or not wanted:
                    return Location(frame.file, frame.line, frame.function, frame.source)
    return None


@lru_cache(maxsize=4096)
def is_user(file: str, function: str = "") -> bool:
    """Whether a frame's file is the user's own code rather than a library's or the interpreter's."""
    path = file.replace("\\", "/")
    if path.startswith(_LIBRARY_HEADS):
        return False
    parts = path.split("/")
    if not _LIBRARY_PARTS.isdisjoint(parts) or _STDLIB.search(path):
        return False
    if any(part.endswith((".egg", ".zip", ".whl")) for part in parts) or path.endswith((".pyx", ".pxi", ".pxd")):
        return False
    if _SOURCE_TREE.search(path) or (not path.endswith((".py", ".pyw")) and _ENTRY_POINT.search(path)) or ".exe/" in path:
        return False
    if path == "<string>" and function not in ("", "<module>"):
        return False  # generated code: dataclasses, six
    return parts[0] not in _PACKAGE_HEADS


def uttered(lines: Sequence[Line], tracebacks: Sequence[Traceback]) -> bool:
    """Whether a complete traceback stands there as a program prints it: neither indented nor inside a code fence."""
    fences = [index for index, line in enumerate(lines) if line.text.startswith(("```", "~~~"))]
    return any(item.kind and item.frames and lines[item.error].text[:1].isalpha() and bisect_left(fences, item.error) % 2 == 0 for item in tracebacks)


def chains(tracebacks: Sequence[Traceback]) -> list[list[Traceback]]:
    """Group tracebacks that hang together, in order."""
    out: list[list[Traceback]] = []
    for item in tracebacks:
        if out and item.relation != "first" and (item.rank is None or out[-1][-1].rank in (None, item.rank)):
            out[-1].append(item)
        else:
            out.append([item])
    return out


def _may_matter(text: str) -> bool:
    return ('"' in text and ", " in text) or _EXACT_HEADER in text or text.startswith(_OPENERS) or ".py in " in text


def _coherence(found: Sequence[Traceback], lines: Sequence[Line]) -> int:
    """How much a reading holds together: what has a head, code below its frames, and an end counts; what is torn, against."""
    score = 0
    for item in found:
        score += 2 if _EXACT_HEADER in lines[item.start].text else -2
        score += 2 if item.kind else -2
        score += sum(1 if frame.source else -1 for frame in item.frames[:8])
    return score


_ORIGIN = lazy_re(r"\([^()]*(?:\([^()]*\))?[^()]*pid=\d+[^)]*\)|\[pod/[^\]]+\]|(?:[A-Za-z][\w.]*-)+\d+ *[|:]|\[\d+,\d+\]")


def _streams(lines: Sequence[Line]) -> list[list[int]]:
    """Indices by who printed the line: the rank, else the actor, pod or container named in the prefix."""
    cache: dict[str, str] = {}
    streams: dict[object, list[int]] = {}
    for index, line in enumerate(lines):
        key: object = line.rank
        if key is None and line.prefix:
            origin = cache.get(line.prefix)
            if origin is None:
                match = _ORIGIN.search(line.prefix)
                origin = cache[line.prefix] = match[0] if match else ""
            key = origin
        streams.setdefault(key or (0 if line.rank == 0 else ""), []).append(index)
    return list(streams.values())


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t"))


class _Walk:
    """One pass over the lines of one stream."""

    def __init__(self, lines: Sequence[Line], order: Sequence[int]) -> None:
        self.lines = lines
        self.order = order
        self.at = 0
        self.found: list[Traceback] = []
        self.open: _Open | None = None
        self.relation: Relation = "first"
        self.grouped = False

    def run(self) -> list[Traceback]:
        while self.at < len(self.order):
            self._step()
        self._abandon()
        return self.found

    # ------------------------------------------------------------ helpers

    def _text(self, at: int) -> str:
        text = self.lines[self.order[at]].text
        if self.grouped:
            match = _GROUP_MARGIN.match(text)
            if match:
                return " " * (match.end() if text[: match.end()].strip() == "" else 0) + text[match.end() :]
        return text

    def _begin(self, header: int | None, style: str = "plain", expected: str = "") -> _Open:
        index = self.order[self.at]
        self.open = _Open(index, header, self.relation, style=style, expected=expected, last=self.at)
        self.relation = "first"
        return self.open

    def _abandon(self) -> None:
        """Give up on the open traceback: its exception was never printed."""
        trace, self.open = self.open, None
        if trace is None or not trace.frames:
            return
        end = self.order[trace.last] + 1
        self.found.append(
            Traceback(
                start=trace.start,
                end=end,
                error=trace.start,
                kind="Fatal Python error" if trace.fatal else "",
                message=trace.fatal,
                frames=tuple(reversed(trace.frames)) if trace.style == "fatal" else tuple(trace.frames),
                relation=trace.relation,
                rank=self.lines[trace.start].rank,
                quoted=frozenset(trace.quoted),
            )
        )

    def _frame(self, trace: _Open, frame: Frame) -> None:
        number = self.lines[self.order[self.at]].number
        if trace.frames and trace.number == number and (trace.frames[-1].file, trace.frames[-1].line) == (frame.file, frame.line):
            pass  # the cut part behind a line that was joined in doubt
        elif trace.twins > 1 and any(
            (f.file, f.line, f.function) == (frame.file, frame.line, frame.function) for f in trace.frames[-2 * trace.twins :]
        ):
            trace.pending = None  # the same frame of another process that prints into the same log
        elif len(trace.frames) < _MAX_FRAMES:
            trace.frames.append(frame)
            trace.pending = frame
            trace.number = number
        trace.noise = 0
        trace.last = self.at

    def _source(self, trace: _Open, source: str) -> None:
        """Give the last frame its line of code."""
        if trace.pending is not None and trace.frames and source:
            old = trace.frames[-1]
            trace.frames[-1] = Frame(old.file, old.line, old.function, source, old.user)
            trace.pending = None

    # ------------------------------------------------------------ the machine

    def _step(self) -> None:
        text = self._text(self.at)
        index = self.order[self.at]
        if self.open is None and not self._worth(text):
            self._idle(text)
            self.at += 1
            return
        if self._header(text, index):
            return
        match = _FRAME.match(text) if '"' in text else None
        if match:
            trace = self.open
            if trace is None or trace.style in ("ipython", "rich"):
                self._abandon()
                trace = self._begin(None)
            trace.quoted.add(index)
            margin = len(match["margin"].expandtabs(4))
            trace.indent = margin if trace.indent is None else min(trace.indent, margin)
            file = match["file"]
            self._frame(trace, Frame(file, int(match["line"]), (match["function"] or "").strip(), "", is_user(file, match["function"] or "")))
            self.at += 1
            return
        if self.open is None:
            if _CELL.match(text) and self._numbered_next():
                self._ipython(self._begin(None, "ipython"), text, index)
                return
            self._idle(text)
            self.at += 1
            return
        if self.open.style == "ipython":
            self._ipython(self.open, text, index)
        elif self.open.style == "rich":
            self._rich(self.open, text, index)
        else:
            self._plain(self.open, text, index)

    def _worth(self, text: str) -> bool:
        return _may_matter(text) or (self.grouped and bool(text)) or " in " in text

    def _numbered_next(self) -> bool:
        """Whether IPython's numbered source follows, so that a frame's line counts although the head is cut off."""
        for ahead in range(self.at + 1, min(self.at + 8, len(self.order))):
            text = self._text(ahead)
            if _ARROW.match(text):
                return True
            if text and not _NUMBERED.match(text):
                return False
        return False

    def _idle(self, text: str) -> None:
        """Between tracebacks: note how the next one hangs with the last."""
        if not text:
            return
        if self.grouped and self._grouping(text):
            return
        if _CAUSE in text:
            self.relation = "cause"
        elif _CONTEXT in text:
            self.relation = "context"
        elif _WORKER.search(text) and self.found:
            self.relation = "worker"
        elif self.relation != "first" and text.strip() not in ("", '"""', "'''") and not is_progress(text):
            self.relation = "first"

    def _grouping(self, text: str) -> bool:
        """Inside an exception group: the rules between its members, and members that have no traceback of their own."""
        if _GROUP_RULE.match(text):
            self.relation = "worker"
            return True
        match = _ERROR.match(text)
        if self.relation == "worker" and match and _ERROR_WORD.search(match["kind"].rpartition(".")[2]):
            self._finish(self._begin(None), self.at)
            self.at -= 1  # the caller steps on
            return True
        if not any(c in self.lines[self.order[self.at]].text[:12] for c in "|+"):
            self.grouped = False
        return False

    def _header(self, text: str, index: int) -> bool:
        header = _HEADER.search(text) if "recent" in text or "(most" in text else None
        if header is None:
            return False
        before = text[: header.start()]
        if before.rstrip().endswith(('"', "'", "`")) or text[header.end() : header.end() + 1] in ('"', "'", "`"):
            return False  # quoted in code or prose
        trace = self.open
        if header["order"] == "first":
            if "hread" in before or "Stack" in before or before.strip() == "":
                fatal = trace.fatal if trace else self._fatal_before()
                if trace and trace.frames:
                    self._abandon()
                    self.at += 1
                    return True
                if fatal:
                    trace = self._begin(index, "fatal")
                    trace.fatal = fatal
                    self.at += 1
                    return True
            return False
        if before.lstrip().startswith("Original ") or "Original " in before:
            self._abandon()
            self.relation = "worker"
        expected = re.match(rf"({_NAME})\s{{2,}}$", before)
        if expected:
            self._abandon()
            self._begin(index, "ipython", expected[1]).quoted.add(index)
            self.at += 1
            return True
        if before.strip() and _ERROR.match(before.rstrip()) and before.rstrip().endswith(":") and trace is not None:
            # Old torch put the worker's traceback into the message: `TypeError: Traceback (most recent call last):`
            self._finish(trace, self.at, only=True)
            self.relation = "worker"
        elif (trace is not None and not trace.frames and trace.style == "plain") or (
            trace is not None and trace.frames and trace.style == "plain" and self._twin(trace)
        ):
            trace.twins += 1
            trace.last = self.at
            self.at += 1
            return True
        else:
            self._abandon()
        if "xception Group" in before:
            self.grouped = True
        style = "rich" if self._boxed(index) else "plain"
        self._begin(index, style)
        self.at += 1
        return True

    def _boxed(self, index: int) -> bool:
        return any(c in self.lines[index].prefix for c in "╭┌┏╔")

    def _fatal_before(self) -> str:
        for back in range(self.at - 1, max(self.at - 6, -1), -1):
            text = self._text(back)
            if text.startswith("Fatal Python error"):
                return text.partition(": ")[2] or text
        return ""

    def _twin(self, trace: _Open) -> bool:
        """Whether the header that comes now opens the same traceback again, interleaved by another process."""
        for ahead in range(self.at + 1, min(self.at + 7, len(self.order))):
            match = _FRAME.match(self._text(ahead))
            if match:
                first = trace.frames[0]
                return (match["file"], int(match["line"])) == (first.file, first.line) and len(trace.frames) <= 4
        return False

    def _plain(self, trace: _Open, text: str, index: int) -> None:
        stripped = text.strip()
        if not stripped:
            trace.noise += 1
            if (trace.style == "fatal" and trace.frames) or trace.noise > _MAX_NOISE:
                self._abandon()
            self.at += 1
            return
        indent = _indent(text.expandtabs(4))
        base = trace.indent if trace.indent is not None else 2
        if _CARETS.match(text) or _ELIDED.match(text):
            trace.quoted.add(index)
            self._advance(trace)
            return
        repeated = _REPEATED.match(text)
        if repeated:
            trace.quoted.add(index)
            self._advance(trace)
            return
        if indent > base:
            trace.quoted.add(index)
            self._source(trace, stripped)
            self._advance(trace)
            return
        if trace.style != "fatal" and indent <= base and self._is_error(trace, text, indent, base):
            self._finish(trace, self.at)
            return
        if is_progress(text):
            self.at += 1
            return
        trace.noise += 1
        if trace.noise > _MAX_NOISE or (trace.header is None and trace.noise > 8) or trace.style == "fatal":
            self._abandon()
            return
        self.at += 1

    def _advance(self, trace: _Open) -> None:
        trace.last = self.at
        self.at += 1

    def _is_error(self, trace: _Open, text: str, indent: int, base: int) -> bool:
        match = _ERROR.match(text)
        if match is None or _NEW_RECORD.match(text):
            return False
        if not trace.frames and trace.header is None:
            return False
        kind = match["kind"].rpartition(".")[2]
        if _ERROR_WORD.search(kind):
            return True
        if not trace.frames:
            return False
        if indent >= base > 0:
            return False
        # Right below the frames, anything named like a class is the exception.
        close = trace.last == self.at - 1
        if match["rest"]:
            return close or (kind[:1].isupper() and "." in match["kind"])
        return close and kind[:1].isupper() and ("." in match["kind"] or len(kind) > 3)

    def _finish(self, trace: _Open, at: int, *, only: bool = False) -> None:
        """The exception's line is found: read its message and close the traceback."""
        index = self.order[at]
        text = self._text(at)
        match = _ERROR.match(text)
        if match is None:
            kind, message = "", text.strip()
        else:
            kind, message = match["kind"], match["rest"][2:] if match["rest"].startswith(": ") else ""
        end = at
        if not only:
            end, more = self._message(at, _indent(text), kind)
            message = "\n".join([message, *more]) if more else message
        self.open = None
        self.found.append(
            Traceback(
                start=trace.start,
                end=self.order[end] + 1,
                error=index,
                kind=kind,
                message=message,
                frames=tuple(trace.frames),
                relation=trace.relation,
                rank=self.lines[index].rank,
                quoted=frozenset(trace.quoted),
            )
        )
        self.relation = "worker" if _WORKER.search(message) else "first"
        self.at = end + 1
        if only:
            self.at = at

    def _message(self, at: int, indent: int, kind: str) -> tuple[int, list[str]]:
        """The lines by which a message goes on: (position of its last line, their texts)."""
        more: list[str] = []
        end = at
        shape = _shape(self.lines[self.order[at]].prefix)
        rank = self.lines[self.order[at]].rank
        blank = 0
        rules = 0
        for ahead in range(at + 1, min(at + _MAX_MESSAGE, len(self.order))):
            line = self.lines[self.order[ahead]]
            text = self._text(ahead)
            if not text.strip():
                blank += 1
                if blank > 2:
                    break
                continue
            if is_progress(text):
                continue
            own = _indent(text)
            if _shape(line.prefix) != shape and (line.prefix or own == 0):
                break
            if rank is not None and line.rank is not None and line.rank != rank:
                break
            if own == 0 and _NEW_ERROR.match(text):
                break
            if _EXACT_HEADER in text or _CAUSE in text or _CONTEXT in text or _GROUP_RULE.match(text) or text.strip() in ('"""', "'''"):
                break
            if '"' in text and _FRAME.match(text):
                break
            if _NEW_RECORD.match(text) or _WARNED.match(text):
                break
            if kind and text[own:].startswith(kind + ":"):
                break
            if blank and own <= indent and not rules:
                break
            if text.startswith("====="):
                rules += 1
            more += [""] * blank
            blank = 0
            more.append(text[indent:] if text[:indent].strip() == "" else text)
            end = ahead
            if rules == 2:
                break
        return end, more

    # ------------------------------------------------------------ IPython and rich

    def _ipython(self, trace: _Open, text: str, index: int) -> None:
        cell = _CELL.match(text)
        if cell:
            trace.quoted.add(index)
            if cell["file"]:
                frame = Frame(cell["file"], int(cell["line"]), _called(cell["function"]), "", is_user(cell["file"]))
            elif cell["old"]:
                file = cell["old"]
                frame = Frame(file, 0, _called(cell["ofunction"]), "", is_user(file))
            else:
                head = text.partition(",")[0].partition(" in ")[0].strip()
                frame = Frame(head, int(cell["cline"] or 0), _called(cell["cfunction"] or ""), "", user=True)
            self._frame(trace, frame)
            self.at += 1
            return
        arrow = _ARROW.match(text)
        if arrow:
            trace.quoted.add(index)
            if trace.frames:
                old = trace.frames[-1]
                trace.frames[-1] = Frame(old.file, int(arrow[1]), old.function, (arrow[2] or "").strip(), old.user)
            trace.last = self.at
            self.at += 1
            return
        error = _ERROR.match(text) if text[:1].isalpha() or text[:1] == "_" else None
        if error:
            kind = error["kind"].rpartition(".")[2]
            if kind == trace.expected.rpartition(".")[2] if trace.expected else _ERROR_WORD.search(kind) is not None:
                self._finish(trace, self.at)
                return
        if _NUMBERED.match(text) or text.startswith((" ", "\t")) or _ELIDED.match(text):
            trace.quoted.add(index)
            trace.last = self.at
        elif text.strip():
            trace.noise += 1
            if trace.noise > _MAX_NOISE:
                self._abandon()
                return
        self.at += 1

    def _rich(self, trace: _Open, text: str, index: int) -> None:
        line = self.lines[index]
        if "│" in line.prefix or "┃" in line.prefix or "║" in line.prefix:
            trace.quoted.add(index)
            frame = _RICH_FRAME.match(text)
            if frame is None and text.startswith(("/", "~")) and " " not in text.strip() and self.at + 1 < len(self.order):
                joined = text.strip() + self._text(self.at + 1).strip()
                frame = _RICH_FRAME.match(joined)
                if frame:
                    self.at += 1
                    trace.quoted.add(self.order[self.at])
            if frame:
                file = frame["file"]
                self._frame(trace, Frame(file, int(frame["line"]), frame["function"], "", is_user(file)))
            else:
                arrow = _RICH_ARROW.match(text)
                if arrow:
                    self._source(trace, arrow[2].strip(" │|"))
            trace.last = self.at
            self.at += 1
            return
        if any(c in line.prefix for c in "╰└┗╚"):
            trace.quoted.add(index)
            trace.last = self.at
            self.at += 1
            return
        if text.strip() and self._is_error(trace, text, 0, 2):
            self._finish(trace, self.at)
            return
        if text.strip():
            trace.noise += 1
            if trace.noise > _MAX_NOISE:
                self._abandon()
                return
        self.at += 1


def _called(function: str) -> str:
    """`step(self, x)` → `step`."""
    return function.partition("(")[0].strip() or function.strip()


def _shape(prefix: str) -> str:
    """A prefix without what changes from line to line."""
    return re.sub(r"\d+", "0", prefix)
