"""Read one log in one pass and bounded memory: how far it came, when it fell silent, and with what error it ended."""

from __future__ import annotations

import os
from bisect import bisect_left
from typing import TYPE_CHECKING

import msgspec

from aifix.intake import document as intake
from aifix.intake import lines as cleaning
from aifix.intake import packed, prefixes, tracebacks
from aifix.lazy import lazy_re
from aifix.match.keeper import GATES, Keeper
from aifix.match.scan import finder
from aifix.model import Document
from aifix.ranklogs import complaints, launcher, streams
from aifix.ranklogs.clock import Clock, was_set_back
from aifix.ranklogs.nouns import Error, Reading
from aifix.ranklogs.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.match.scan import Hits
    from aifix.model import Line, Report
    from aifix.ranklogs.nouns import Complaint, Named
    from aifix.rulebase.base import Base

PAGE = 8 << 10
HEAD_PAGES, TAIL_PAGES, HIT_PAGES = 2, 6, 4
"""Pages of a rank's own log that are read line by line: its start, its end, and the last ones with a rule's literal."""
SHARED = 16
"""So many times that of a file in which many ranks write."""
SAMPLES, SAMPLE = 24, 2048
"""Pieces taken evenly from the whole log, to see how fast it went, and the bytes of each."""
LAST_LINES = 400
"""Lines at the end of a rank's log in which its last error is looked for first: what failed and was survived stands before."""
MOST_LINES = 3000
"""And at most so many where a longer end follows upon the last step: a crash of many threads prints thousands."""
NEAR = 60
"""Lines around an error in which a time is taken for its own."""
SHOWN = 400
_ALARMS = ("error", "fail", "exception", "abort", "kill", "fatal", "timed out", "timeout", "closed", "reset", "assert", "traceback")
_WELL = lazy_re(
    r"(?i)\b(?:training|run|job|script|program|process|fit|everything|all (?:steps|epochs))\b.{0,30}"
    r"\b(?:done|finished|completed?|over|ended|stopped)\b"
    r"|^\W*(?:done|finished|completed?|bye|success(?:fully)?)\b\W*(?:$|in\b|at\b)|\bmax_(?:steps|epochs)=\d+\W{0,3}reached"
    r"|\bexit(?:ed|ing)? (?:with )?(?:code |status )?0\b"
)
_DIGITS = lazy_re(r"0x[0-9a-f]+|\d+")


class _Keeper(Keeper):
    """Keeps by literals that were made ready once for all logs."""

    def __init__(self, cores: list[bytes], find: Hits) -> None:
        super().__init__(cores)
        self._ready = find

    def _finder(self) -> Hits:
        return self._ready


