"""Fixtures: a history of its own for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix import kb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a folder for data that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def store(home: Path) -> Iterator[kb.Store]:
    with kb.open_store(str(home / "history.db")) as opened:
        yield opened
