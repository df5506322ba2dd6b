"""The report for a person: read in ten seconds, below the piped output, at any width, with or without colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.show.commands import fix_command, log_name, rerun_command
from aifix.show.layout import (
    NARROWEST,
    Paint,
    Signs,
    by_likeness,
    counted,
    display_width,
    hang,
    hang_parts,
    name_lines,
    name_ranks,
    paragraphs,
    signs_for,
    sure,
)
from aifix.show.safe import fit_encoding, one_line, sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aifix.model import Action, Diagnosis, Evidence, Fact, Fix, Location, ProbeResult, Report, Unknown

    Articles = Callable[[Diagnosis | Unknown], Sequence[tuple[str, str]]]
    """Gives name and title of the articles about a diagnosis, or near to an unknown failure."""

EVIDENCE_SHOWN = 4
FIXES_SHOWN = 5
ROOTS_SHOWN = 3
HINTS_SHOWN = 3
MARGIN = "  "
_NOT_VALUES = ("source_changed", "batch_line", "smaller_command")
"""Facts read off the source that are texts: each stands where its fix, or its own line, shows it."""


def no_articles(_about: Diagnosis | Unknown) -> Sequence[tuple[str, str]]:
    """Know no article."""
    return ()


def render(
    report: Report,
    *,
    width: int,
    colour: bool,
    verbose: bool = False,
    lines: int | None = None,
    encoding: str = "utf-8",
    articles: Articles = no_articles,
    more: str = "",
) -> str:
    """Lay the report out as text that ends with a line feed.

    Args:
        report: What to say.
        width: Columns of the terminal. Only text that is meant to be copied is ever wider.
        colour: Whether to use colours.
        verbose: Show all evidence, fixes, reasons and references.
        lines: How many lines the input had, where known.
        encoding: What the stream can print; the signs fall back to ASCII, and other text to question marks.
        articles: Gives the articles about a diagnosis, or near to an unknown failure; asked only where they are shown.
        more: The command that says more about it; `aifix why` of the input by default.
    """
    page = _Page(max(width, NARROWEST), Paint(colour=colour), signs_for(encoding), articles, verbose=verbose)
    page.further = more or f"aifix why {log_name(report.source)}".rstrip()
    if report.diagnoses and report.failed:
        page.diagnoses(report)
    elif report.unknown is not None:
        page.unknown(report.unknown, report)
    elif report.failed:
        page.unexplained()
    else:
        name = log_name(report.source)
        seen = f" in {counted(lines, 'line')}" if lines is not None else f" in {name}" if name != "LOG" else ""
        page.add(page.paint.dim(f"aifix: nothing failed{seen}"))
    page.hints(report.hints)
    return fit_encoding("\n".join(page.out) + "\n", encoding)


def diagnosis_lines(
    diagnosis: Diagnosis, *, source: str, width: int, colour: bool, verbose: bool = False, encoding: str = "utf-8", articles: Articles = no_articles
) -> list[str]:
    """Lay one diagnosis out, as it stands in a report: for pages that show more around it."""
    from aifix.model import Report

    page = _Page(max(width, NARROWEST), Paint(colour=colour), signs_for(encoding), articles, verbose=verbose)
    page.diagnosis(diagnosis, Report(source=source, failed=True, diagnoses=(diagnosis,)), first=True)
    return page.out


class _Page:
    """The lines of a report as they are laid out."""

    def __init__(self, width: int, paint: Paint, signs: Signs, articles: Articles, *, verbose: bool) -> None:
        self.articles = articles
        self.width = width
        self.paint = paint
        self.signs = signs
        self.verbose = verbose
        self.out: list[str] = []
        self.further = ""

    def add(self, *lines: str) -> None:
        self.out.extend(lines)

    def heading(self, text: str) -> None:
        self.add(*[self.paint.strong(line) for line in hang(text, self.width, MARGIN)])

    def gap(self) -> None:
        if self.out and self.out[-1]:
            self.out.append("")

    # ------------------------------------------------------------ the whole

    def met(self, report: Report) -> None:
        """Say when the failure was met before, and what ended it."""
        if not report.history:
            return
        self.gap()
        for met in report.history:
            self.add(*[self.paint.warn(line) for line in hang(one_line(met.text), self.width, MARGIN)])

    def diagnoses(self, report: Report) -> None:
        ids = {diagnosis.id for diagnosis in report.diagnoses}
        roots = [diagnosis for diagnosis in report.diagnoses if diagnosis.caused_by not in ids or diagnosis.caused_by == diagnosis.id]
        roots = roots or [report.diagnoses[0]]
        told = {id(root) for root in roots}
        shown = roots if self.verbose else roots[:ROOTS_SHOWN]
        for number, root in enumerate(shown):
            self.add("")
            self.diagnosis(root, report, first=number == 0)
            self.consequences(root, report.diagnoses, told)
        for root in roots[len(shown) :]:
            self.add(*hang(_title(root), self.width, "also: "))
            self.add(*[self.paint.dim(line) for line in hang_parts(self.about(root), self.width, " " * 6, self.signs.dot)])
        self.gap()
        again = rerun_command(roots[0].id, report.source) if self.further.startswith("aifix why") else ""
        if again:
            self.add(*[self.paint.dim(line) for line in hang(again, self.width, "where it was made: ", "  ")])
        self.add(self.paint.dim(f"more: {self.further}"))

    def diagnosis(self, diagnosis: Diagnosis, report: Report, *, first: bool) -> None:
        error = diagnosis.severity == "error"
        sign, paint = (self.signs.failed, self.paint.bad) if error else (self.signs.warning, self.paint.warn)
        self.add(*[paint(line) for line in hang(_title(diagnosis), self.width, f"{sign} ")])
        self.add(*[self.paint.dim(line) for line in hang_parts(self.about(diagnosis), self.width, MARGIN, self.signs.dot)])
        self.evidence(diagnosis.evidence, [fact.text for fact in diagnosis.facts.values() if not fact.origin])
        self.location(diagnosis.location)
        self.read_off(diagnosis.facts)
        if diagnosis.explanation.strip():
            self.gap()
            self.add(*paragraphs(sanitise_block(diagnosis.explanation), self.width, MARGIN))
        self.probes(diagnosis.probes)
        if first:
            self.met(report)
        self.fixes(diagnosis.fixes, report.source, "" if first else diagnosis.id, reasons=first)
        if self.verbose and diagnosis.references:
            self.gap()
            self.add(*[self.paint.dim(f"{MARGIN}see {sanitise(reference)}") for reference in diagnosis.references])
        if self.verbose:
            self.read(self.articles(diagnosis))

    def read(self, articles: Sequence[tuple[str, str]]) -> None:
        """Name articles by the command that shows them."""
        if articles:
            self.gap()
        for name, title in articles:
            for line in hang(f"read: aifix kb show {sanitise(name)}  ({one_line(title)})", self.width, MARGIN, MARGIN + " " * 6):
                self.add(self.paint.dim(line))

    def about(self, diagnosis: Diagnosis) -> list[str]:
        """Say in short statements: id, confidence, how it was recognised, ranks, repeats, whether it may pass by itself."""
        parts = ["" if _title(diagnosis) == diagnosis.id else sanitise(diagnosis.id), sure(diagnosis.confidence), by_likeness(diagnosis.match)]
        parts.append(name_ranks(diagnosis.ranks, _world(diagnosis)))
        parts.append(_repeats(diagnosis))
        if diagnosis.transient:
            parts.append("may pass when started again")
        return parts

    # ------------------------------------------------------------ the parts of a diagnosis

    def evidence(self, evidence: Sequence[Evidence], facts: Sequence[str] = ()) -> None:
        if not evidence:
            return
        self.gap()
        shown = evidence if self.verbose else _telling(_first_of_each(evidence), facts)
        gutter = max(len(str(item.line)) for item in shown)
        bar = self.signs.bar
        blank = f"{MARGIN}{'':>{gutter}} {bar} "
        for item in shown:
            head = f"{MARGIN}{item.line:>{gutter}} {bar} "
            for line in hang(sanitise(item.text).rstrip(), self.width, head, blank):
                self.add(self.paint.dim(line[: len(head)]) + line[len(head) :])
        if len(evidence) > len(shown):
            rest = [item for item in evidence if item not in shown]
            numbers = name_lines(item.line for item in rest)
            self.add(*[self.paint.dim(line) for line in hang(f"{len(rest)} more: {numbers}", self.width, f"{MARGIN}{'':>{gutter}}   ")])

    def location(self, location: Location | None) -> None:
        if location is None:
            return
        self.gap()
        where = f"{sanitise(location.file)}:{location.line}"
        if location.function:
            where += f" in {sanitise(location.function)}"
        self.add(self.paint.strong(f"{MARGIN}at {where}"))  # never wrapped: terminals open it, people copy it
        if location.source.strip():
            self.code(location.source.strip())

    def read_off(self, facts: Mapping[str, Fact]) -> None:
        """Say what was read off the failing source and the command line, or that the source has changed since."""
        found: dict[tuple[str, str], list[str]] = {}
        for name, fact in facts.items():
            if fact.origin and name not in _NOT_VALUES:
                found.setdefault((fact.origin, fact.text), []).append(name)
        told = [f"{sanitise(_read_out(max(names, key=len), text))} ({sanitise(origin)})" for (origin, text), names in found.items()]
        if told:
            self.add(*[self.paint.dim(line) for line in hang_parts(told, self.width, "     ", self.signs.dot)])
        if "source_changed" in facts:
            self.add(*[self.paint.dim(line) for line in hang(sanitise(facts["source_changed"].text), self.width, "     ")])

    def code(self, text: str, indent: str = "     ") -> None:
        """Show text that is meant to be copied: as it is, on lines of its own, never wrapped."""
        for line in sanitise_block(text.strip("\n")).split("\n"):
            self.add(indent + self.paint.code(line) if line.strip() else "")

    def probes(self, probes: Sequence[ProbeResult]) -> None:
        shown = [probe for probe in probes if self.verbose or probe.status != "not-run"]
        if not shown:
            return
        self.gap()
        self.heading("on this machine")
        for probe in shown:
            sign, colour = {
                "confirmed": (self.signs.held, self.paint.good),
                "refuted": (self.signs.refuted, self.paint.warn),
                "inconclusive": (self.signs.unsure, self.paint.dim),
            }.get(probe.status, (self.signs.skipped, self.paint.dim))
            status = probe.status.replace("-", " ")
            summary = one_line(probe.summary)
            text = f"{sanitise(probe.id)} {status}" + (f": {summary}" if summary else "")
            lines = hang(text, self.width, f"{MARGIN}{sign} ")
            self.add(*([colour(line) for line in lines] if colour is self.paint.dim else [colour(lines[0][:3]) + lines[0][3:], *lines[1:]]))

    def fixes(self, fixes: Sequence[Fix], source: str, other: str = "", *, reasons: bool) -> None:
        if not fixes:
            return
        self.gap()
        self.heading("try, in this order" if len(fixes) > 1 else "try")
        shown = fixes if self.verbose else fixes[:FIXES_SHOWN]
        for number, fix in enumerate(shown, start=1):
            head = f"{MARGIN}{number}. "
            plain = hang(one_line(fix.title), self.width, head)
            lines = [self.paint.strong(line) for line in plain]
            tail = f"({_cost(fix)})"
            if display_width(plain[-1]) + 2 + display_width(tail) <= self.width:
                lines[-1] += f"  {self.paint.dim(tail)}"
            else:
                lines += [self.paint.dim(line) for line in hang(tail, self.width, " " * len(head))]
            self.add(*lines)
            if fix.why and (self.verbose or (reasons and number == 1)):
                self.add(*[self.paint.dim(line) for line in paragraphs(sanitise_block(fix.why), self.width, " " * len(head))])
            self.actions(fix.do, " " * len(head), fix_command(fix.id, source, other))
        if len(fixes) > len(shown):
            self.add(self.paint.dim(f"{MARGIN}{len(fixes) - len(shown)} more with --verbose"))

    def actions(self, actions: Iterable[Action], indent: str, patch: str = "") -> None:
        copied = False
        for action in actions:
            if copied:  # two things to copy are told apart by a blank line
                self.gap()
            copied = action.kind not in {"note", "patch"}
            if action.kind == "note":
                self.add(*paragraphs(sanitise_block(action.text), self.width, indent))
            elif action.kind == "patch":
                self.add(*([self.paint.dim(f"{indent}as a patch of your file: ") + self.paint.code(patch)] if patch else []))
            else:
                self.code(action.text, indent + "    ")

    def consequences(self, root: Diagnosis, diagnoses: Sequence[Diagnosis], told: set[int]) -> None:
        """List what followed from a root, each below what caused it."""
        following = self.followers(root, diagnoses, told, 0)
        if not following:
            return
        self.gap()
        self.heading("then, because of it")
        for diagnosis, depth in following:
            numbers = name_lines(item.line for item in diagnosis.evidence)
            where = [sanitise(diagnosis.id), name_ranks(diagnosis.ranks, _world(diagnosis)), numbers, _repeats(diagnosis)]
            head = f"{MARGIN}{'  ' * depth}{self.signs.then} "
            self.add(*hang(_title(diagnosis), self.width, head))
            self.add(*[self.paint.dim(line) for line in hang_parts(where, self.width, " " * display_width(head), self.signs.dot)])

    def followers(self, cause: Diagnosis, diagnoses: Sequence[Diagnosis], told: set[int], depth: int) -> list[tuple[Diagnosis, int]]:
        found: list[tuple[Diagnosis, int]] = []
        for diagnosis in diagnoses:
            if diagnosis.caused_by == cause.id and id(diagnosis) not in told:
                told.add(id(diagnosis))
                found.append((diagnosis, min(depth, 4)))
                found += self.followers(diagnosis, diagnoses, told, depth + 1)
        return found

    # ------------------------------------------------------------ the other endings

    def unknown(self, unknown: Unknown, report: Report) -> None:
        self.add("")
        text = sanitise(unknown.kind)
        message = one_line(unknown.message)
        title = f"{text}: {message}" if text and message else text or message or "the run failed"
        self.add(*[self.paint.bad(line) for line in hang(title, self.width, f"{self.signs.failed} ")])
        parts = ["a failure that no rule of aifix knows", name_ranks(unknown.ranks)]
        self.add(*[self.paint.dim(line) for line in hang_parts(parts, self.width, MARGIN, self.signs.dot)])
        self.evidence(unknown.evidence)
        self.location(unknown.location)
        self.met(report)
        if unknown.similar:
            self.gap()
            self.heading("nearly so called in your code")
            for one in unknown.similar:
                head = f"{MARGIN}{self.signs.unsure} {sanitise(one.name)}  "
                place = f"{sanitise(one.location.file)}:{one.location.line}"
                self.add(*hang(f"{place}  {one_line(one.location.source)}"[:400], self.width, head))
        if unknown.nearest:
            self.gap()
            self.heading("nearest in wording (leads, not diagnoses)")
            for near in unknown.nearest:
                like = f"{sanitise(near.id)}: {sanitise(near.title)} ({round(near.score * 100)} % alike)"
                self.add(*hang(like, self.width, f"{MARGIN}{self.signs.unsure} "))
        near_articles = self.articles(unknown)
        if near_articles:
            self.gap()
            self.heading("articles that may help (not about this very failure)")
            for name, title in near_articles:
                self.add(*hang(f"aifix kb show {sanitise(name)}  ({one_line(title)})", self.width, f"{MARGIN}{self.signs.unsure} "))
        self.gap()
        self.add(*hang("To teach aifix this failure, make a rule of the log:", self.width, MARGIN))
        log = log_name(report.source)
        self.code(f"aifix rules new ID < {log}" if log else "aifix rules new ID")

    def unexplained(self) -> None:
        self.add("")
        self.add(*[self.paint.bad(line) for line in hang("the run failed, and its output does not say why", self.width, f"{self.signs.failed} ")])
        advice = "No error text was found. Look at the program's own log files, or at the kernel's (dmesg), and pass them to aifix diagnose."
        self.add(*hang(advice, self.width, MARGIN))

    def hints(self, hints: Sequence[Diagnosis]) -> None:
        if not hints:
            return
        if len(self.out) > 1:
            self.gap()
        shown = hints if self.verbose else hints[:HINTS_SHOWN]
        for hint in shown:
            lines = hang(_title(hint), self.width, "hint: ")
            self.add(*([self.paint.warn(lines[0][:5]) + lines[0][5:], *lines[1:]]))
            where = [sanitise(hint.id), name_lines(item.line for item in hint.evidence), _repeats(hint)]
            self.add(*[self.paint.dim(line) for line in hang_parts(where, self.width, " " * 6, self.signs.dot)])
            if self.verbose and hint.explanation.strip():
                self.add(*[self.paint.dim(line) for line in paragraphs(sanitise_block(hint.explanation), self.width, " " * 6)])
            if self.verbose:
                for fix in hint.fixes[:1]:
                    self.add(*hang(one_line(fix.title), self.width, " " * 6))
                    self.actions(fix.do, " " * 6)
        if len(hints) > len(shown):
            self.add(self.paint.dim(f"{len(hints) - len(shown)} more hints with --verbose"))


def _first_of_each(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Keep the first of lines that say the same."""
    first: dict[str, Evidence] = {}
    for item in evidence:
        first.setdefault(item.text, item)
    return list(first.values())


