from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix.show import handbook
from aifix_tui.handbook import Handbook

if TYPE_CHECKING:
    from aifix.rulebase.base import Base


@pytest.fixture
def book(small_base: Base) -> Handbook:
    return Handbook(small_base)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("out of memory", "cuda.oom"),
        ("cuda oom frag", "cuda.oom-fragmentation"),
        ("colective timout", "dist.nccl-timeout"),
        ("lodash", "npm.version-conflict"),
        ("same device", "tensor.device-mismatch"),
        ("ERESOLVE", "npm.version-conflict"),
        ("torchrn", "dist.child-failed"),
    ],
)
def test_search_finds_it_first(book: Handbook, query: str, first: str) -> None:
    assert book.search(query)[0].id == first


@pytest.mark.parametrize("query", ["", "   ", "?!", "zzzzqqqq"])
def test_search_finds_nothing_where_nothing_is_asked(book: Handbook, query: str) -> None:
    assert book.search(query) == []


def test_links_go_both_ways_and_take_globs(book: Handbook) -> None:
    assert set(book.links["dist.child-failed"].causes) == {"cuda.oom", "cuda.oom-fragmentation", "dist.nccl-timeout"}
    assert book.links["cuda.oom"].symptoms == ("dist.child-failed",)
    assert book.links["cuda.oom"].refined == ("cuda.oom-fragmentation",)
    assert book.links["cuda.oom-fragmentation"].refines == ("cuda.oom",)
    assert not book.links["npm.version-conflict"]


def test_a_page_has_no_holes(book: Handbook) -> None:
    page = book.page("cuda.oom")
    assert page.title == "CUDA out of memory"
    assert page.explain == "The GPU had no room left."
    assert book.printed("cuda.oom") == ["CUDA out of memory. Tried to allocate"]


def test_every_shipped_rule_makes_a_page() -> None:
    from aifix import api

    rules = api.rule_base()
    links = handbook.links(rules)
    for rule in rules.values():
        page = handbook.without_case(rule)
        assert page.title
        assert page.explain, rule.id
        for text in (page.title, *[fix.title for fix in page.fixes]):
            assert "[[" not in text, rule.id
        handbook.wordings(rule)
        assert rule.id in links
