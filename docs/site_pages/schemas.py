"""References of the report and of a rule file, out of their JSON Schemas, and of the probes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aifix.probes import registry
from aifix.rulebase.source import schema as rule_schema
from aifix.show import markdown
from aifix.show.schema import build as report_schema
from site_pages.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator

REPORT = "reference/report.md"
RULE = "reference/rule.md"
PROBES = "reference/probes.md"


def pages() -> Iterator[Page]:
    """Give the reference pages."""
    intro = "What `aifix diagnose --format json` prints, and what `aifix.diagnose()` returns as typed objects. Root causes come first, symptoms last."
    yield Page(REPORT, "The report (JSON)", _reference("The report", intro, report_schema(), "aifix schema", "report.schema.json"))
    intro = "The fields of a rule file. [How they are used](rule-format.md), and [how to write one](../from-log-to-rule.md)."
    yield Page(RULE, "Fields of a rule", _reference("Fields of a rule", intro, rule_schema(), "aifix schema rule", "rule.schema.json"))
    yield _probes()


def files() -> dict[str, str]:
    """Give the schemas as the pages offer them."""
    return {
        "reference/report.schema.json": json.dumps(report_schema(), indent=2, ensure_ascii=False) + "\n",
        "reference/rule.schema.json": json.dumps(rule_schema(), indent=2, ensure_ascii=False) + "\n",
    }


def _reference(title: str, intro: str, schema: dict[str, Any], command: str, file: str) -> str:
    parts = [f"# {title}", intro, f"The schema itself: [{file}]({file}), or {markdown.code(command)}."]
    definitions: dict[str, dict[str, Any]] = schema["$defs"]
    first = schema["$ref"].rpartition("/")[2]
    for name in [first, *(name for name in definitions if name != first)]:
        definition = definitions[name]
        parts.append(f"## {_shown(name)}")
        parts += [markdown.spans(part) for part in str(definition.get("description", "")).split("\n\n") if part.strip()]
        required = definition.get("required", [])
        rows = [
            f"| {markdown.code(field)} | {_type(about)} | {'always' if field in required else _default(about)} |"
            for field, about in definition.get("properties", {}).items()
        ]
        if rows:
            parts.append("\n".join(["| field | type | given |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def _shown(name: str) -> str:
    return name.removesuffix("Source") or name


def _default(about: dict[str, Any]) -> str:
    default = about.get("default")
    return "may be missing" if default in (None, "", [], {}) else "default " + markdown.code(json.dumps(default))


def _type(about: dict[str, Any]) -> str:
    """Say in words what a field holds; nouns link to their section."""
    if "$ref" in about:
        name = _shown(about["$ref"].rpartition("/")[2])
        return f"[{name}](#{name.lower()})"
    if "anyOf" in about:
        return " or ".join(dict.fromkeys(_type(one) for one in about["anyOf"]))
    if "const" in about:
        return markdown.code(json.dumps(about["const"]))
    if "enum" in about:
        return "one of " + ", ".join(markdown.code(str(one)) for one in about["enum"])
    kind = about.get("type")
    if kind == "array":
        return "list of " + _type(about["items"]) if about.get("items") else "list"
    if kind == "object":
        inside = about.get("additionalProperties")
        return "names to " + _type(inside) if isinstance(inside, dict) and inside else "object"
    bounds = [f"{words} {about[key]}" for key, words in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to")) if key in about]
    return " ".join([str(kind or "any value"), *bounds])


def _probes() -> Page:
    rows = []
    for probe in registry.PROBES:
        needs = markdown.code(probe.needs) if probe.needs else ""
        rows.append(f"| {markdown.code(probe.id)} | {markdown.spans(probe.question)} | {'active' if probe.active else 'passive'} | {needs} |")
    families = ", ".join(markdown.code(name) for name in registry.families())
    text = f"""# Checks of this machine

Each probe answers one question with evidence. Passive ones read, within half a second for all of them, and run by themselves after a
failure in the pipe; active ones run something and only when asked for: [`aifix probe`](../commands/probe.md) takes an id, or a family
({families}).

| probe | question | kind | needs |
|---|---|---|---|
{chr(10).join(rows)}
"""
    return Page(PROBES, "Checks of this machine", text)
