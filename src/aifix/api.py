"""The public Python API: the same powers as the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from aifix.conclusion.of_log import conclude
from aifix.intake import document as intake
from aifix.match import context, exact, fuzzy
from aifix.match.keeper import Keeper
from aifix.reason import templates
from aifix.rulebase import base as rulebase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path  # late: its import takes longer than most diagnoses

    from aifix.conclusion.of_log import Examine
    from aifix.fixes.gather import Gatherer
    from aifix.kb.memory import Memory
    from aifix.model import Document, Genre, Location, Report, Traceback
    from aifix.probes.probing import Probing
    from aifix.reason.candidate import Candidate
    from aifix.reason.refine import Catalogues
    from aifix.rulebase.base import Base

CHUNK = 1 << 20
ENDINGS = (".log", ".txt", ".out", ".err")
"""How the names of logs end: a string of one word that ends so is no output of a run."""
NEAR = 40
"""Lines between a message without a traceback (a kernel's assert) and the traceback that belongs to it."""
_loaded: Base | None = None


def rule_base() -> Base:
    """Give the rule base, loaded once: the built-in rules and the user's own."""
    global _loaded  # noqa: PLW0603 - one base a process, loaded when first needed
    if _loaded is None:
        _loaded = rulebase.load()
    return _loaded


def diagnose(text_or_path: str | bytes | Path, *, base: Base | None = None, probe: Probing | None = None, memory: Memory | None = None) -> Report:
    """Diagnose the output of a run.

    Args:
        text_or_path: a path, the output as bytes, or as text (a string with a line feed in it, or that names no file).
        base: the rules to use; the built-in and the user's by default.
        probe: how to let this machine answer the diagnoses' suspicions, passively; not at all by default.
        memory: the history of incidents: it moves the chances of fixes, and tells when this failure was met before; none by default.

    Raises:
        OSError: a path that cannot be read; also a string that can only be the name of a file (`train.log`), where there is none.

    """
    if isinstance(text_or_path, bytes):
        return diagnose_blocks([(1, text_or_path)], base=base, probe=probe, memory=memory)
    if isinstance(text_or_path, os.PathLike) or _is_path(text_or_path):
        return diagnose_file(text_or_path, base=base, probe=probe, memory=memory)
    return diagnose_text(text_or_path, base=base, probe=probe, memory=memory)


def _is_path(text: str) -> bool:
    """Tell a path from the output of a run: it exists, or it is one word with an ending, which no error is."""
    if "\n" in text or len(text) >= 4096:
        return False
    return os.path.exists(text) or (len(text.split()) == 1 and text.endswith(ENDINGS))  # noqa: PTH110


def diagnose_text(
    text: str,
    *,
    source: str = "-",
    genre: Genre | None = None,
    base: Base | None = None,
    probe: Probing | None = None,
    memory: Memory | None = None,
) -> Report:
    """Diagnose a text; `genre` 'log' takes it as uttered even where it reads like a quotation."""
    return diagnose_blocks([(1, text.encode("utf-8", "surrogateescape"))], source=source, genre=genre, base=base, probe=probe, memory=memory)


def diagnose_file(path: str | Path, *, base: Base | None = None, probe: Probing | None = None, memory: Memory | None = None) -> Report:
    """Diagnose a log file of any size in bounded memory.

    Raises:
        OSError: it cannot be read.

    """
    document = read_file(path, base=base)
    return diagnose_document(document, base=base, probe=probe, memory=memory)


def read_file(path: str | Path, *, base: Base | None = None) -> Document:
    """Read and clean a log file, unpacked where it is compressed; of a large one only what a diagnosis can need.

    Raises:
        OSError: it cannot be read.

    """
    from aifix.intake import packed

    keeper = Keeper([core.encode() for core in (base or rule_base()).matcher.cores])
    with packed.opened(path) as stream:
        while data := stream.read(CHUNK):
            keeper.feed(data)
    return intake.read(keeper.blocks(), source=str(path))


def diagnose_blocks(
    blocks: Iterable[tuple[int, bytes]],
    *,
    source: str = "-",
    genre: Genre | None = None,
    base: Base | None = None,
    probe: Probing | None = None,
    memory: Memory | None = None,
) -> Report:
    """Diagnose blocks of raw input, each with the number of its first line."""
    return diagnose_document(intake.read(list(blocks), source=source, genre=genre), base=base, probe=probe, memory=memory)


def diagnose_document(document: Document, *, base: Base | None = None, probe: Probing | None = None, memory: Memory | None = None) -> Report:
    """Diagnose a cleaned document."""
    rules = base or rule_base()
    hits = context.fitting(exact.find(document, rules.matcher), document, rules)
    hits += context.fitting(fuzzy.find(document, rules, hits), document, rules)
    gather = _gatherer(document, rules, probe)
    report = conclude(document, hits, rules, lambda: rules.catalogues, locate=_locate, examine=_examiner(probe), gather=gather, experience=memory)
    if memory is not None:
        report = memory.recall(report)
    if report.unknown is None:
        return report
    lines = [item.text for item in report.unknown.evidence]
    near = tuple(msgspec.structs.replace(one, title=templates.bare(one.title)) for one in fuzzy.nearest(rules, lines))
    alike = gather.similar(document, report.unknown) if gather is not None else ()
    return msgspec.structs.replace(report, unknown=msgspec.structs.replace(report.unknown, nearest=near, similar=alike or msgspec.UNSET))


def _examiner(probe: Probing | None) -> Examine | None:
    """Bind the probes to the way in which this machine is to be looked at; they are imported only then."""
    if probe is None:
        return None

    def look(candidates: list[Candidate], document: Document, catalogues: Catalogues) -> None:
        from aifix.probes.examine import examine

        examine(candidates, document, catalogues, probe)

    return look


def _gatherer(document: Document, rules: Base, probe: Probing | None) -> Gatherer | None:
    """Let the failing source be read, where the document is a log and the environment does not forbid to look around."""
    if document.genre != "log" or os.environ.get("AIFIX_NO_PROBE"):
        return None
    from aifix.fixes.gather import Gatherer

    return Gatherer(probe, lambda: rules.catalogues)


def _callers(document: Document, traceback: Traceback, others: Collection[int]) -> Location | None:
    """Give the user's line from which a worker process was asked, where its own traceback shows libraries alone."""
    from aifix.intake.tracebacks import chains, location

    if traceback.relation != "worker" or any(frame.user for frame in traceback.frames):
        return None
    group = next((group for group in chains(document.tracebacks) if traceback in group), [])
    asked = [one for one in group if any(frame.user for frame in one.frames) and not any(line in others for line in range(one.start, one.end))]
    return location(asked) if asked else None


def _locate(document: Document, index: int, others: Collection[int] = ()) -> Location | None:
    """Give the innermost user frame of the failure at a line; never that of a traceback in which another failure was recognised."""
    from aifix.intake import stacks
    from aifix.intake.tracebacks import location

    chain = [traceback for traceback in document.tracebacks if traceback.start <= index < traceback.end]
    if not chain:
        rank = document.lines[index].rank
        near = [
            traceback
            for traceback in document.tracebacks
            if (0 <= traceback.start - index < NEAR or 0 <= index - traceback.end < NEAR)
            and (rank is None or traceback.rank in (None, rank))
            and not any(line in others for line in range(traceback.start, traceback.end))
        ]
        chain = near[:1]
    for traceback in chain:
        found = location(traceback)
        if found is not None:
            return _callers(document, traceback, others) or found
    return stacks.location(document.lines, index)
