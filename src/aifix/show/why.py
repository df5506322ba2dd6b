"""How aifix came to a diagnosis: the rule, the signature, the lines, the facts, every condition, the probes, the confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aifix.show.layout import NARROWEST, Paint, Signs, display_width, hang, name_lines, name_ranks, recognised, signs_for, sure
from aifix.show.safe import fit_encoding, sanitise, sanitise_block
from aifix.show.terminal import no_articles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Diagnosis, Report, Unknown
    from aifix.show.terminal import Articles

MARGIN = "  "
LABEL = 12
"""Columns of the labels on the left."""


def render_why(report: Report, *, width: int, colour: bool, encoding: str = "utf-8", articles: Articles = no_articles) -> str:
    """Lay the derivation of every diagnosis and hint out as text that ends with a line feed.

    Args:
        report: What to derive.
        width: Columns of the terminal.
        colour: Whether to use colours.
        encoding: What the stream can print.
        articles: Gives the articles about a diagnosis, or near to an unknown failure.
    """
    page = _Derivation(max(width, NARROWEST), Paint(colour=colour), signs_for(encoding), articles)
    for diagnosis in report.diagnoses:
        page.diagnosis(diagnosis)
    for hint in report.hints:
        page.diagnosis(hint, kind="hint")
    if report.unknown is not None:
        page.unknown(report)
    if not page.out:
        page.out.append(
            "aifix: the run failed, and no error text was found" if report.failed else "aifix: nothing failed, so there is nothing to derive"
        )
    return fit_encoding("\n".join(page.out).strip("\n") + "\n", encoding)


class _Derivation:
    def __init__(self, width: int, paint: Paint, signs: Signs, articles: Articles) -> None:
        self.articles = articles
        self.width = width
        self.paint = paint
        self.signs = signs
        self.out: list[str] = []

    def diagnosis(self, diagnosis: Diagnosis, *, kind: str = "") -> None:
        self.out.append("")
        title = f"{sanitise(diagnosis.id)}: {sanitise(diagnosis.title)}" + (f" ({kind})" if kind else "")
        self.out += [self.paint.strong(line) for line in hang(title, self.width, "")]
        match = diagnosis.match
        self.row("recognised", recognised(match))
        self.row("signature", sanitise(match.signature), paint=self.paint.code)
        for item in diagnosis.evidence:
            self.row(f"line {item.line}", sanitise(item.text))
        if diagnosis.location is not None:
            place = diagnosis.location
            self.row("at", f"{sanitise(place.file)}:{place.line}" + (f" in {sanitise(place.function)}" if place.function else ""))
        if diagnosis.ranks:
            self.row("on", name_ranks(diagnosis.ranks))
        if diagnosis.count > 1:
            self.row("repeated", f"{diagnosis.count:,} times")
        if diagnosis.caused_by:
            self.row("because of", sanitise(diagnosis.caused_by))
        self.facts(diagnosis)
        self.steps(diagnosis)
        self.probes(diagnosis)
        self.section("confidence", f"{sure(diagnosis.confidence)} ({diagnosis.confidence:.2f})")
        self.fixes(diagnosis)
        self.read("read", diagnosis)

    def read(self, label: str, about: Diagnosis | Unknown) -> None:
        for name, title in self.articles(about):
            self.row(label, f"aifix kb show {sanitise(name)}  ({' '.join(sanitise_block(title).split())})")

    def row(self, label: str, text: str, paint: object = None) -> None:
        head = f"{MARGIN}{label:<{LABEL}} "
        lines = (
            hang(text, self.width, head, " " * (len(MARGIN) + LABEL + 1))
            if display_width(head) <= self.width // 2
            else [
                head.rstrip(),
                *hang(text, self.width, MARGIN * 2),
            ]
        )
        for line in lines:
            self.out.append(self.paint.dim(line[: len(head)]) + (paint(line[len(head) :]) if callable(paint) else line[len(head) :]))

    def section(self, title: str, text: str = "") -> None:
        self.out += [self.paint.strong(line) for line in hang(f"{title}: {text}" if text else title, self.width, MARGIN)]

    def facts(self, diagnosis: Diagnosis) -> None:
        if not diagnosis.facts:
            return
        self.section("facts")
        name_width = min(24, max(len(name) for name in diagnosis.facts))
        rows = []
        for name, fact in diagnosis.facts.items():
            value = _value(fact.value)
            text = sanitise(fact.text)
            unit = f" {sanitise(fact.unit)}" if fact.unit else ""
            read = f" = {value}{unit}" if value not in ("", text) else unit
            origin = f" ({sanitise(fact.origin)})" if fact.origin else ""
            rows.append(hang(f"{text}{read}{origin}", self.width, f"{MARGIN * 2}{sanitise(name):<{name_width}} "))
        self.out += [line for row in rows for line in row]

    def steps(self, diagnosis: Diagnosis) -> None:
        if not diagnosis.derivation:
            return
        self.section("derivation")
        for step in diagnosis.derivation:
            text = f"{sanitise(step.what)}: {' '.join(sanitise_block(step.detail).split())}" if step.detail else sanitise(step.what)
            self.out += hang(text, self.width, f"{MARGIN * 2}{self.signs.dot} ")

    def probes(self, diagnosis: Diagnosis) -> None:
        if not diagnosis.probes:
            return
        self.section("probes")
        for probe in diagnosis.probes:
            moved = f" (odds {self.signs.times} {probe.ratio:g})" if probe.ratio != 1 else ""
            text = f"{sanitise(probe.id)}: {probe.status.replace('-', ' ')}{moved}"
            if probe.summary:
                text += f" {self.signs.dash} {' '.join(sanitise_block(probe.summary).split())}"
            self.out += hang(text, self.width, f"{MARGIN * 2}{self.signs.dot} ")
            told = probe.data.get("evidence")
            for line in told if isinstance(told, list) else ():
                self.out += [self.paint.dim(part) for part in hang(sanitise(str(line)), self.width, MARGIN * 4)]
            for key, value in probe.data.items():
                if isinstance(value, (list, dict)) or value is None or value == "":
                    continue  # tables are for --format json
                self.out += [self.paint.dim(line) for line in hang(f"{sanitise(str(key))} = {_value(value)}", self.width, MARGIN * 4)]

    def fixes(self, diagnosis: Diagnosis) -> None:
        if not diagnosis.fixes:
            return
        self.section("fixes, by score")
        for fix in diagnosis.fixes:
            text = f"{fix.score:.2f}  {sanitise(fix.id)}: {sanitise(fix.title)}"
            self.out += hang(text, self.width, MARGIN * 2, MARGIN * 5)
            if fix.why:
                self.out += [self.paint.dim(line) for line in hang(" ".join(sanitise_block(fix.why).split()), self.width, MARGIN * 5)]

    def unknown(self, report: Report) -> None:
        unknown = report.unknown
        if unknown is None:
            return
        self.out.append("")
        self.out += [self.paint.strong(line) for line in hang(f"unknown: {sanitise(unknown.kind)}: {sanitise(unknown.message)}", self.width, "")]
        for item in unknown.evidence:
            self.row(f"line {item.line}", sanitise(item.text))
        for near in _sorted(unknown.nearest):
            self.row("near", f"{near.score:.2f}  {sanitise(near.id)}: {sanitise(near.title)}")
        self.read("perhaps", unknown)
        numbers = name_lines(item.line for item in unknown.evidence)
        self.row("no claim", f"no signature of the rule base matches {numbers or 'the error'}, and the nearest wording is not near enough")


def _sorted(nearest: Sequence[Any]) -> list[Any]:
    return sorted(nearest, key=lambda near: -near.score)


def _value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return sanitise(str(value))