class Reader:
    """Reads the logs of ranks with one rule base; what followers say alike is diagnosed once."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.cores = [core.encode() for core in base.matcher.cores]
        self._find: Hits | None = None
        self._alike: dict[frozenset[str], tuple[str, str, Complaint, str] | None] = {}

    def read(self, named: Named) -> list[Reading]:
        """Read a log; of a file in which many ranks write, each one's share."""
        if named.stream == "record":
            return self._record(named)
        about = os.stat(named.path)
        keeper, samples = self._pass(named.path)
        clock = Clock(about.st_mtime)
        blocks = keeper.blocks()
        ends = self._condensed(blocks, 1)
        document = intake.read(ends, source=named.path, genre="log")
        parts = streams.split(document.lines) if named.layout != "torchrun" else {streams.NOBODY: list(document.lines)}
        shared = _is_shared(parts, named)
        if shared and keeper.total > PAGE * (HEAD_PAGES + TAIL_PAGES):
            document = intake.read(self._condensed(blocks, SHARED), source=named.path, genre="log")
            parts = streams.split(document.lines)
        shell = Reading(named, keeper.total, keeper.lines(), modified=about.st_mtime, shared=shared, deaths=launcher.deaths(document.lines, clock))
        sampled = prefixes.strip(cleaning.clean(samples)) if samples else []
        if not shared:
            return [self._share(shell, document, sampled, clock)]
        sampled_parts = streams.split(sampled)
        found = []
        for owner, lines in parts.items():
            own = msgspec.structs.replace(
                shell,
                named=msgspec.structs.replace(named, rank=owner.rank, node=owner.source or named.node),
                lines=len(lines),
                bytes=0,
                deaths=shell.deaths if owner == streams.NOBODY else (),
            )
            part = Document(tuple(lines), tuple(tracebacks.parse(lines)), "log", named.path, document.total_lines, document.truncated)
            found.append(self._share(own, part, sampled_parts.get(owner, []), clock))
        if streams.NOBODY not in parts and shell.deaths:
            found.append(msgspec.structs.replace(shell, named=msgspec.structs.replace(named, rank=None)))
        return found

    # ------------------------------------------------------------ one pass over the bytes

    def _pass(self, path: str) -> tuple[Keeper, bytes]:
        if self._find is None:
            self._find = finder(self.cores, [b"i" + gate for gate in GATES])
        keeper = _Keeper(self.cores, self._find)
        samples: list[bytes] = []
        count, stride = 0, 1
        with packed.opened(path) as stream:
            while True:
                room = keeper.room()
                size = stream.readinto(room)
                if not size:
                    break
                if size > 2 * SAMPLE and count % stride == 0:
                    piece = bytes(room[size - SAMPLE : size])
                    samples.append(piece[piece.find(b"\n") + 1 : piece.rfind(b"\n") + 1])
                    if len(samples) > SAMPLES:
                        del samples[1::2]
                        stride *= 2
                count += 1
                keeper.took(size)
        return keeper, b"".join(samples)

    def _condensed(self, blocks: Sequence[tuple[int, bytes]], times: int) -> list[tuple[int, bytes]]:
        """Leave the start, the end, and the last pages with a rule's literal (of those with a gate word alone, fewer)."""
        pages: list[tuple[int, bytes]] = []
        for first, block in blocks:
            line, at = first, 0
            while at < len(block):
                end = (
                    len(block) if len(block) - at <= PAGE else block.rfind(b"\n", at, at + PAGE) + 1 or block.find(b"\n", at + PAGE) + 1 or len(block)
                )
                pages.append((line, block[at:end]))
                line += block.count(b"\n", at, end)
                at = end
        if len(pages) <= times * (HEAD_PAGES + TAIL_PAGES):
            return list(blocks)
        wanted = {*range(HEAD_PAGES * times), *range(len(pages) - TAIL_PAGES * times, len(pages))}
        hits = [(index, self._hit(page)) for index, (_, page) in enumerate(pages) if index not in wanted]
        strong = [index for index, hit in hits if hit > 1]
        weak = [index for index, hit in hits if hit == 1]
        most = HIT_PAGES * times
        chosen = [*strong[:times], *strong[-most:], *weak[-times:]]
        wanted.update(beside for index in chosen for beside in (index, index + 1) if beside < len(pages))
        joined: list[tuple[int, list[bytes]]] = []
        following = -1
        for index in sorted(wanted):
            line, page = pages[index]
            if line == following and joined:
                joined[-1][1].append(page)
            else:
                joined.append((line, [page]))
            following = line + page.count(b"\n")
        return [(line, b"".join(parts)) for line, parts in joined]

    def _hit(self, page: bytes) -> int:
        if self._find is None:
            return 0
        text = page.replace(b"\0", b"")  # two bytes a character: UTF-16
        return self._find(memoryview(text), [0, len(text)]).get(1, 0) if text else 0

    # ------------------------------------------------------------ one rank's lines

    def _share(self, shell: Reading, document: Document, sampled: Sequence[Line], clock: Clock) -> Reading:
        """Say what the lines of one rank tell."""
        lines = document.lines
        progress = Progress()
        moments: list[tuple[float, str]] = []
        for line in lines:
            moment = clock.read(line.prefix + line.text[:80] if line.prefix else line.text)
            if moment is not None:
                moments.append((moment, clock.form))
            progress.read(line, clock)
        stepped = progress.stepped
        for line in sampled:
            progress.read(line, clock)
        rank, world, node = streams.declared(lines)
        named = shell.named
        if named.rank is None and rank is not None and not shell.shared:
            named = msgspec.structs.replace(named, rank=rank)
        if node and not named.node:
            named = msgspec.structs.replace(named, node=node)
        error, complaint = self._error(document, clock, stepped)
        step_seconds, data_seconds = progress.seconds()
        first, last = (moments[0][0], moments[-1][0]) if moments else (None, None)
        if was_set_back(moments):
            first = last = None
            shell = msgspec.structs.replace(shell, modified=None)
            error = msgspec.structs.replace(error, time=None) if error is not None else None
            progress.at.clear()
        return msgspec.structs.replace(
            shell,
            named=named,
            first=None if first is None or last is None else min(first, last),
            last=last,
            step=progress.step,
            at_step=progress.at,
            step_seconds=step_seconds,
            data_seconds=data_seconds,
            complaint=complaint,
            error=error,
            collective=complaints.collective_of(lines, document.tracebacks),
            world=world,
            well=error is None and _ended_well(lines),
            named_absent=complaints.absent_in(lines),
            fingerprints=complaints.fingerprints_of(lines),
            end=next((line.text[:SHOWN] for line in reversed(lines) if line.text.strip()), ""),
        )

    def _error(self, document: Document, clock: Clock, stepped: int) -> tuple[Error | None, Complaint]:
        """Say with what error a rank ended: what the lines since its furthest step (and at least its last ones) tell, else all of them."""
        if not document.tracebacks and not _alarming("\n".join([line.text for line in document.lines])):
            return None, "none"
        last = tail_of(document, stepped)
        for part in (last, document) if last is not document else (document,):
            key = frozenset(_DIGITS.sub("#", line.text) for line in part.lines if _alarming(line.text))
            if key in self._alike:
                known = self._alike[key]
                if known is None:
                    continue
                identity, title, complaint, shape = known
                index = next((at for at in range(len(part.lines) - 1, -1, -1) if _DIGITS.sub("#", part.lines[at].text) == shape), len(part.lines) - 1)
                return error_at(part, index, identity, title, clock), complaint
            report = diagnosed(part, self.base)
            told = told_by(report, part, clock)
            if told is None:
                if len(key) < 200:
                    self._alike[key] = None
                continue
            error, complaint = told
            if complaint != "own" and len(key) < 200:
                self._alike[key] = (error.id, error.title, complaint, _DIGITS.sub("#", error.text))
            return error, complaint
        return None, "none"

    def _record(self, named: Named) -> list[Reading]:
        """Read the error.json that torchelastic's `record` leaves."""
        found = record_of(named.path)
        if found is None:
            return []
        text, moment = found
        document = intake.read(text.encode(), source=named.path, genre="log")
        told = told_by(diagnosed(document, self.base), document, Clock(moment or 0.0))
        if told is None:
            return []
        error = msgspec.structs.replace(told[0], time=moment)
        return [
            Reading(named, len(text), 1, last=moment, complaint=told[1], error=error, collective=complaints.collective_of((), document.tracebacks))
        ]


