"""What the flight recorders of many ranks say together, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from aifix.flight_recorder import words
from aifix.show import terminal
from aifix.show.layout import NARROWEST, Paint, counted, hang, hang_parts, name_ranks, signs_for
from aifix.show.safe import fit_encoding, sanitise

if TYPE_CHECKING:
    from aifix.flight_recorder.compare import Finding
    from aifix.flight_recorder.verdict import Flight

MARGIN = "  "
ROWS = 12
"""Rows of a finding's table; ranks that did the same share one."""
FINDINGS = 4
GROUPS = 12
SKIPPED = 5


def render(flight: Flight, *, width: int, colour: bool, verbose: bool = False, encoding: str = "utf-8") -> str:
    """Lay the verdict out as text that ends with a line feed.

    Args:
        flight: what was found.
        width: columns of the terminal.
        colour: whether to use colours; nothing is said by colour alone.
        verbose: show every rank, finding and fix.
        encoding: what the stream can print.
    """
    page = _Page(flight, max(width, NARROWEST), Paint(colour=colour), encoding, verbose=verbose)
    page.head()
    page.findings()
    page.groups()
    page.skipped()
    return fit_encoding("\n".join(page.out) + "\n", encoding)


class _Page:
    """The lines as they are laid out."""

    def __init__(self, flight: Flight, width: int, paint: Paint, encoding: str, *, verbose: bool) -> None:
        self.flight = flight
        self.width = width
        self.paint = paint
        self.encoding = encoding
        self.signs = signs_for(encoding)
        self.verbose = verbose
        self.out: list[str] = []

    def head(self) -> None:
        """Say what was read."""
        flight = self.flight
        ranks = [rank.rank for rank in flight.ranks]
        calls = sum(rank.calls for rank in flight.ranks)
        parts = [f"dumps of {name_ranks(ranks)}", counted(calls, "call"), counted(len(flight.groups), "group")]
        libraries = sorted({rank.library for rank in flight.ranks if rank.library})
        versions = sorted({rank.version for rank in flight.ranks})
        parts += [f"library {sanitise(', '.join(libraries))}"] if libraries else []
        parts.append(f"format {sanitise(', '.join(versions))}")
        self.out += [self.paint.dim(line) for line in hang_parts(parts, self.width, "aifix: ", self.signs.dot)]
        if flight.missing:
            self.out += [self.paint.warn(line) for line in hang(f"no dump of {name_ranks(flight.missing)}", self.width, "aifix: ")]
        wrapped = [rank.rank for rank in flight.ranks if rank.wrapped]
        if wrapped and self.verbose:
            self.out += hang(f"{name_ranks(wrapped)} recorded more calls than the buffer holds: the oldest are lost", self.width, "aifix: ")
        if not flight.findings:
            self.out += ["", *hang("the ranks agree in every call that the dumps hold", self.width, self.paint.good(self.signs.held) + " ", MARGIN)]

    def findings(self) -> None:
        """Show the findings, causes first, each with its diagnosis' fixes."""
        flight = self.flight
        diagnoses = iter(flight.diagnoses)
        shown = flight.findings if self.verbose else flight.findings[:FINDINGS]
        for number, finding in enumerate(shown):
            self.out.append("")
            diagnosis = next(diagnoses, None) if finding.failed else None
            title = sanitise(finding.title)
            following = finding.caused_by is not None
            sign = self.signs.then if following else self.signs.failed if finding.failed else self.signs.warning
            paint = self.paint.bad if finding.failed and not following else self.paint.warn
            self.out += [paint(line) for line in hang(title, self.width, f"{sign} ")]
            self.table(finding)
            if diagnosis is None or number > 0:
                self.out += ["", *hang(sanitise(finding.explanation), self.width, MARGIN)]
                continue
            bare = msgspec.structs.replace(diagnosis, evidence=(), title=diagnosis.title)
            lines = terminal.diagnosis_lines(
                bare, source=flight.source, width=self.width, colour=self.paint.colour, verbose=self.verbose, encoding=self.encoding
            )
            self.out += ["", *lines]
        if len(flight.findings) > len(shown):
            self.out += ["", self.paint.dim(f"{len(flight.findings) - len(shown)} more with --verbose")]

    def table(self, finding: Finding) -> None:
        """Show what each rank did; ranks that did the same share a row."""
        rows: dict[tuple[str, str, bool], list[int]] = {}
        for side in finding.sides:
            call = side.call or side.last
            where = words.place(call)
            rows.setdefault((words.side_words(side), where, side.rank in finding.culprits), []).append(side.rank)
        self.out.append("")
        order = sorted(rows.items(), key=lambda row: (not row[0][2], row[1]))
        for (what, where, blamed), ranks in order if self.verbose else order[:ROWS]:
            name = name_ranks(ranks)
            head = f"{MARGIN}{name}: "
            lines = hang(sanitise(what), self.width, head, MARGIN * 3)
            self.out += [self.paint.strong(line) for line in lines] if blamed else lines
            if where:
                self.out.append(self.paint.dim(f"{MARGIN * 3}at {sanitise(where)}"))
        if len(order) > ROWS and not self.verbose:
            self.out.append(self.paint.dim(f"{MARGIN}{len(order) - ROWS} more with --verbose"))

    def groups(self) -> None:
        """List the groups, where there is more than one."""
        groups = self.flight.groups
        if len(groups) < 2:
            return
        self.out += ["", self.paint.strong(f"{MARGIN}groups")]
        for group in groups if self.verbose else groups[:GROUPS]:
            named = "" if group.told else " (members seen, not named by the dumps)"
            self.out += hang(f"{sanitise(group.title)}: {name_ranks(group.members)}{named}", self.width, MARGIN, MARGIN * 2)
        if len(groups) > GROUPS and not self.verbose:
            self.out.append(self.paint.dim(f"{MARGIN}{len(groups) - GROUPS} more with --verbose"))

    def skipped(self) -> None:
        """Name the files that were not read."""
        skipped = self.flight.skipped
        if not skipped:
            return
        self.out.append("")
        for one in skipped if self.verbose else skipped[:SKIPPED]:
            self.out += [
                self.paint.warn(line) for line in hang(f"not read: {sanitise(one.file)}: {sanitise(one.why)}", self.width, MARGIN, MARGIN * 2)
            ]
        if len(skipped) > SKIPPED and not self.verbose:
            self.out.append(self.paint.dim(f"{MARGIN}{len(skipped) - SKIPPED} more with --verbose"))
