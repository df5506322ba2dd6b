"""Every specimen: it really fails, it is diagnosed as what it is, and each fix really ends it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aifix.lab import environment, table, verify
from aifix.lab.running import Runner
from aifix.lab.specimen import load_chosen
from aifix.show.layout import Paint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aifix.lab.environment import Target
    from aifix.lab.specimen import Specimen

SPECIMENS = load_chosen(Path(__file__).parents[1] / "specimens")


def marked(specimen: Specimen) -> pytest.param:
    marks = [mark for mark, wanted in ((pytest.mark.gpu, specimen.form.gpu), (pytest.mark.thorough, specimen.slow)) if wanted]
    return pytest.param(specimen, id=specimen.name, marks=marks)


@pytest.fixture(scope="session")
def target() -> Target:
    """The interpreter that has torch: AIFIX_TEST_TORCH, or this one."""
    return environment.describe(os.environ.get("AIFIX_TEST_TORCH") or sys.executable, SPECIMENS)


@pytest.fixture(scope="session")
def runner(target: Target) -> Iterator[Runner]:
    """The warm processes, shared by all specimens of a worker."""
    with Runner(target.python) as one:
        yield one


@pytest.mark.parametrize("specimen", [marked(one) for one in SPECIMENS])
def test_it_fails_so_is_diagnosed_so_and_the_fix_ends_it(specimen: Specimen, target: Target, runner: Runner) -> None:
    row = verify.verify(specimen, target, runner)
    if row.verdict == "skipped":
        pytest.skip(f"needs {row.needs}")
    assert row.verdict == "right", "\n".join(table.line(row, len(row.name), Paint(colour=False), verbose=True))
