"""Texts of the screens. Whatever stems from a log or a rule is sanitised here, and never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from aifix.show.layout import by_likeness, counted, name_ranks, recognised, sure
from aifix.show.safe import one_line, sanitise, sanitise_block
from aifix_tui.hanging import Hanging

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.kb.articles import Article
    from aifix.model import Action, Diagnosis, Evidence, Fix, FixTemplate, Report, Rule, Unknown
    from aifix_tui.case import Node

SIGNS = {"error": "✗", "warning": "▲", "info": "•"}
STYLES = {"error": "$text-error", "warning": "$text-warning", "info": "$text-accent"}
BRIEF = 110
"""Characters of a condition in a list."""
PROVEN = 2
"""Lines of proof that stand above the explanation."""
MUTED = "$foreground 60%"
PAGE = "¶"
"""Stands before the title of an article."""
Part = str | tuple[str, str]


def text(*parts: Part | Content) -> Hanging:
    """Join texts, some with a style, as they are; wrapped lines keep their indent."""
    return Hanging(Content.assemble(*parts))


def diagnoses(number: int) -> str:
    """Count diagnoses."""
    return "1 diagnosis" if number == 1 else f"{number:,} diagnoses"


def brief(condition: str) -> str:
    """Shorten a condition to what a list can take; the handbook shows it whole."""
    said = one_line(condition)
    return said if len(said) <= BRIEF else said[: BRIEF - 2].rstrip() + " …"


def paragraph(block: str, style: str = "") -> Content:
    """Give prose: its hard line ends are gone, its paragraphs stay."""
    kept = [" ".join(part.split()) for part in sanitise_block(block).split("\n\n")]
    return Content.styled("\n\n".join(part for part in kept if part), style)


def bar(share: float, width: int = 8) -> str:
    """Draw a share of 1."""
    full = round(max(0.0, min(share, 1.0)) * width)
    return "█" * full + "░" * (width - full)


def cost(effort: str, risk: str) -> str:
    """Say what a fix costs."""
    named = one_line(risk)
    return f"{effort} effort · no risk" if named in ("", "none") else f"{effort} effort · risk: {named}"


# ------------------------------------------------------------ the tree at the left


def node(one: Node, before: float | None = None) -> Hanging:
    """Give a diagnosis as it stands in the tree; `before` is its confidence before the probes spoke."""
    diagnosis = one.diagnosis
    indent = "  " * min(one.depth, 4)
    sign = "hint" if one.hint else "↳" if one.depth else SIGNS[diagnosis.severity]
    title = one_line(diagnosis.title) or sanitise(diagnosis.id)
    moved = "" if before is None or round(before, 2) == round(diagnosis.confidence, 2) else f" (was {round(before * 100)} %)"
    about = [sure(diagnosis.confidence) + moved, name_ranks(diagnosis.ranks), sanitise(diagnosis.id), "symptom" if diagnosis.symptom else ""]
    return text(
        indent,
        (f"{sign} ", STYLES[diagnosis.severity] + " bold"),
        (title, "bold" if one.depth == 0 else ""),
        "\n",
        (f"{indent}  " + " · ".join(part for part in about if part), MUTED),
    )


def verdict(report: Report, nodes: int) -> tuple[str, str]:
    """Say in one line what was found."""
    if report.unknown is not None:
        return "✗ failed, no rule knows why", "$text-error"
    if not report.failed:
        return "✓ nothing failed", "$text-success"
    if not nodes:
        return "✗ failed; the output does not say why", "$text-error"
    return f"✗ failed: {diagnoses(nodes)}", "$text-error"


# ------------------------------------------------------------ one diagnosis


def meaning(diagnosis: Diagnosis) -> Hanging:
    """Explain a diagnosis: what it means, where, and the values that were read."""
    parts: list[Part | Content] = [
        (one_line(diagnosis.title), "bold"),
        "\n",
        (_about(diagnosis), MUTED),
        "\n",
        *_proof(diagnosis.evidence),
        "\n",
        paragraph(diagnosis.explanation or "The rule has no explanation."),
    ]
    if diagnosis.location is not None:
        place = diagnosis.location
        parts += ["\n\n", ("at ", MUTED), (f"{sanitise(place.file)}:{place.line}", "bold")]
        if place.function:
            parts.append(f" in {sanitise(place.function)}")
        if place.source.strip():
            parts += ["\n    ", (one_line(place.source), "$text-accent")]
    if diagnosis.facts:
        parts.append(("\n\nFacts\n", "bold"))
        width = max(len(name) for name in diagnosis.facts)
        for name, fact in diagnosis.facts.items():
            said = one_line(str(fact.text))
            value = one_line(str(fact.value))
            exact = f"  = {value}{' ' + sanitise(fact.unit) if fact.unit else ''}" if fact.unit and value not in said else ""
            parts += [(f"  {sanitise(name):<{width}}  ", MUTED), said, (exact, MUTED), "\n"]
    parts += _references(diagnosis.references)
    return text(*parts)


def _proof(evidence: Iterable[Evidence]) -> list[Part | Content]:
    """Give the first lines of the proof whole, each wording once."""
    first: dict[str, Evidence] = {}
    for item in evidence:
        first.setdefault(item.text, item)
    parts: list[Part | Content] = []
    for item in list(first.values())[:PROVEN]:
        parts += [("\n▶ ", "bold"), (f"line {item.line}: ", MUTED), (sanitise(item.text).strip(), "bold")]
    return [*parts, "\n"]


def _references(references: Iterable[str]) -> list[Part | Content]:
    listed = list(references)
    return [("\n\nRead more\n", "bold"), *[f"  {sanitise(reference)}\n" for reference in listed]] if listed else []


def _about(diagnosis: Diagnosis) -> str:
    parts = [sanitise(diagnosis.id), sure(diagnosis.confidence), name_ranks(diagnosis.ranks), by_likeness(diagnosis.match)]
    if diagnosis.count > 1:
        parts.append(f"seen {counted(diagnosis.count, 'time')}")
    if diagnosis.transient:
        parts.append("may pass when started again")
    if diagnosis.caused_by:
        parts.append(f"because of {sanitise(diagnosis.caused_by)}")
    return " · ".join(part for part in parts if part)


def why(diagnosis: Diagnosis) -> Hanging:
    """Show how a diagnosis came about."""
    rows: list[tuple[str, str]] = [("rule", diagnosis.id), ("recognised", recognised(diagnosis.match)), ("signature", diagnosis.match.signature)]
    rows += [(f"line {item.line}", item.text) for item in diagnosis.evidence]
    parts: list[Part] = []
    for label, said in rows:
        parts += [(f"{sanitise(label):<11} ", MUTED), one_line(said), "\n"]
    if diagnosis.derivation:
        parts.append(("\nStep by step\n", "bold"))
        for step in diagnosis.derivation:
            parts += [(f"{sanitise(step.what):<11} ", MUTED), one_line(step.detail), "\n"]
    parts += [("\nConfidence ", "bold"), f"{bar(diagnosis.confidence)} {sure(diagnosis.confidence)} ({diagnosis.confidence:.2f})"]
    return text(*parts)


def unknown(said: Unknown) -> Hanging:
    """Say of a failure that no rule knows what was parsed, and what is near."""
    kind, message = sanitise(said.kind), one_line(said.message)
    parts: list[Part] = [
        (f"{kind}: {message}" if kind and message else kind or message or "the run failed", "bold"),
        ("\na failure that no rule of aifix knows\n", MUTED),
    ]
    for item in said.evidence:
        parts += [(f"\n{item.line:>6} │ ", MUTED), one_line(item.text)]
    if said.location is not None:
        parts.append(f"\n\nat {sanitise(said.location.file)}:{said.location.line}")
    if said.similar:
        parts.append(("\n\nNearly so called in your code", "bold"))
        for one in said.similar:
            parts.append(f"\n  ? {sanitise(one.name)}  {sanitise(one.location.file)}:{one.location.line}  {one_line(one.location.source)}")
    if said.nearest:
        parts.append(("\n\nNearest in wording (leads, no diagnoses)", "bold"))
        for near in said.nearest:
            parts += [f"\n  ? {sanitise(near.id)}: {one_line(near.title)} ", (f"({round(near.score * 100)} % alike)", MUTED)]
    return text(*parts)


# ------------------------------------------------------------ fixes


def copied(done: Iterable[Action], *, notes: bool = False) -> list[Action]:
    """Give the actions that can be copied; a patch's name is none."""
    return [action for action in done if str(action.kind) != "patch" and (notes or action.kind != "note")]


