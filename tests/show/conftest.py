from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.show.reports import REPORTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.model import Report

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(params=sorted(REPORTS))
def report(request: pytest.FixtureRequest) -> Report:
    return REPORTS[request.param]


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with tests/show/golden/NAME; AIFIX_GOLDEN=1 writes it anew."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("AIFIX_GOLDEN"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert text == path.read_text(encoding="utf-8"), f"{name} changed; if that is meant: AIFIX_GOLDEN=1 pytest tests/show"

    return compare
