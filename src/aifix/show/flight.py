"""What the flight recorders of many ranks say together, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from aifix.flight_recorder import words
from aifix.show.layout import counted, hang, hang_parts, name_ranks
from aifix.show.page import MARGIN, Page
from aifix.show.safe import sanitise

if TYPE_CHECKING:
    from aifix.flight_recorder.compare import Finding
    from aifix.flight_recorder.verdict import Flight

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
    page = _Page(flight, width=width, colour=colour, verbose=verbose, encoding=encoding)
    page.head()
    page.findings()
    page.groups()
    page.skipped()
    return page.text()


class _Page(Page):
    """The lines as they are laid out."""

    def __init__(self, flight: Flight, *, width: int, colour: bool, verbose: bool, encoding: str) -> None:
        super().__init__(width=width, colour=colour, verbose=verbose, encoding=encoding)
        self.flight = flight

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
        for number, finding in enumerate(self.shown(flight.findings, FINDINGS)):
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
            self.diagnosis(bare, flight.source)
        if len(self.shown(flight.findings, FINDINGS)) < len(flight.findings):
            self.out.append("")
        self.more(flight.findings, FINDINGS, margin="")

    def table(self, finding: Finding) -> None:
        """Show what each rank did; ranks that did the same share a row."""
        rows: dict[tuple[str, str, bool], list[int]] = {}
        for side in finding.sides:
            call = side.call or side.last
            where = words.place(call)
            rows.setdefault((words.side_words(side), where, side.rank in finding.culprits), []).append(side.rank)
        self.out.append("")
        order = sorted(rows.items(), key=lambda row: (not row[0][2], row[1]))
        for (what, where, blamed), ranks in self.shown(order, ROWS):
            name = name_ranks(ranks)
            head = f"{MARGIN}{name}: "
            lines = hang(sanitise(what), self.width, head, MARGIN * 3)
            self.out += [self.paint.strong(line) for line in lines] if blamed else lines
            if where:
                self.out.append(self.paint.dim(f"{MARGIN * 3}at {sanitise(where)}"))
        self.more(order, ROWS)

    def groups(self) -> None:
        """List the groups, where there is more than one."""
        groups = self.flight.groups
        if len(groups) < 2:
            return
        self.heading("groups")
        for group in self.shown(groups, GROUPS):
            named = "" if group.told else " (members seen, not named by the dumps)"
            self.line(f"{group.title}: {name_ranks(group.members)}{named}")
        self.more(groups, GROUPS)

    def skipped(self) -> None:
        """Name the files that were not read."""
        skipped = self.flight.skipped
        if not skipped:
            return
        self.out.append("")
        for one in self.shown(skipped, SKIPPED):
            self.out += [
                self.paint.warn(line) for line in hang(f"not read: {sanitise(one.file)}: {sanitise(one.why)}", self.width, MARGIN, MARGIN * 2)
            ]
        self.more(skipped, SKIPPED)