def actions(done: Iterable[Action]) -> list[Part]:
    """Give what is to be done: notes as prose, the rest as lines that can be copied."""
    parts: list[Part] = []
    for action in copied(done, notes=True):
        if action.kind == "note":
            parts.append("\n   " + one_line(action.text))
            continue
        label = {"command": "$ ", "env": "env ", "config": "set "}.get(action.kind, "  ")
        for number, line in enumerate(sanitise_block(action.text.strip("\n")).split("\n")):
            parts += [("\n   " + (label if number == 0 else " " * len(label)), MUTED), (line, "$text-accent")]
    return parts


def patches(one: Fix | FixTemplate) -> bool:
    """Tell whether aifix can make a patch of the user's code for a fix."""
    return any(str(action.kind) == "patch" for action in one.do)


def learned(diagnosis: Diagnosis) -> dict[str, str]:
    """Give what the history has taught about a diagnosis' fixes, by id: how often each worked, and what that did to its chance."""
    said = [step.detail.partition(" ") for step in diagnosis.derivation if step.what == "history"]
    return {name: words for name, _, words in said if words}


def fix(number: int, one: Fix, template: FixTemplate | None, past: str = "") -> Hanging:
    """Give a ranked fix of this case, with the condition that selected it, and what the history knows of it."""
    parts: list[Part] = [(f"{number}. ", "bold"), (one_line(one.title), "bold")]
    parts.append((f"\n   {bar(one.score, 5)} {cost(one.effort, one.risk)}", MUTED))
    if one.why:
        parts.append("\n   " + one_line(one.why))
    if past:
        parts.append((f"\n   history: {one_line(past).replace(' -> ', ' → ')}", "bold"))
    if template is not None and template.when:
        parts.append((f"\n   holds here: {brief(template.when)}", MUTED))
    hint: list[Part] = [("\n   v  shows it as a patch of your code", "bold")] if template is not None and patches(template) else []
    return text(*parts, *actions(one.do), *hint)


