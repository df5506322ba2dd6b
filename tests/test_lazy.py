from __future__ import annotations

import gc
import importlib
import pkgutil

import pytest

import aifix
from aifix import lazy


def test_an_expression_is_compiled_at_its_first_use() -> None:
    word = lazy.lazy_re(r"(\w+)!")
    assert "search" not in vars(word)
    found = word.search("oh no!")
    assert found is not None
    assert found[1] == "no"
    assert "search" in vars(word)
    assert word.sub(r"<\1>", "oh no!") == "oh <no>"
    assert word.pattern == r"(\w+)!"
    with pytest.raises(AttributeError):
        word._nothing  # noqa: B018


def test_every_expression_of_ours_compiles() -> None:
    for package in ("intake", "match", "reason", "show", "rulebase"):
        folder = importlib.import_module(f"aifix.{package}").__path__
        for module in pkgutil.iter_modules(folder):
            importlib.import_module(f"aifix.{package}.{module.name}")
    ours = [item for item in gc.get_objects() if isinstance(item, lazy._Lazy)]
    assert len(ours) > 100, aifix.__version__
    assert all(item.pattern for item in ours)
