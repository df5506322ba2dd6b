"""The history on the screen: failures of before, what was met again, and whether a fix helped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.tui.conftest import RANKS
from tests.tui.pilot import diagnosed, drive, shown, until

import aifix
from aifix import kb
from aifix.kb import record
from aifix_tui import tried
from aifix_tui.app import AifixApp
from aifix_tui.dialogs import HelpedDialog
from aifix_tui.past import Past

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

FIRST = "Halve the batch and accumulate gradients over two steps"


@pytest.fixture
def met(ranks: Path) -> kb.Incident:
    """Put the failure of the log into the history, as if it had been met two hours ago."""
    report = aifix.diagnose(ranks)
    incident = record.incident(
        report, record.Run(how="run", arguments=("python", "train.py"), folder=str(ranks.parent), status=1), at=time.time() - 7200
    )
    with kb.open_store() as store:
        kb.add(store, incident)
        return kb.recent(store, 1)[0]


def outcomes() -> list[tuple[str, bool]]:
    with kb.open_store() as store:
        return [(one.fix, one.worked) for one in kb.outcomes(store)]


async def asked(pilot: Pilot[None]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, HelpedDialog))


def test_a_failure_of_the_history_is_opened(met: kb.Incident) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "$ python train.py" in shown(pilot, "#places"))
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "case")
        await diagnosed(pilot)
        assert "CUDA out of memory" in shown(pilot, "#tree")
        assert f"failure {met.number}, today at" in shown(pilot, "#met") or "failure" in shown(pilot, "#met")
        assert "$ python train.py" in shown(pilot, "#met")
        await pilot.press("f")
        assert FIRST in shown(pilot, "#fixes")
        assert "Tried to allocate 1.50 GiB" in pilot.app.case.log.text(1)  # type: ignore[attr-defined]

    drive(AifixApp(), flow)


def test_that_it_was_met_before_is_said(ranks: Path, met: kb.Incident) -> None:
    with kb.open_store() as store:
        kb.record_outcome(store, kb.get(store, met.number) or met, "smaller-batch", worked=True)
    (ranks.parent / "again.log").write_text("one line more\n" + RANKS)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert "You met this" in shown(pilot, "#met")
        await pilot.press("f")
        assert "history: worked 1 of 1 times: chance" in shown(pilot, "#fixes")

    drive(AifixApp(ranks.parent / "again.log"), flow)


def test_did_it_help_moves_the_order_and_says_why(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f", "c")
        await until(pilot, lambda: FIRST in shown(pilot, "#tried"))
        await pilot.press("t")
        await asked(pilot)
        await pilot.press("enter")  # later, which is the suggestion
        await pilot.pause()
        assert outcomes() == []
        await pilot.press("t")
        await asked(pilot)
        await pilot.press("n")
        await until(pilot, lambda: "history: worked 0 of 1 times: chance 0.60 → 0.36" in shown(pilot, "#fixes"))
        await pilot.press("t")  # nothing was taken: it asks about the highlighted one
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "history: worked 1 of 1 times" in shown(pilot, "#fixes"))
        assert not shown(pilot, "#fixes").startswith(f"1. {FIRST}")
        assert not pilot.app.screen.query_one("#tried").display

    drive(AifixApp(ranks), flow)
    assert sorted(outcomes()) == [("bf16", True), ("smaller-batch", False)]


def test_later_is_asked_again_in_another_session(ranks: Path, met: kb.Incident) -> None:
    del ranks

    async def take(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "$ python train.py" in shown(pilot, "#places"))
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "case")
        await diagnosed(pilot)
        await pilot.press("f", "c")
        await until(pilot, lambda: FIRST in shown(pilot, "#tried"))

    async def answer(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "did it help?" in shown(pilot, "#places"))
        assert f"? {FIRST}" in shown(pilot, "#places")
        places: Any = pilot.app.screen.query_one("#places")
        places.highlighted = next(index for index, option in enumerate(places.options) if (option.id or "").startswith("tried:"))
        await pilot.press("enter")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: "did it help?" not in shown(pilot, "#places"))

    drive(AifixApp(), take)
    assert [one.incident for one in tried.waiting()] == [met.number]
    drive(AifixApp(), answer)
    assert tried.waiting() == []
    assert [worked for _, worked in outcomes()] == [True]


def test_without_a_history_it_says_so(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIFIX_NO_HISTORY", "1")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f", "t")
        await asked(pilot)
        await pilot.press("y")
        await until(pilot, lambda: any("AIFIX_NO_HISTORY" in one.message for one in pilot.app._notifications))

    drive(AifixApp(ranks), flow)


def test_a_damaged_history_stops_nothing(ranks: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "history.db").write_bytes(b"no database" * 500)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert "CUDA out of memory" in shown(pilot, "#tree")
        await until(pilot, lambda: any(one.title == "History" for one in pilot.app._notifications))

    drive(AifixApp(ranks), flow)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_pipes_failure_is_remembered_by_itself_and_a_files_is_not(ranks: Path, *, wanted: bool) -> None:
    past = Past(record.Run(how="pipe", arguments=("python", "x.py"), folder=str(ranks.parent)), folder=str(ranks.parent), wanted=wanted)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)

    drive(AifixApp(ranks, past=past), flow)
    with kb.open_store() as store:
        assert [one.how for one in kb.recent(store)] == (["pipe"] if wanted else [])


def test_what_was_taken_is_kept_apart_by_failure_and_fix(small: Path) -> None:
    del small
    now = time.time()
    for uid, fix, at in (("a", "one", now), ("b", "one", now), ("a", "one", now), ("a", "old", now - 40 * 24 * 3600)):
        tried.note(tried.Tried(1, uid, fix, "title", "failure", at))
    assert [(one.uid, one.fix) for one in tried.waiting()] == [("a", "one"), ("b", "one")]
    tried.forget("a", "one")
    assert [(one.uid, one.fix) for one in tried.waiting()] == [("b", "one")]
    tried._store().write_text("{")
    assert tried.waiting() == []
