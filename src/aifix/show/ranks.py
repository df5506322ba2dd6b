"""What many ranks say together, for a person: the verdict, a timeline of the ranks, what else stands out, and the first rank's diagnosis."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from aifix.show import terminal
from aifix.show.layout import counted, display_width, hang, hang_parts, name_ranks
from aifix.show.page import MARGIN, Page
from aifix.show.safe import fit_encoding, sanitise
from aifix.supervise.words import duration, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.ranklogs.nouns import Rank, RanksReport, Role, Straggler

ROWS = 16
"""Ranks up to which each has a line of its own; of more, those that did the same share one."""
GROUPS = 24
STRAGGLERS = 6
NARROW_BAR = 10
_ORDER: dict[Role, int] = {"first": 0, "failed": 1, "missing": 2, "silent": 3, "unclear": 4, "follower": 5, "well": 6}
_WORDS: dict[Role, str] = {
    "first": "first",
    "failed": "failed too",
    "follower": "followed",
    "silent": "silent",
    "missing": "unheard",
    "well": "well",
    "unclear": "no error",
}
_SURE = {"proven": "proven by the logs", "likely": "likely", "open": "open: the logs leave room"}


def render(report: RanksReport, *, width: int, colour: bool, verbose: bool = False, encoding: str = "utf-8") -> str:
    """Lay a report of many ranks out as text that ends with a line feed.

    Args:
        report: what to say.
        width: columns of the terminal.
        colour: whether to use colours; nothing is said by colour alone.
        verbose: show every rank on a line of its own, all proof and all fixes.
        encoding: what the stream can print.
    """
    page = _Page(report, width=width, colour=colour, verbose=verbose, encoding=encoding)
    page.verdict()
    page.ranks()
    page.rest()
    page.advice()
    text = page.text()
    own = report.verdict.report
    if own is not None and report.verdict.ranks:
        speaker = "the launcher" if report.verdict.kind == "killed" else f"the log of rank {report.verdict.ranks[0]}"
        text += "\n" + page.paint.strong(f"what {speaker} says") + "\n"
        text += terminal.render(own, width=width, colour=colour, verbose=verbose, encoding=encoding)
    return fit_encoding(text, encoding)


class _Page(Page):
    """The lines as they are laid out."""

    def __init__(self, report: RanksReport, *, width: int, colour: bool, verbose: bool, encoding: str) -> None:
        super().__init__(width=width, colour=colour, verbose=verbose, encoding=encoding)
        self.report = report
        plain = self.signs.bar == "|"
        self.drawn = "-" if plain else "─"
        self.cut = "~" if plain else "…"
        self.marks: dict[Role, str] = {
            "first": self.signs.failed,
            "failed": "!",
            "follower": self.signs.then,
            "silent": self.cut,
            "missing": "?",
            "well": self.signs.held,
            "unclear": self.signs.dash,
        }

    def verdict(self) -> None:
        report = self.report
        found = report.verdict
        sign, paint = (self.signs.held, self.paint.good) if not report.failed else (self.signs.failed, self.paint.bad)
        self.out += [paint(line) for line in hang(sanitise(found.title), self.width, f"{sign} ")]
        known = len(report.ranks)
        of = f" of {report.world}" if report.world and report.world != known else ""
        parts = [f"{known:,}{of} ranks", report.layout, f"{counted(report.files, 'file')}, {size(report.bytes)}"]
        if report.failed:
            parts.insert(0, _SURE[found.certainty])
        self.out += [self.paint.dim(line) for line in hang_parts(parts, self.width, MARGIN, self.signs.dot)]
        if found.why:
            self.out.append("")
            self.out += [line for why in found.why for line in hang(sanitise(why), self.width, f"{MARGIN}{self.signs.dot} ")]
        first = next((rank for rank in report.ranks if rank.role == "first" and rank.error is not None), None)
        if first is not None and first.error is not None:
            error = first.error
            self.out += [self.paint.dim(line) for line in hang(f"{sanitise(error.file)}, line {error.line}", self.width, MARGIN + "  ")]

    # ------------------------------------------------------------ the timeline

    def ranks(self) -> None:
        rows = self.rows()
        if not rows:
            return
        start, end = self.report.start, self.report.end
        timed = start is not None and end is not None and end > start
        self.out.append("")
        if timed and start is not None and end is not None:
            day = _day(start) != _day(end)
            text = f"{_clock(start, day=day)} {self.signs.dash} {_clock(end, day=day)} ({duration(end - start)})"
            lines = hang(text + (" UTC" if self.report.clock == "log" else ""), self.width, f"{MARGIN}timeline  ")
            word = len(MARGIN) + len("timeline")
            self.out += [self.paint.strong(lines[0][:word]) + self.paint.dim(lines[0][word:]), *map(self.paint.dim, lines[1:])]
        else:
            self.out.append(self.paint.strong(f"{MARGIN}ranks"))
        names = [name for name, _, _ in rows]
        column = min(max(map(len, names)), max(12, self.width * 3 // 10))
        steps = [str(ranks[0].step) if ranks and ranks[0].step is not None else "" for _, ranks, _ in rows]
        stepped = max(len("step"), *map(len, steps)) if any(steps) else 0
        words = max(len(_WORDS[role]) for _, _, role in rows)
        fixed = len(MARGIN) + column + 1 + (stepped + 1 if stepped else 0) + words + 1
        rest = self.width - fixed
        bar = min(40, rest - max(22, rest // 2)) if timed else 0
        bar = bar if bar >= NARROW_BAR else 0
        head = f"{MARGIN}{'rank':<{column}} " + (f"{'':<{bar}} " if bar else "") + (f"{'step':>{stepped}} " if stepped else "")
        self.out.append(self.paint.dim(head.rstrip()))
        for (name, ranks, role), step in zip(rows, steps, strict=True):
            self.row(name, ranks, role, step, column=column, bar=bar, stepped=stepped, words=words)
        used = dict.fromkeys(role for _, _, role in rows)
        if bar:
            legend = [f"{self.marks[role]} {_WORDS[role]}" for role in used]
            self.out += [self.paint.dim(line) for line in hang_parts(legend, self.width, MARGIN, self.signs.dot)]

    def row(self, name: str, ranks: Sequence[Rank], role: Role, step: str, *, column: int, bar: int, stepped: int, words: int) -> None:
        name = self.shortened(name, column)
        drawn = self.bar(ranks, role, bar) + " " if bar else ""
        head = f"{MARGIN}{name:<{column}} {drawn}" + (f"{step:>{stepped}} " if stepped else "") + f"{_WORDS[role]:<{words}} "
        detail = sanitise(ranks[0].detail) if ranks else ""
        room = self.width - display_width(head)
        if display_width(detail) > room:
            lines = hang(detail, self.width, head) if room >= 20 else [head.rstrip(), *hang(detail, self.width, MARGIN * 3)]
        else:
            lines = [head + detail]
        paint = {"first": self.paint.bad, "failed": self.paint.warn, "silent": self.paint.warn, "missing": self.paint.warn}.get(role)
        if len(lines) > 3 and not self.verbose:
            lines = [*lines[:2], f"{lines[2][: self.width - 2]} {self.cut}"]
        self.out += [paint(line.rstrip()) if paint else line.rstrip() for line in lines]

    def shortened(self, name: str, column: int) -> str:
        """Cut a list of ranks; how many they are stays."""
        if len(name) <= column:
            return name
        listed, bracket, count = name.partition(" (")
        tail = f" {self.cut}{bracket}{count}" if bracket else self.cut
        return listed[: max(column - len(tail), 1)].rstrip(", ") + tail

    def bar(self, ranks: Sequence[Rank], role: Role, width: int) -> str:
        """Draw from a rank's first word to its last, with the sign of how it ended."""
        start, end = self.report.start, self.report.end
        lasts = [rank.last for rank in ranks if rank.last is not None]
        if start is None or end is None or not lasts:
            return self.marks[role].ljust(width)
        firsts = [rank.first for rank in ranks if rank.first is not None]
        scale = (width - 1) / max(end - start, 1e-9)
        left = round((min(firsts, default=start) - start) * scale)
        right = round((max(lasts) - start) * scale)
        left, right = max(0, min(left, width - 1)), max(0, min(right, width - 1))
        return (" " * left + self.drawn * (right - left) + self.marks[role]).ljust(width)[:width]

    def rows(self) -> list[tuple[str, list[Rank], Role]]:
        """Give each rank a line, or those that did the same one together."""
        report = self.report
        absent: list[tuple[str, list[Rank], Role]] = []
        if report.missing:
            absent = [(name_ranks(report.missing).partition(" ")[2], [], "missing")]
        if len(report.ranks) + len(absent) <= ROWS or self.verbose:
            return [(self.name(rank), [rank], rank.role) for rank in report.ranks] + absent
        groups: dict[tuple[Role, str], list[Rank]] = {}
        for rank in report.ranks:
            key = (rank.role, "" if rank.role == "silent" else rank.detail)
            groups.setdefault(key, []).append(rank)
        ordered = sorted(groups.items(), key=lambda item: (_ORDER[item[0][0]], item[1][0].rank))
        rows = [(name_ranks([rank.rank for rank in ranks if rank.rank is not None]).partition(" ")[2], ranks, role) for (role, _), ranks in ordered]
        rows = [(f"{name} ({len(ranks):,})" if len(ranks) > 2 else name, ranks, role) for name, ranks, role in rows]
        return rows[:GROUPS] + absent

    def name(self, rank: Rank) -> str:
        """Name a rank; its node, too, where there are several."""
        several = len({one.node for one in self.report.ranks if one.node}) > 1
        return f"{rank.rank} {sanitise(rank.node)}".strip() if several else f"{rank.rank}"

    # ------------------------------------------------------------ what else

    def rest(self) -> None:
        report = self.report
        lines: list[str] = []
        for measure, what in (("step", "a step"), ("data", "waiting for data, a step,")):
            slow = [one for one in report.stragglers if one.measure == measure]
            lines += self.slow(slow, what)
        for skew in report.skews:
            way = "ahead of" if skew.seconds > 0 else "behind"
            told = f"by {counted(skew.events, 'step')} that they share; taken off above"
            lines.append(f"the clock of {sanitise(skew.name)} is {duration(abs(skew.seconds))} {way} the others', {told}")
        if report.missing:
            asked = "" if report.shared else f": ask for {'it' if len(report.missing) == 1 else 'them'}"
            lines.append(f"{name_ranks(report.missing, report.world)} {'printed no line that names it' if report.shared else 'left no log'}{asked}")
        lines += [sanitise(note) for note in report.notes]
        if lines:
            self.out.append("")
            self.out += [line for text in lines for line in hang(text, self.width, f"{MARGIN}{self.signs.dot} ")]

    def advice(self) -> None:
        if not self.report.verdict.advice:
            return
        self.heading("next")
        for number, text in enumerate(self.report.verdict.advice, start=1):
            self.out += hang(text, self.width, f"{MARGIN}{number}. ")

    def slow(self, slow: Sequence[Straggler], what: str) -> list[str]:
        if not slow:
            return []
        shown = ", ".join(f"rank {one.rank} {_short(one.seconds)}" for one in slow[:STRAGGLERS])
        more = f" and {len(slow) - STRAGGLERS} more" if len(slow) > STRAGGLERS else ""
        return [f"slower than the others: {shown}{more} for {what} where {_short(slow[0].typical)} is usual"]


def _short(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _clock(moment: float, *, day: bool) -> str:
    when = dt.datetime.fromtimestamp(moment, dt.timezone.utc)
    return when.strftime("%m-%d %H:%M:%S" if day else "%H:%M:%S")


def _day(moment: float) -> int:
    return int(moment // 86400)
