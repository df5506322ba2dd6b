"""A rule file, as people write it: what is read, and how a mistake is told (file, line, column, reason)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.rulebase import paths
from aifix.rulebase.source import RuleError, load, loads, position, schema

GOOD = """\
id: cuda.oom
title: CUDA out of memory
explain: It ran out.
signatures:
  - pattern: 'CUDA out of memory\\. Tried to allocate {requested:bytes}'
    with: 'GPU {gpu}'
    within: 3
collect:
  - pattern: 'batch_size={batch:int}'
    within: all
facts:
  half: batch // 2
probes: [gpu.memory, {id: gpu.processes, confirmed: 9}]
examples: ['CUDA out of memory. Tried to allocate 1 GiB']
"""


def test_a_rule_is_read_with_its_captures_cores_and_defaults() -> None:
    rule = loads(GOOD).rule
    signature = rule.signatures[0]
    assert signature.types == {"requested": "bytes"}
    assert signature.cores == ("sCUDA out of memory. Tried to allocate ",)
    assert signature.having == ("GPU {gpu}",)
    assert signature.within == 3
    assert rule.collect[0].within is None
    assert rule.facts[0].name == "half"
    assert [(probe.id, probe.confirmed) for probe in rule.probes] == [("gpu.memory", 4.0), ("gpu.processes", 9.0)]


@pytest.mark.parametrize(
    ("change", "where", "reason"),
    [
        (("title: CUDA out of memory\n", ""), "<rule>:1:1", "missing required field `title`"),
        (("title: CUDA", "titel: CUDA"), "<rule>:", "unknown field `titel`"),
        (("within: 3", "within: soon"), "<rule>:7:5", "Invalid enum value"),
        (("id: cuda.oom", "id: Cuda OOM"), "<rule>:1:1", "matching regex"),
        (("{requested:bytes}", "{requested:octets}"), "<rule>:5:", "unknown capture type 'octets'"),
        (("Tried to", "(Tried to"), "<rule>:5:", "missing )"),
        (("'CUDA out", "'(?=CUDA) out"), "<rule>:5:", "not a linear-time regex"),
        (("'CUDA out", "'CUDA (?i)out"), "<rule>:5:", "global flags"),
        (("explain: It ran out.", "explain: {"), "<rule>:", "not valid YAML"),
        (("explain: It ran out.", "explain: &a [*a]"), "<rule>:3:14", "aliases"),
        (("explain: It ran out.", "explain: " + "[" * 20 + "]" * 20), "<rule>:3:", "nested deeper"),
        (("explain: It ran out.", "explain: 2024-13-40"), "<rule>", ""),
        (("It ran out.", "!!python/object/apply:os.system [touch owned]"), "<rule>:3:10", "tag"),  # nothing is executed,
        (("It ran out.", "!include /etc/passwd"), "<rule>:3:10", "tag"),  # and no file read
    ],
)
def test_a_mistake_is_told_with_its_place(change: tuple[str, str], where: str, reason: str) -> None:
    with pytest.raises(RuleError) as told:
        loads(GOOD.replace(*change))
    assert str(told.value).startswith(where)
    assert reason in str(told.value)


def test_a_file_that_cannot_be_read_is_told_too(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="cannot be read"):
        load(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RuleError, match="cannot be read"):
        load(tmp_path / "binary.yaml")


def test_positions_are_those_an_editor_shows() -> None:
    assert position(GOOD, "$.signatures[0].pattern") == (5, 5)
    assert position(GOOD, "$.facts") == (11, 1)


def test_the_published_schema_is_current() -> None:
    published = Path(paths.rules_folder(), "schema.json")
    assert json.loads(published.read_text("utf-8")) == schema(), "run: aifix schema rule > rules/schema.json"


@given(st.text(max_size=200))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with contextlib.suppress(RuleError):
        loads(text)
