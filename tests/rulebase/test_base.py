"""The base in memory: compiled once, rebuilt when stale, bypassed when it cannot be written; the user's rules over it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifix import api
from aifix.match import keeper
from aifix.rulebase import base as rulebase
from aifix.rulebase import compile as compiler
from aifix.rulebase import paths

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = """\
id: {id}
title: My own
explain: Mine.
signatures: [{{pattern: '{pattern}'}}]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIFIX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("AIFIX_CONFIG", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own(home: Path, name: str, text: str) -> None:
    folder = home / ".aifix" / "rules"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")


@pytest.mark.usefixtures("home")
def test_the_compiled_base_equals_its_yaml() -> None:
    base = rulebase.load()
    loaded, problems = compiler.load_folder(Path(paths.rules_folder()))
    assert problems == []
    assert {item.rule.id: item.rule for item in loaded} == dict(base)


@pytest.mark.skipif(not paths.is_checkout(), reason="an installed aifix ships its base compiled")
@pytest.mark.parametrize("damage", [b"", b"{", b'{"format": 1, "fingerprint": "", "cores": [], "signatures": []}', None])
@pytest.mark.parametrize("name", ["matcher.json", "texts.json"])
@pytest.mark.usefixtures("home")
def test_a_damaged_foreign_or_missing_cache_is_rebuilt(name: str, damage: bytes | None) -> None:
    whole = len(rulebase.load())
    file = Path(paths.compiled_folder(), name)
    assert file.is_file()
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)
    assert len(rulebase.load()) == whole


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.name == "nt", reason="POSIX permissions")
def test_an_unwritable_cache_is_bypassed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "file").write_text("not a folder")
    monkeypatch.setenv("AIFIX_CACHE", str(home / "file"))
    assert len(rulebase.load()) > 0


def test_a_user_rule_is_used_and_cached_and_a_changed_one_is_read_again(home: Path) -> None:
    own(home, "mine.yaml", RULE.format(id="mine.own", pattern="the flux capacitor failed"))
    for _ in range(2):
        base = rulebase.load()
        assert api.diagnose_text("the flux capacitor failed", genre="log", base=base).diagnoses[0].id == "mine.own"
        assert base.messages == ()
    own(home, "mine.yaml", RULE.format(id="mine.own", pattern="the warp drive failed"))
    base = rulebase.load()
    assert api.diagnose_text("the flux capacitor failed", genre="log", base=base).diagnoses == ()
    assert api.diagnose_text("the warp drive failed", genre="log", base=base).diagnoses[0].id == "mine.own"


def test_a_user_rule_may_override_a_built_in_one_and_says_so(home: Path) -> None:
    own(home, "oom.yaml", RULE.format(id="cuda.oom", pattern="my very own out of memory"))
    base = rulebase.load()
    assert base["cuda.oom"].title == "My own"
    assert any("cuda.oom" in message and "overrides" in message for message in base.messages)
    assert api.diagnose_text("my very own out of memory", genre="log", base=base).diagnoses[0].id == "cuda.oom"


def test_a_broken_user_rule_is_named_and_the_rest_still_works(home: Path) -> None:
    own(home, "broken.yaml", "id: [1, 2\n")
    own(home, "good.yaml", RULE.format(id="mine.own", pattern="the flux capacitor failed"))
    base = rulebase.load()
    assert any("broken.yaml:" in message and "not valid YAML" in message for message in base.messages)
    assert "mine.own" in base
    assert "cuda.oom" in base


def test_an_installed_rule_pack_is_found_by_its_metadata_and_never_imported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = home / "site-packages"
    (site / "pack").mkdir(parents=True)
    (site / "pack" / "__init__.py").write_text("raise SystemExit('a rule pack was imported')")
    (site / "pack" / "rules").mkdir()
    (site / "pack" / "rules" / "x.yaml").write_text(RULE.format(id="pack.own", pattern="the packed error text"))
    (site / "pack-1.0.dist-info").mkdir()
    (site / "pack-1.0.dist-info" / "entry_points.txt").write_text("[aifix.rules]\nmine = pack:rules\n")
    monkeypatch.syspath_prepend(str(site))
    assert rulebase.load()["pack.own"].origin == "rule pack mine"
    assert keeper.load() == b"", "the compiled cores do not know it, so nothing is healthy at once"


def test_whether_packs_are_installed_is_kept_until_a_folder_of_packages_changes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = home / "site-packages"
    site.mkdir()
    monkeypatch.setattr("sys.path", [str(site)])
    looked: list[str] = []
    real = paths.pack_metadata

    def counted(folders: list[str]) -> Iterator[tuple[str, str]]:
        looked.extend(folders)
        return real(folders)

    monkeypatch.setattr(paths, "pack_metadata", counted)
    assert [paths.has_packs(), paths.has_packs()] == [False, False]
    assert looked == [str(site)] * 2, "an install may be under way"
    os.utime(site, (1_700_000_000, 1_700_000_000))
    assert [paths.has_packs(), paths.has_packs()] == [False, False]
    assert looked == [str(site)] * 3
    (site / "pack-1.0.dist-info").mkdir()
    (site / "pack-1.0.dist-info" / "entry_points.txt").write_text("[aifix.rules]\nmine = pack:rules\n")
    os.utime(site, (1_700_000_100, 1_700_000_100))
    assert [paths.has_packs(), paths.has_packs()] == [True, True]
    assert looked == [str(site)] * 4
