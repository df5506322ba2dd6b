"""Whatever a log makes of a fact, a passive probe gives an answer and touches nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.probes.parts import here

from aifix.model import Fact
from aifix.probes import registry, run
from aifix.probes.finding import Case

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["path", "file", "library", "module", "package", "port", "gpu", "requested", "symbol", "address", "version", "tool", "header", "host"]
WORDS = [
    "",
    "/",
    "..",
    "../../etc/passwd",
    "\0",
    "a\0b",
    "~nobody/x",
    "*",
    "[",
    "é" * 300,
    "x" * 5000,
    "-1",
    "99999999999999999999",
    "127.0.0.1:99999",
    "GLIBC_9.9",
]
IDS = ["", "host.disk-full", "deps.module-missing", "deps.shadowed", "npm.eresolve", "cuda.oom", "host.glibc", "dist.addr-in-use", "deps.torch-abi"]
PASSIVE = [one for one in registry.PROBES if not one.active]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    facts=st.dictionaries(st.sampled_from(NAMES), st.sampled_from(WORDS) | st.text(max_size=40), max_size=4),
    number=st.none() | st.integers(-(1 << 70), 1 << 70),
    suspicion=st.sampled_from(IDS),
)
def test_strange_facts_get_answers(tmp_path: Path, facts: dict[str, str], number: int | None, suspicion: str) -> None:
    machine = here(cwd=str(tmp_path), environ={"PATH": os.defpath})
    known = {name: Fact(text, number) for name, text in facts.items()}
    for probe in PASSIVE:
        found = run.one(probe, Case(machine, suspicion, known, lines=tuple(facts.values())))
        assert "probe itself failed" not in found.summary, (probe.id, found.summary)
        assert found.summary
    assert list(tmp_path.iterdir()) == []
