from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.show.reports import OOM, REPORTS

from aifix.model import Evidence, Fact, Location, Report
from aifix.show import github, sarif, schema
from aifix.show.json import dump

SCHEMA = json.loads(schema.PATH.read_text(encoding="utf-8"))
ANY = st.text(st.characters(exclude_categories=()), max_size=60)


def with_text(text: str) -> Report:
    diagnosis = msgspec.structs.replace(
        OOM,
        title=text,
        evidence=(Evidence(1, text),),
        location=Location(text, 3, text, text),
        explanation=text,
        facts={"x": Fact(text, text)},
    )
    return Report(source=text, failed=True, diagnoses=(diagnosis,))


def test_schema_is_current() -> None:
    assert schema.PATH.read_text(encoding="utf-8") == schema.text(), "run python -m aifix.show.schema"
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_reports_are_valid(report: Report) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(dump(report)))


def test_keys_stand_in_the_published_order() -> None:
    shown = json.loads(dump(REPORTS["cascade"]))
    assert list(shown) == ["schema", "source", "failed", "diagnoses", "unknown", "hints"]
    assert shown["schema"] == "aifix.report/1"
    assert shown["unknown"] is None
    names = [
        "id",
        "title",
        "severity",
        "confidence",
        "symptom",
        "match",
        "evidence",
        "facts",
        "location",
        "ranks",
        "caused_by",
        "explanation",
        "probes",
        "fixes",
    ]
    assert list(shown["diagnoses"][0])[: len(names)] == names


def test_compact_form_is_one_line() -> None:
    assert dump(REPORTS["cascade"], indent=0).count(b"\n") == 1
    assert dump(REPORTS["cascade"], indent=-1).count(b"\n") == 1


@given(ANY)
def test_json_keeps_every_character_and_is_safe_to_print(text: str) -> None:
    encoded = dump(with_text(text))
    assert encoded.decode().replace("\n", "").isprintable()
    shown = json.loads(encoded)
    # JSON holds UTF-16: two surrogates that make a pair are one character again
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert shown["diagnoses"][0]["evidence"][0]["text"] == whole


@pytest.mark.parametrize("value", [2**70, -(2**64), float("inf"), float("nan"), (1, 2), 1.5, None, object()])
def test_json_takes_any_fact(value: object) -> None:
    report = Report(source="-", failed=True, diagnoses=(msgspec.structs.replace(OOM, facts={"x": Fact("x", value)}),))
    json.loads(dump(report))


def test_github_escapes() -> None:
    report = Report(
        source="-",
        failed=True,
        diagnoses=(msgspec.structs.replace(OOM, title="100 %: a, b", evidence=(Evidence(1, "50 %\nx"),), location=Location("/ci/work/a,b.py", 3)),),
    )
    shown = github.annotate(report, workspace="/ci/work")
    assert shown.startswith("::error file=a%2Cb.py,line=3,title=100 %25%3A a%2C b::cuda.oom, 97 %25 sure, rank 3%0Aline 1: 50 %25%0A")
    assert shown.count("\n") == 1


@given(ANY)
def test_github_commands_are_one_line_each(text: str) -> None:
    shown = github.annotate(with_text(text), workspace="")
    assert shown.count("\n") == 1
    assert shown[:-1].isprintable()


def test_github_levels(report: Report) -> None:
    lines = github.annotate(report, workspace="").splitlines()
    assert bool(lines) == (report.failed or bool(report.hints))
    kinds = [line.split(" ")[0] for line in lines]
    assert kinds == {"cascade": ["::error", "::notice", "::notice"], "healthy": []}.get(
        next(name for name, known in REPORTS.items() if known is report), kinds
    )
    assert "::error" in kinds or not report.failed


def test_sarif_shape(report: Report) -> None:
    log = json.loads(sarif.dump(report))
    assert log["version"] == "2.1.0"
    run = log["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(ids)) == len(ids)
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["message"]["text"]
        assert result["level"] in {"error", "warning", "note"}
        for place in result["locations"]:
            assert place["physicalLocation"]["region"]["startLine"] >= 1
    assert len(run["results"]) == len(report.diagnoses) + len(report.hints) + (report.unknown is not None)


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("train.py", "train.py"),
        ("/a b/train.py", "file:///a%20b/train.py"),
        (r"C:\code\train.py", "file:///C:/code/train.py"),
        ("-", "stdin"),
    ],
)
def test_sarif_places(name: str, uri: str) -> None:
    report = Report(source="-", failed=True, diagnoses=(msgspec.structs.replace(OOM, location=Location(name, 3)),))
    place = json.loads(sarif.dump(report))["runs"][0]["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == uri


@given(ANY)
def test_sarif_takes_any_text(text: str) -> None:
    json.loads(sarif.dump(with_text(text)))
