"""The report as SARIF 2.1.0, for code-scanning views and editors."""

from __future__ import annotations

import json
import re
from importlib import metadata
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aifix.show.layout import name_ranks, sure
from aifix.show.safe import sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.model import Diagnosis, Evidence, Location, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
UNKNOWN = "aifix.unknown"


def dump(*reports: Report) -> bytes:
    """Encode reports as one SARIF log with a run for each, ending with a line feed."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report) for report in reports]}
    return json.dumps(log, indent=2, ensure_ascii=True).encode() + b"\n"


def _run(report: Report) -> dict[str, Any]:
    results = [_result(diagnosis, report.source, LEVELS[diagnosis.severity]) for diagnosis in report.diagnoses]
    results += [_result(hint, report.source, "note") for hint in report.hints]
    rules = {diagnosis.id: _rule(diagnosis) for diagnosis in [*report.diagnoses, *report.hints]}
    if report.unknown is not None:
        unknown = report.unknown
        rules[UNKNOWN] = {"id": UNKNOWN, "shortDescription": {"text": "A failure that no rule of aifix knows"}}
        results.append(
            {
                "ruleId": UNKNOWN,
                "level": "error",
                "message": {"text": sanitise_block(f"{unknown.kind}: {unknown.message}" if unknown.kind else unknown.message) or "The run failed."},
                **_places(unknown.location, unknown.evidence, report.source),
                "properties": {"nearest": [{"id": near.id, "score": near.score} for near in unknown.nearest]},
            }
        )
    order = list(rules)
    for result in results:
        result["ruleIndex"] = order.index(result["ruleId"])
    return {
        "tool": {"driver": {"name": "aifix", "version": _version(), "rules": list(rules.values())}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": results,
    }


def _result(diagnosis: Diagnosis, source: str, level: str) -> dict[str, Any]:
    parts = [f"{diagnosis.title} ({sure(diagnosis.confidence)})"]
    if diagnosis.ranks:
        parts[0] += f" on {name_ranks(diagnosis.ranks)}"
    if diagnosis.explanation.strip():
        parts.append(diagnosis.explanation.strip())
    parts += [f"{number}. {fix.title}" for number, fix in enumerate(diagnosis.fixes, start=1)]
    return {
        "ruleId": diagnosis.id,
        "level": level,
        "message": {"text": sanitise_block("\n".join(parts))},
        "occurrenceCount": max(diagnosis.count, 1),
        **_places(diagnosis.location, diagnosis.evidence, source),
        "properties": {
            "confidence": diagnosis.confidence,
            "symptom": diagnosis.symptom,
            "causedBy": diagnosis.caused_by,
            "ranks": list(diagnosis.ranks),
            "facts": {name: fact.text for name, fact in diagnosis.facts.items()},
            "fixes": [
                {
                    "id": fix.id,
                    "title": fix.title,
                    "score": fix.score,
                    "effort": fix.effort,
                    "risk": fix.risk,
                    "do": [action.text for action in fix.do if action.kind != "patch"],
                }
                for fix in diagnosis.fixes
            ],
        },
    }


def _rule(diagnosis: Diagnosis) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": diagnosis.id,
        "name": "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", diagnosis.id)),
        "shortDescription": {"text": sanitise(diagnosis.title) or diagnosis.id},
    }
    if diagnosis.references:
        rule["helpUri"] = diagnosis.references[0]
    return rule


def _places(location: Location | None, evidence: Iterable[Evidence], source: str) -> dict[str, Any]:
    """Place a result at the user's code where it is known, and at the log's lines otherwise."""
    log = [_place(source or "-", item.line, item.text) for item in evidence]
    code = [_place(location.file, location.line, location.source)] if location is not None else []
    places: dict[str, Any] = {"locations": code or log[:1]}
    related = log if code else log[1:]
    if related:
        places["relatedLocations"] = related
    return places


def _place(name: str, line: int, text: str) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(line, 1)}
    if text:
        region["snippet"] = {"text": sanitise(text)}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(name)}, "region": region}}


def _uri(name: str) -> str:
    name = "stdin" if name in ("-", "") else sanitise(name).replace("\\", "/")
    if re.match(r"[A-Za-z]:/", name):
        return "file:///" + name[:2] + quote(name[2:])
    return "file://" + quote(name) if name.startswith("/") else quote(name)


def _version() -> str:
    try:
        return metadata.version("aifix-kb")
    except metadata.PackageNotFoundError:  # run from a source tree that was never installed
        return "0"
