"""Search over rules and articles: by words, by a pasted message, and in spite of typing errors."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

import pytest

from aifix import api
from aifix.kb import articles as library
from aifix.kb import index, search
from aifix.kb.search import Searcher
from aifix.rulebase import base as rulebase

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = [
    ("out of memory", "cuda.oom"),
    ("cuda.oom-limit", "cuda.oom-limit"),
    ("nccl timeout", "dist.nccl-timeout"),
    ("nccl timeout", "nccl-timeouts"),
    ("allocatr", "cuda-allocator"),
    ("pinned memry", "data.pin-memory"),
    ("dataloder workers", "dataloader-workers"),
    ("lable out of range", "data.label-range"),
    ("lodash", "npm.version-conflict"),
    ("device side assert", "device-side-assert"),
    ("how do I shrink the memory of training", "training-memory"),
    ("two versions of react", "npm.duplicate-react"),
    ("expected scalar type Float but found Half", "tensor.dtype-mismatch"),
    ("CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.65 GiB total capacity; 21.87 GiB already allocated)", "cuda.oom"),
]
"""What people type, and what must be among the first three."""


@pytest.fixture(scope="module")
def full() -> Searcher:
    found = index.load(api.rule_base(), library.load())
    assert isinstance(found, index.Full)
    return Searcher(found)


@pytest.fixture(scope="module")
def plain() -> Searcher:
    return Searcher(index.Plain(index.entries(api.rule_base(), library.load())))


@pytest.mark.parametrize(("query", "wanted"), QUESTIONS)
def test_what_is_meant_is_among_the_first_three(full: Searcher, query: str, wanted: str) -> None:
    assert wanted in [found.name for found in full.search(query, most=3)]


@pytest.mark.parametrize(("query", "wanted"), QUESTIONS)
def test_it_is_found_without_fts5_too(plain: Searcher, query: str, wanted: str) -> None:
    assert wanted in [found.name for found in plain.search(query, most=6)]


@pytest.mark.parametrize("searcher", ["full", "plain"])
def test_the_best_comes_first_and_shows_where_it_was_found(searcher: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(searcher).search("pinned memory")
    assert found[0].score == 1
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert search.START in found[0].snippet
    assert search.END in found[0].snippet


def test_one_kind_can_be_asked_for(full: Searcher) -> None:
    assert {one.kind for one in full.search("memory", most=40)} == {"article", "rule"}
    assert {one.kind for one in full.search("memory", kind="article")} == {"article"}
    assert {one.kind for one in full.search("memory", kind="rule")} == {"rule"}


@pytest.mark.parametrize("query", ["", "…", "zzzzqqqq wwwwvvvv", '"', "NEAR(", "a* OR -b", "x" * 5000, "'; DROP TABLE texts; --", "{title} : x"])
@pytest.mark.parametrize("searcher", ["full", "plain"])
def test_no_query_is_a_fault(searcher: str, query: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(searcher).search(query)
    assert all(one.title for one in found)


def test_a_stem_finds_its_forms(full: Searcher) -> None:
    assert "service-leaks" in [found.name for found in full.search("leaking services", most=4)]


def test_a_search_takes_milliseconds(full: Searcher) -> None:
    """A command has a quarter of a second of processor time; the interpreter and the rule base take a third of that."""
    full.search("pinned memry")
    started = time.process_time()
    for query, _ in QUESTIONS:
        full.search(query)
    assert (time.process_time() - started) / len(QUESTIONS) < 0.1


def test_the_index_is_made_once_and_again_when_its_contents_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIFIX_CACHE", str(tmp_path))
    rules, articles = api.rule_base(), library.load()
    base = rulebase.from_rules([rules["cuda.oom"]])
    index.load(base, articles)
    (first,) = tmp_path.glob("handbook-*.db")
    made = first.stat().st_mtime_ns
    index.load(base, articles)
    assert first.stat().st_mtime_ns == made
    for number, name in enumerate(list(articles)[:6]):  # as many projects with rules of their own
        found = index.load(base, library.Articles([articles[name]]))
        assert {entry.name for entry in found.entries} == {"cuda.oom", name}
        assert len(list(tmp_path.glob("handbook-*.db"))) == min(number + 2, index.KEPT)
    assert not first.exists()


@pytest.mark.parametrize("damage", [b"", b"SQLite format 3\x00 and then nothing", b"no database at all"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    monkeypatch.setenv("AIFIX_CACHE", str(tmp_path))
    base, articles = rulebase.from_rules([api.rule_base()["cuda.oom"]]), library.load()
    index.load(base, articles)
    (made,) = tmp_path.glob("handbook-*.db")
    made.write_bytes(damage)
    assert isinstance(index.load(base, articles), index.Full)
    assert made.stat().st_size > 100_000


def test_where_nothing_can_be_written_the_search_runs_from_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    monkeypatch.setenv("AIFIX_CACHE", str(file / "below"))  # below a file no folder can be made, not even by root
    found = index.load(api.rule_base(), library.Articles())
    assert isinstance(found, index.Plain)
    assert Searcher(found).search("cuda.oom")[0].name == "cuda.oom"


def test_the_file_is_an_ordinary_database(tmp_path: Path) -> None:
    listed = [index.Entry("rule", "a.b", "A title", "A summary.", "tag", "it broke", "why it broke")]
    assert index.write(listed, "mark", str(tmp_path / "x" / "handbook.db"))
    connection = sqlite3.connect(tmp_path / "x" / "handbook.db")
    assert connection.execute("SELECT kind, name FROM entry").fetchall() == [("rule", "a.b")]
    connection.close()


def test_markup_is_no_text() -> None:
    text = index.stripped("## Head\n\n```python\nx = [1]\n```\n\n| a | b |\n|---|---|\n| `c` | [d](rule:e.f) |\n")
    assert " ".join(text.split()) == "Head x = [1] a | b c | d"