def _telling(evidence: list[Evidence], facts: Sequence[str]) -> list[Evidence]:
    """Keep a few lines where there are many: one after the other the line that tells most facts that no other has told yet."""
    left = {text for text in facts if len(text) > 1}
    rest = list(evidence)
    kept: list[Evidence] = []
    while rest and len(kept) < EVIDENCE_SHOWN:
        best = max(rest, key=lambda item: sum(text in item.text for text in left))  # of equals the first
        kept.append(best)
        rest.remove(best)
        left = {text for text in left if text not in best.text}
    return [item for item in evidence if item in kept]


def _repeats(diagnosis: Diagnosis) -> str:
    """Say how often, where the line numbers do not tell."""
    return f"seen {counted(diagnosis.count, 'time')}" if diagnosis.count > max(1, len(diagnosis.evidence)) else ""


def _read_out(name: str, text: str) -> str:
    """Say a value that was read off the source: `batch_size 32`, `shuffle`, `no pin memory`, `gradients cleared`."""
    if text not in {"True", "False"}:
        return f"{name} {text}"
    if name == "clears_gradients":
        return "gradients cleared" if text == "True" else "gradients never cleared"
    return f"{'' if text == 'True' else 'no '}{name.replace('_', ' ')}"


def _title(diagnosis: Diagnosis) -> str:
    return one_line(diagnosis.title) or sanitise(diagnosis.id)


def _cost(fix: Fix) -> str:
    risk = one_line(fix.risk)
    return f"{fix.effort} effort, no risk" if risk in ("", "none") else f"{fix.effort} effort; risk: {risk}"


def _world(diagnosis: Diagnosis) -> int | None:
    """How many ranks the run had, where a fact tells."""
    for name in ("world_size", "world", "ranks"):
        fact = diagnosis.facts.get(name)
        if fact is not None and isinstance(fact.value, int) and not isinstance(fact.value, bool):
            return fact.value
    return None