def _alarming(text: str) -> bool:
    low = text.lower()
    return any(word in low for word in _ALARMS)


def _is_shared(parts: dict[streams.Owner, list[Line]], named: Named) -> bool:
    """Tell whether many ranks write into a file: two and more are named in front of lines."""
    owners = [one for one in parts if one != streams.NOBODY]
    if len(owners) > 1:
        return True
    return bool(owners) and named.rank is None and owners[0].rank is not None and len(parts) > 1


def _ended_well(lines: Sequence[Line]) -> bool:
    """Tell whether a rank's last words are those of a program that is through; a saved checkpoint is not."""
    last = [line.text for line in lines[-20:] if line.text.strip()][-2:]
    return any(_WELL.search(text[:SHOWN]) for text in last)


def tail_of(document: Document, since: int) -> Document:
    """Give the last lines of a log as a document of its own.

    Args:
        document: the log.
        since: the number of a line behind which all belongs to the end, up to `MOST_LINES`; 0 where there is none.

    """
    least = len(document.lines) - LAST_LINES
    if least <= 0:
        return document
    at = bisect_left(document.lines, since, key=lambda line: line.number) if since else least
    lines = document.lines[max(min(at, least), len(document.lines) - MOST_LINES, 0) :]
    return Document(lines, tuple(tracebacks.parse(lines)), document.genre, document.source, document.total_lines, document.truncated)


