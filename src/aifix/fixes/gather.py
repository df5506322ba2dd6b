"""What a case learns beyond its log: the failing source, how the program was called, which package manager it lives under."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from aifix.fixes import command_line, source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Document, Similar, Unknown
    from aifix.probes.probing import Probing
    from aifix.reason.candidate import Candidate
    from aifix.reason.refine import Catalogues


class Gatherer:
    """Reads for each candidate of one report; what several of them share is read once."""

    def __init__(self, probe: Probing | None = None, catalogues: Catalogues = dict) -> None:
        self._catalogues = catalogues
        self._called: list[source.SourceFile] | None = None
        self.folders: tuple[str, ...] = ()
        self.argv: tuple[str, ...] = ()
        for producer in probe.producers if probe is not None else ():
            if "python" in os.path.basename(producer.exe):
                self.folders = (producer.cwd,)
                self.argv = tuple(part.decode("utf-8", "replace") for part in producer.argv.split(b"\0") if part)
                break
        self.local = probe is not None and probe.local

    def __call__(self, candidate: Candidate, document: Document) -> None:
        """Give a candidate its sources and what they and the command line say; the log's own facts stand."""
        sources = source.find(document, candidate.lines, self.places(document)) or self._script(document)
        candidate.sources = [item for item in sources if not item.changed]
        candidate.manager = lambda: self._manager(document, candidate)
        for name, fact in source.facts(sources, document, self.argv).items():
            candidate.facts.setdefault(name, fact)
        note = changed(sources)
        if note:
            candidate.facts.setdefault("source_changed", source.note(note))

    def similar(self, document: Document, unknown: Unknown) -> tuple[Similar, ...]:
        """Give names of the failing sources that are like one which an unknown error misses."""
        from aifix.fixes import similar

        return similar.similar(document, unknown, self.places(document))

    def _script(self, document: Document) -> list[source.SourceFile]:
        """Give the script that was called, where the log shows no frame of it; one that was saved after the log was made is not believed."""
        if self._called is None:
            self._called = []
            script = command_line.read(document, self.argv).script
            found = source.read(script, self.places(document)) if script.endswith(".py") else None
            if found is not None and not source.newer(found.mtime, document.source):
                self._called = [found]
        return self._called

    def places(self, document: Document) -> tuple[str, ...]:
        """Name the folders in which relative names may start: the process's own, the log file's."""
        beside = os.path.dirname(os.path.abspath(document.source)) if document.source not in {"", "-", "<stdin>"} else ""
        return tuple(folder for folder in (*self.folders, beside) if folder)

    def _manager(self, document: Document, candidate: Candidate) -> object:
        from aifix.fixes import manager

        folders = [os.path.dirname(item.path) for item in candidate.sources] + list(self.places(document)) + ([os.getcwd()] if self.local else [])
        return manager.detect(document, candidate.facts, folders, self._catalogues().get("torch_pairs"), self.argv[0] if self.argv else "")


def changed(sources: Sequence[source.SourceFile]) -> str:
    """Say which file no longer reads as the log says; empty when all do."""
    for item in sources:
        if item.changed:
            return f"{item.name} has changed since: line {item.changed} reads differently now"
    return ""
