"""The whole rule base: complete, well formed, and every example diagnosed as the rule that brings it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from aifix.rulebase import base as rulebase
from aifix.rulebase import compile as compiler
from aifix.rulebase import lint as linter
from aifix.rulebase import paths
from aifix.rulebase.check import failures

if TYPE_CHECKING:
    from aifix.model import Rule
    from aifix.rulebase.source import Loaded

RULES = Path(paths.rules_folder())
TAXONOMY = Path(__file__).parents[3] / "shared" / "taxonomy.yaml"


@pytest.fixture(scope="module")
def loaded() -> list[Loaded]:
    items, problems = compiler.load_folder(RULES)
    assert problems == []
    return items


@pytest.fixture(scope="module")
def known(loaded: list[Loaded]) -> dict[str, Rule]:
    return {item.rule.id: item.rule for item in loaded}


def test_every_file_stands_where_its_id_says(loaded: list[Loaded]) -> None:
    wrong = [item.file for item in loaded if Path(item.file) != RULES / item.rule.id.split(".")[0] / f"{item.rule.id.split('.', 1)[1]}.yaml"]
    assert wrong == []


def test_lint_finds_nothing(loaded: list[Loaded], known: dict[str, Rule]) -> None:
    assert [str(problem) for problem in linter.lint(loaded, known)] == []


def test_every_catalogue_has_a_source_and_entries() -> None:
    catalogues, problems = compiler.load_catalogues(RULES)
    assert problems == []
    for path in (RULES / "catalogues").glob("*.yaml"):
        data = yaml.safe_load(path.read_text("utf-8"))
        assert str(data["source"]).startswith("https://"), path
        assert data["date"], path
        assert catalogues[data["name"]], path
    assert len(catalogues["xid"]) >= 100


def test_every_example_is_diagnosed_as_its_rule_with_the_facts_named_there(loaded: list[Loaded]) -> None:
    started = time.process_time()
    catalogues, _ = compiler.load_catalogues(RULES)
    wrong = list(failures(loaded, rulebase.from_rules([item.rule for item in loaded], catalogues)))
    assert wrong == []
    assert time.process_time() - started < 60


@pytest.mark.skipif(not TAXONOMY.is_file(), reason="the taxonomy stands beside the repository only where it is developed")
def test_every_id_of_the_taxonomy_has_a_rule_of_full_depth(loaded: list[Loaded]) -> None:
    meant = {rule_id.rstrip("*"): rule_id.endswith("*") for family in yaml.safe_load(TAXONOMY.read_text("utf-8")).values() for rule_id in family}
    rules = {item.rule.id: item for item in loaded}
    assert sorted(set(meant) - set(rules)) == []
    shallow = [
        rule_id
        for rule_id in meant
        if len({example.text for example in rules[rule_id].examples}) < 2
        or not rules[rule_id].counterexamples
        or len(rules[rule_id].rule.fixes) < 3
        or not rules[rule_id].rule.references
    ]
    assert shallow == []
    assert [rule_id for rule_id, symptom in meant.items() if rules[rule_id].rule.symptom != symptom] == []