def diagnosed(document: Document, base: Base) -> Report:
    """Diagnose a document."""
    from aifix import api

    return api.diagnose_document(document, base=base)


def told_by(report: Report, document: Document, clock: Clock) -> tuple[Error, Complaint] | None:
    """Read a rank's error off its report; None where nothing failed."""
    if not report.failed:
        return None
    if report.diagnoses:
        lead = report.diagnoses[0]
        proof = lead.evidence
        text = "\n".join(item.text for item in proof)
        complaint = complaints.complaint_of(lead.id, text, symptom=lead.symptom)
        if complaint == "lost" and complaints.complaint_of(lead.id, _around(document, proof[-1].line), symptom=lead.symptom) == "waited":
            complaint = "waited"
        number = proof[-1].line if proof else 0
        return msgspec.structs.replace(_error(document, number, lead.id, lead.title, clock), location=lead.location), complaint
    stranger = report.unknown
    if stranger is None:
        return None
    number = stranger.evidence[-1].line if stranger.evidence else 0
    message = " ".join(stranger.message.split())
    title = f"{stranger.kind}: {message}" if stranger.kind and message else stranger.kind or message or "failed"
    complaint = complaints.complaint_of(stranger.kind, title, symptom=False)
    error = _error(document, number, stranger.kind or "unknown", title, clock)
    return msgspec.structs.replace(error, location=stranger.location, known=False), complaint


def _around(document: Document, number: int) -> str:
    return "\n".join(line.text for line in document.lines if abs(line.number - number) <= 2)


def _error(document: Document, number: int, identity: str, title: str, clock: Clock) -> Error:
    index = next((at for at, line in enumerate(document.lines) if line.number == number), len(document.lines) - 1)
    return error_at(document, index, identity, title, clock)


def error_at(document: Document, index: int, identity: str, title: str, clock: Clock) -> Error:
    """Cite the line of an error, with the time that it or a line nearby names (of a traceback no line does)."""
    line = document.lines[index]
    moment = None
    for at in (index, *(place for step in range(1, NEAR) for place in (index - step, index + step))):
        if 0 <= at < len(document.lines):
            near = document.lines[at]
            moment = clock.read(near.prefix + near.text[:80])
            if moment is not None:
                break
    return Error(identity, title[:SHOWN], document.source, line.number, line.text[:SHOWN], time=moment)


def record_of(path: str) -> tuple[str, float | None] | None:
    """Read torchelastic's error file: the traceback (or message), and when it was written."""
    try:
        with open(path, "rb") as stream:
            given = msgspec.json.decode(stream.read(8 << 20))
    except (OSError, msgspec.DecodeError):
        return None
    message = given.get("message") if isinstance(given, dict) else None
    if isinstance(message, str):
        return message, None
    if not isinstance(message, dict):
        return None
    extra = message.get("extraInfo")
    extra = extra if isinstance(extra, dict) else {}
    moment = extra.get("timestamp")
    stack = extra.get("py_callstack")
    text = stack if isinstance(stack, str) else str(message.get("message", ""))
    try:
        return text, float(str(moment))
    except ValueError:
        return text, None
