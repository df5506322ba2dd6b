from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.pilot import drive, shown, until
from textual.widgets import OptionList

from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


async def opened(pilot: Pilot[None]) -> None:
    await pilot.press("b")
    await until(pilot, lambda: pilot.app.current_mode == "browse" and "6 diagnoses by family" in shown(pilot, "#count"))


def test_families_and_pages(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        rules = shown(pilot, "#rules")
        assert "cuda: CUDA runtime, memory, libraries" in rules
        assert "Two versions of one package" in rules
        await until(pilot, lambda: "CUDA out of memory" in shown(pilot, "#page-text"))
        page = shown(pilot, "#page-text")
        assert "“CUDA out of memory. Tried to allocate”" in page
        assert "aifix probe gpu.memory" in page
        assert 'when: log("llama")' in page

    drive(AifixApp(), flow)


def test_search_as_you_type(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("slash", *"colective timout")
        await until(pilot, lambda: "A collective timed out" in shown(pilot, "#page-text"))
        assert pilot.app.screen.query_one("#rules", OptionList).options[0].id == "dist.nccl-timeout"
        await pilot.press("down")
        assert pilot.app.screen.query_one("#rules").has_focus
        await pilot.press("slash", *"zzzzqqqq")
        await until(pilot, lambda: "nothing like it" in shown(pilot, "#count"))
        await pilot.press("escape")
        await until(pilot, lambda: "6 diagnoses" in shown(pilot, "#count"))

    drive(AifixApp(), flow)


def test_links_are_followed_and_one_goes_back(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        assert "may cause: dist.child-failed" in shown(pilot, "#links")
        assert "special case: cuda.oom-fragmentation" in shown(pilot, "#links")
        pilot.app.screen.query_one("#links").focus()
        await pilot.press("enter")
        await until(pilot, lambda: "The launcher reports a failed rank" in shown(pilot, "#page-text"))
        assert "may be caused by: cuda.oom" in shown(pilot, "#links")
        await pilot.press("backspace")
        await until(pilot, lambda: "CUDA out of memory" in shown(pilot, "#page-text"))

    drive(AifixApp(), flow)


def test_a_page_is_copied_from(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await opened(pilot)
        await pilot.press("c", "enter")
        await until(pilot, lambda: pilot.app.clipboard.startswith("python train.py"))

    drive(AifixApp(), flow)