def left_out(one: FixTemplate, title: str) -> Hanging:
    """Give a fix of the rule that does not fit this case, with the condition that failed."""
    why_not = f"only when {brief(one.when)}" if one.when else "the log does not give the values that it needs"
    return text((f"–  {one_line(title)}\n   not offered here: {why_not}", MUTED))


def command_of(one: Fix | FixTemplate) -> str:
    """Give what is to be copied of a fix: its first command, else its first code or setting."""
    texts = [action.text for action in one.do if action.kind == "command"] or [action.text for action in copied(one.do)]
    return sanitise_block(texts[0].strip("\n")) if texts else ""


# ------------------------------------------------------------ the handbook


def rule_page(rule: Rule, printed: list[str]) -> Hanging:
    """Give a rule as a page; `rule` comes from `aifix.show.handbook.without_case`."""
    about = [rule.severity, "symptom of others" if rule.symptom else "", "may pass by itself" if rule.transient else "", ", ".join(rule.phase)]
    parts: list[Part | Content] = [
        (one_line(rule.title), "bold"),
        "\n",
        (sanitise(rule.id) + " · " + " · ".join(part for part in about if part), MUTED),
        "\n\n",
        paragraph(rule.explain),
    ]
    if printed:
        parts.append(("\n\nPrograms print\n", "bold"))
        parts += [(f"  “{one_line(one)}”\n", "") for one in printed[:6]]
        if len(printed) > 6:
            parts.append((f"  and {counted(len(printed) - 6, 'other wording')}\n", MUTED))
    if rule.fixes:
        parts.append(("\nFixes" if printed else "\n\nFixes", "bold"))
        for number, one in enumerate(rule.fixes, start=1):
            parts += [(f"\n{number}. ", "bold"), (one_line(one.title), "bold"), (f"\n   {cost(one.effort, one.risk)}", MUTED)]
            if one.why:
                parts.append("\n   " + one_line(one.why))
            if one.when:
                parts.append((f"\n   when: {one_line(one.when)}", MUTED))
            parts += actions(one.do)
            parts.append("\n")
    if rule.probes:
        parts.append(("\nChecks of the machine\n", "bold"))
        parts += [f"  aifix probe {sanitise(use.id)}\n" for use in rule.probes]
    parts += [sanitise(f"tagged {', '.join(rule.tags)}")] if rule.tags else []
    parts += _references(rule.references)
    return text(*parts)


def article_head(article: Article) -> Hanging:
    """Give what stands above an article's text."""
    about = " · ".join(["article", *map(one_line, article.topics)])
    return text((f"{PAGE} {one_line(article.title)}", "bold"), "\n", (about, MUTED), "\n\n", (one_line(article.summary), "italic"))
