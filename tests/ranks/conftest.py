"""An interpreter with torch, and one nursery of ranks for all tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import torches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.ranks.chaos import Nursery


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter with torch."""
    return torches.torch_python("import torch")


@pytest.fixture(scope="session")
def nursery(torch_python: str) -> Iterator[Nursery]:
    """A process with torch imported, from which ranks are forked."""
    from tests.ranks import chaos

    one = chaos.Nursery(torch_python)
    yield one
    one.close()


@pytest.fixture
def lay(tmp_path: Path) -> Callable[[dict[str, str]], str]:
    """Write files by their paths under a folder; gives the folder."""

    def write(files: dict[str, str]) -> str:
        for name, text in files.items():
            path = tmp_path / "logs" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(tmp_path / "logs")

    return write
