"""The published JSON Schema of the report, generated from the nouns: `python -m aifix.show.schema` writes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from aifix.model import Report

ADDED = {"history", "similar"}
"""Keys that came after the first reports of this form: a report may lack them."""
PATH = Path(__file__).with_name("report.schema.json")


def build() -> dict[str, Any]:
    """Derive the schema from `aifix.model.Report`."""
    schema = msgspec.json.schema(Report)
    definitions: dict[str, Any] = schema["$defs"]
    for name, definition in definitions.items():
        properties: dict[str, Any] = definition["properties"]
        if name != "Fact":  # the one noun that leaves its defaults out
            definition["required"] = [name for name in properties if name not in ADDED]
        for default in properties.values():
            default.pop("default", None)  # a default means nothing to a reader of reports
        for share in ("confidence", "score"):
            if share in properties:
                properties[share] = {"type": "number", "minimum": 0, "maximum": 1}
    definitions["Report"]["properties"]["schema"] = {"const": "aifix.report/1"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "aifix.report/1",
        "description": "What `aifix diagnose --format json` prints: root causes first, then by confidence; symptoms last.",
        "$ref": schema["$ref"],
        "$defs": definitions,
    }


def text() -> str:
    """Return the schema as the file has it."""
    return json.dumps(build(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
