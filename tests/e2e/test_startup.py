from __future__ import annotations

import statistics
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from tests.e2e.harness import HEALTHY, OOM, Installed

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAVY = {
    "yaml",
    "rich",
    "sqlite3",
    "torch",
    "click",
    "msgspec",
    "re2",
    "hyperscan",
    "rapidfuzz",
    "simpleeval",
    "textual",
    "json",
    "pathlib",
}


def imported(here: Installed, data: bytes, *arguments: str) -> set[str]:
    """Name the top-level modules that a run of the pipe imports, beyond what a bare interpreter has."""

    def modules(command: Sequence[str]) -> set[str]:
        done = subprocess.run(
            [here.python, "-X", "importtime", *command],
            input=data,
            capture_output=True,
            cwd=here.folder,
            env=here.environ,
            timeout=60,
            check=False,
        )
        lines = [line for line in done.stderr.decode().split("\n") if line.startswith("import time:")]
        return {line.rpartition("|")[2].strip() for line in lines}

    return {name.partition(".")[0] for name in modules(["-m", "aifix", *arguments]) - modules(["-m", "this_module_is_missing"])}


@pytest.mark.parametrize("data", [b"", HEALTHY, HEALTHY * 5000], ids=["empty", "small", "400 KB"])
def test_a_healthy_pipe_imports_next_to_nothing(here: Installed, data: bytes) -> None:
    heavy = imported(here, data) & HEAVY
    if len(data) > 65536:
        heavy -= {"hyperscan", "re2"}  # the matchers of large inputs
    assert not heavy


def test_version_imports_next_to_nothing(here: Installed) -> None:
    heavy = imported(here, b"", "--version") & HEAVY
    assert not heavy


def test_a_failing_pipe_imports_neither_yaml_nor_rich_nor_torch(here: Installed) -> None:
    heavy = imported(here, OOM) & {"yaml", "rich", "torch", "click", "textual", "sqlite_utils"}
    assert not heavy


def test_the_history_is_opened_by_a_failure_alone_and_not_where_it_is_switched_off(here: Installed) -> None:
    assert "sqlite3" not in imported(here, OOM, "--remember", "--no-history")
    assert "sqlite3" in imported(here, OOM, "--remember")
    assert "sqlite3" not in imported(here, HEALTHY)


def ratio(here: Installed, command: Sequence[object], data: bytes, pairs: int = 15) -> float:
    """Median of the paired ratios of a command's time to a bare interpreter's."""
    bare = [here.python, "-I", "-c", "pass"]

    def took(what: Sequence[object]) -> float:
        start = time.perf_counter()
        subprocess.run([str(part) for part in what], input=data, capture_output=True, cwd=here.folder, env=here.environ, check=False)
        return time.perf_counter() - start

    took(command)
    return statistics.median(took(command) / took(bare) for _ in range(pairs))


@pytest.mark.parametrize(
    ("arguments", "data", "limit"),
    [(["--version"], b"", 3), ([], b"", 3), ([], HEALTHY, 3), ([], OOM, 12)],
    ids=["version", "empty pipe", "healthy pipe", "failing pipe"],
)
def test_start_up(here: Installed, arguments: list[str], data: bytes, limit: float) -> None:
    measured = min(ratio(here, [here.aifix, *arguments], data) for _ in range(2))  # a neighbour's load may spoil one
    print(f"{measured:.2f} times a bare interpreter")
    assert measured <= limit
