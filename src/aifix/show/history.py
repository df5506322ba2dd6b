"""The history for a person: a list, one incident, and what fails most, drawn in the terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aifix.show.layout import NARROWEST, Paint, counted, display_width, hang, paragraphs, signs_for
from aifix.show.safe import fit_encoding, sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.kb.figures import Group, Statistics
    from aifix.kb.nouns import Incident, Outcome
    from aifix.show.stream import Display

MARGIN = "  "
BLOCKS = " ▏▎▍▌▋▊▉█"
LEVELS = "▁▂▃▄▅▆▇█"
PACKAGES = 12
"""Packages of an incident that are named without --verbose."""


def render_list(found: Sequence[Incident], answers: dict[str, str], display: Display) -> str:
    """Lay out a list of incidents.

    Args:
        found: the incidents, newest first.
        answers: what ended an incident, by its uid.
        display: what the stream can show.

    """
    page = _Page(display)
    wide = max([len(str(one.number)) for one in found], default=1)
    for one in found:
        where = "" if one.origin == "here" else " (elsewhere)"
        head = f"{one.number:>{wide}}  {when(one.at)}  "
        name = sanitise(one.diagnosis) + where
        page.add(*hang(f"{name}: {sanitise(one.title)}", page.width, head))
        ended = answers.get(one.uid) or ("gone since " + when(one.ended_at) if one.ended_at else "")
        cost = duration(one.seconds) if one.seconds else ""
        tail = [sanitise(one.location), sanitise(one.command[:100]), sanitise(one.host), cost, sanitise(ended)]
        page.dim(*hang(f" {page.signs.dot} ".join(part for part in tail if part), page.width, " " * len(head)))
    return page.text()


def render_incident(one: Incident, outcomes: Sequence[Outcome], display: Display, *, met: Sequence[Incident] = (), verbose: bool = False) -> str:
    """Lay out everything that is known of an incident.

    Args:
        one: the incident.
        outcomes: what was said about its fixes.
        display: what the stream can show.
        met: the incidents of the same failure, itself among them, newest first.
        verbose: name all packages.

    """
    page = _Page(display)
    page.strong(*hang(f"{sanitise(one.diagnosis)}: {sanitise(one.title)}", page.width, f"{one.number}  "))
    page.row("when", f"{when(one.at)}, {'attempt ' + str(one.attempt) + ', ' if one.attempt > 1 else ''}{_how(one)}")
    page.row("host", one.host)
    page.row("command", one.command)
    page.row("in", one.folder)
    page.row("commit", one.revision[:12])
    page.row("at", one.location)
    page.row("took", duration(one.seconds) if one.seconds else "")
    page.row("exit status", "" if one.status is None else str(one.status))
    if len(met) > 1:
        others = ", ".join(str(other.number) for other in met if other.number != one.number)
        page.row(
            "met", f"{len(met)} times since {day(met[-1].at)} (also failure {others[:120]}), {duration(sum(other.seconds for other in met))} in all"
        )
    page.row("beside it", ", ".join(one.also))
    page.section("the lines that prove it", [f"{item.line}  {item.text}" for item in one.evidence])
    page.section("facts", [f"{name} = {fact.text}" for name, fact in one.facts.items()])
    page.section("this machine answered", [f"{probe.id} {probe.status}: {probe.summary}" for probe in one.probes if probe.status != "not-run"])
    said = {outcome.fix: outcome for outcome in outcomes}
    fixes = [
        f"{number}. {fix.id} ({fix.score:.2f}): {fix.title}{_said(said.pop(fix.id, None), page)}" for number, fix in enumerate(one.fixes, start=1)
    ]
    page.section("fixes that were offered", fixes)
    page.section("other fixes", [f"{outcome.fix}{_said(outcome, page)}" for outcome in said.values()])
    environment = one.environment
    page.section("environment", [part for part in (environment.system, f"Python {environment.python}" if environment.python else "") if part])
    page.items([f"driver {environment.driver}"] if environment.driver else [])
    page.items(environment.cards)
    page.items([f"{name}={value}" for name, value in environment.variables.items()])
    packages = [f"{name} {version}" for name, version in environment.packages.items()]
    page.items(packages if verbose else _telling(packages))
    if one.ended_at:
        page.section(f"gone since {when(one.ended_at)}", list(one.ended) or ["nothing that aifix watches had changed"])
    return page.text()


def render_statistics(figures: Statistics, display: Display) -> str:
    """Draw what fails most, where, when, and what it cost."""
    page = _Page(display)
    if not figures.count:
        page.add("The history is empty: nothing has failed yet, or AIFIX_NO_HISTORY is set.")
        return page.text()
    span = f"{day(figures.first)} to {day(figures.last)}"
    page.strong(f"{counted(figures.count, 'failure')}, {span}")
    page.add(f"{MARGIN}{duration(figures.seconds)} of runs that failed; {figures.ended:,} have ended well since")
    page.bars("what fails most", figures.diagnoses)
    page.bars("where", figures.places, places=True)
    if len(figures.hosts) > 1:
        page.bars("on which machine", figures.hosts)
    if any(figures.weeks):
        page.section(f"the last {len(figures.weeks)} weeks, a column each; this week at the right (most in one: {max(figures.weeks):,})", [])
        page.add(MARGIN + page.columns(figures.weeks))
    helped = [f"{item.diagnosis}: {item.fix} worked {item.worked} of {item.tried} times" for item in figures.fixes]
    page.section("what helped", helped)
    return page.text()


class _Page:
    """Lines as they are laid out."""

    def __init__(self, display: Display) -> None:
        self.width = max(display.width, NARROWEST)
        self.paint = Paint(colour=display.colour)
        self.signs = signs_for(display.encoding)
        self.encoding = display.encoding
        self._out: list[str] = []

    def text(self) -> str:
        return fit_encoding("\n".join(self._out) + "\n" if self._out else "", self.encoding)

    def add(self, *lines: str) -> None:
        self._out.extend(lines)

    def strong(self, *lines: str) -> None:
        self.add(*map(self.paint.strong, lines))

    def dim(self, *lines: str) -> None:
        self.add(*map(self.paint.dim, lines))

    def row(self, name: str, text: str) -> None:
        if text:
            self.add(*hang(sanitise(text), self.width, f"{MARGIN}{name:<12}"))

    def section(self, title: str, lines: Sequence[str]) -> None:
        if lines or title.startswith("the last"):
            self.add("")
            self.strong(*hang(title, self.width, MARGIN))
        self.items(lines)

    def items(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.add(*paragraphs(sanitise_block(line), self.width, MARGIN * 2))

    def bars(self, title: str, groups: Sequence[Group], *, places: bool = False) -> None:
        """Draw a bar for each group, as long as its share of the largest, with its count and cost."""
        named = [(self.short(self.name(group, places=places)), group) for group in groups]
        if not named:
            return
        self.add("")
        self.strong(MARGIN + title)
        wide = max(display_width(name) for name, _ in named)
        numbers = max(len(f"{group.count:,}") for _, group in named)
        costs = {id(group): duration(group.seconds) if group.seconds else "" for _, group in named}
        room = self.width - len(MARGIN) * 2 - wide - numbers - 3 - max(map(len, costs.values())) - 2
        most = max(group.count for _, group in named)
        for name, group in named:
            bar = self.bar(group.count / most, max(room, 4))
            blank = " " * (wide - display_width(name) + 2)
            self.add(f"{MARGIN * 2}{name}{blank}{group.count:>{numbers},} {self.paint.warn(bar)}  {self.paint.dim(costs[id(group)])}".rstrip())

    def name(self, group: Group, *, places: bool) -> str:
        if not places:
            return sanitise(group.name) or "?"
        return f"{sanitise(group.name) or 'no place in your code'} ({sanitise(group.diagnosis)})"

    def short(self, name: str) -> str:
        """Cut the middle of what takes more than half a line."""
        room = max(self.width // 2, 12)
        return name if display_width(name) <= room else name[: room // 2 - 1] + "…" + name[-(room - room // 2 - 1) :]

    def bar(self, share: float, room: int) -> str:
        if self.signs.bar == "|":
            return "#" * max(1, round(share * room))
        eighths = max(1, round(share * room * 8))
        return BLOCKS[8] * (eighths // 8) + BLOCKS[eighths % 8].strip()

    def columns(self, counts: Sequence[int]) -> str:
        most = max(counts)
        if self.signs.bar == "|":
            return " ".join(str(count) if count else "." for count in counts)
        return "".join(LEVELS[min(7, (count * 8 - 1) // most)] if count else " " for count in counts)


def _how(one: Incident) -> str:
    named = {"pipe": "seen in the pipe", "run": "under aifix run", "diagnose": "read from a file"}[one.how]
    return named if one.origin != "elsewhere" else f"{named}, a run on another machine"


def _said(outcome: Outcome | None, page: _Page) -> str:
    if outcome is None:
        return ""
    sign, words = (page.signs.held, "ended it") if outcome.worked else (page.signs.refuted, "did not help")
    return f" {sign} {words}, {day(outcome.at)}" + (f" ({outcome.note})" if outcome.note else "")


def _telling(packages: list[str]) -> list[str]:
    """Name the packages that matter most often, and how many others there are."""
    known = (
        "torch ",
        "torchvision ",
        "numpy ",
        "transformers ",
        "accelerate ",
        "deepspeed ",
        "vllm ",
        "triton ",
        "jax ",
        "jaxlib ",
        "tensorflow ",
        "peft ",
    )
    chosen = [package for package in packages if package.startswith(known)][:PACKAGES]
    left = len(packages) - len(chosen)
    return [*chosen, f"{counted(left, 'package')} more with --verbose"] if left else chosen


def when(at: float | None) -> str:
    """Say a time as a list does."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at or 0))


def day(at: float) -> str:
    """Say a day as a list does."""
    return time.strftime("%Y-%m-%d", time.localtime(at))


def duration(seconds: float) -> str:
    """Say a length of time, days too."""
    if seconds >= 2 * 86400:
        return f"{seconds / 86400:.1f} days"
    from aifix.supervise.words import duration as words

    return words(seconds)
