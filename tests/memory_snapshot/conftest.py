"""Snapshots for all tests of this folder, written once."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from tests.memory_snapshot.programs import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a snapshot of every program, by name."""
    folder = tmp_path_factory.mktemp("snapshots")
    for name, program in PROGRAMS.items():
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(program().snapshot()))
    return folder
