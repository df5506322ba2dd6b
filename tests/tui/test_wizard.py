from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tests.tui.pilot import drive, shown, until

from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot


async def opened(pilot: Pilot[None]) -> Any:
    await pilot.press("w")
    await until(pilot, lambda: pilot.app.current_mode == "wizard" and shown(pilot, "#answers"))
    return pilot.app.screen


async def answer(pilot: Pilot[None], rule_id: str) -> bool:
    """Answer as somebody would who met this failure."""
    screen: Any = pilot.app.screen
    question = screen._question
    if question is None:
        return False
    if question.probes:  # the failure was elsewhere
        await pilot.press("down", "enter")
        await until(pilot, lambda: screen._question is not question)
        return True
    row = question.table[rule_id]
    for _ in range(row.index(max(row))):
        await pilot.press("down")
    await pilot.press("enter")
    await until(pilot, lambda: screen._question is not question)
    return True


def test_questions_shrink_the_list_and_end_at_a_page_with_fixes(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        screen = await opened(pilot)
        assert "6 of 6 diagnoses left" in shown(pilot, "#left-count")
        assert shown(pilot, "#question").startswith("1. ")
        while await answer(pilot, "npm.version-conflict"):
            pass
        assert "This fits best" in shown(pilot, "#question")
        assert shown(pilot, "#candidates").startswith("npm.version-conflict")
        await pilot.press("enter")
        await until(pilot, lambda: screen.has_class("-page"))
        assert "Name one version in overrides" in shown(pilot, "#page-text")
        await pilot.press("c", "enter")
        await until(pilot, lambda: "lodash" in pilot.app.clipboard)
        await pilot.press("escape")
        assert not screen.has_class("-page")

    drive(AifixApp(), flow)


def test_skip_back_and_restart(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        screen = await opened(pilot)
        first = screen._question.id
        await pilot.press("s")
        await until(pilot, lambda: screen._question is None or screen._question.id != first)
        assert "skipped" in shown(pilot, "#trail")
        await pilot.press("u")
        await until(pilot, lambda: screen._question is not None and screen._question.id == first)
        assert shown(pilot, "#trail") == "wizard"
        await pilot.press("enter")
        await until(pilot, lambda: "›" in shown(pilot, "#trail"))
        await pilot.press("x")
        await until(pilot, lambda: shown(pilot, "#trail") == "wizard" and "6 of 6" in shown(pilot, "#left-count"))
        await pilot.press("backspace")

    drive(AifixApp(), flow)


def test_words_of_the_message_at_any_time(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("slash", *"colective timout")
        await until(pilot, lambda: shown(pilot, "#candidates").startswith("dist.nccl-timeout"))
        assert "words: colective timout" in shown(pilot, "#trail")
        await pilot.press("enter")
        assert pilot.app.screen.query_one("#answers").has_focus

    drive(AifixApp(), flow)


def test_a_candidate_is_opened_early(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        screen = await opened(pilot)
        screen.query_one("#candidates").focus()
        await pilot.press("home", "enter")
        await until(pilot, lambda: screen.has_class("-page"))
        await pilot.press("backspace")
        assert not screen.has_class("-page")

    drive(AifixApp(), flow)


def test_this_machine_answers_a_question(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.probes import run
    from aifix.probes.finding import Finding

    del small
    gate = threading.Event()

    def answer(probe: Any, case: Any) -> Finding:
        gate.wait(30)
        return Finding("confirmed" if case.suspicion == "cuda.oom" else "refuted", f"{probe.id}: 12 MiB are free")

    monkeypatch.setattr(run, "one", answer)

    async def flow(pilot: Pilot[None]) -> None:
        screen = await opened(pilot)
        while not screen._question.probes:
            question = screen._question
            await pilot.press("s")
            await until(pilot, lambda question=question: screen._question is not question)  # type: ignore[misc]
            assert screen._question is not None
        question = screen._question
        assert "Shall aifix look at this machine?" in shown(pilot, "#question")
        assert "Is a GPU short of memory" in shown(pilot, "#question")
        await pilot.press("enter")
        await until(pilot, lambda: "looking: " in shown(pilot, "#question"))
        await pilot.press("s")  # calls it off
        await until(pilot, lambda: screen._question is not question)
        assert shown(pilot, "#trail").endswith("skipped")
        await pilot.press("u")
        await until(pilot, lambda: screen._question is not None and screen._question.probes)
        gate.set()
        before = screen._interview.weights()["cuda.oom"]
        await pilot.press("enter")
        await until(pilot, lambda: "looked: " in shown(pilot, "#trail"))
        assert "gpu.memory" in shown(pilot, "#trail")
        assert screen._interview.weights()["cuda.oom"] > before

    drive(AifixApp(), flow)
