from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.tui.conftest import RANKS
from tests.tui.pilot import diagnosed, drive, shown, until
from textual import events
from textual.widgets import Input, OptionList

from aifix_tui import recent
from aifix_tui.app import AifixApp
from aifix_tui.dialogs import HelpDialog, PasteDialog
from aifix_tui.open_screen import PathInput, complete

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def test_a_path_is_typed(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await pilot.press("slash", *str(ranks), "enter")
        await diagnosed(pilot)
        assert "CUDA out of memory" in shown(pilot, "#tree")

    drive(AifixApp(), flow)


def test_a_log_of_the_folder_is_offered_then_remembered(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "ranks.log  in this folder" in shown(pilot, "#places"))
        await pilot.press("end", "enter")
        await diagnosed(pilot)
        await pilot.press("o")
        await until(pilot, lambda: "opened lately" in shown(pilot, "#places"))

    drive(AifixApp(), flow)
    assert recent.recent() == [ranks]


def test_a_text_is_pasted_into_the_dialog(small: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await pilot.press("p")
        assert isinstance(pilot.app.screen, PasteDialog)
        pilot.app.screen.query_one("TextArea").post_message(events.Paste(RANKS))
        await pilot.pause()
        await pilot.press("ctrl+s")
        await diagnosed(pilot)
        assert "pasted text" in shown(pilot, "#title")

    drive(AifixApp(), flow)
    assert recent.recent() == []
    assert list(small.iterdir()) == []


def test_a_text_is_pasted_anywhere(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        pilot.app.screen.query_one(PathInput).post_message(events.Paste(RANKS))
        await diagnosed(pilot)
        await pilot.press("o")
        pilot.app.screen.query_one("#places").post_message(events.Paste("npm ERR! ERESOLVE unable to resolve dependency tree"))
        await until(pilot, lambda: pilot.app.current_mode == "case")
        await until(pilot, lambda: "Two versions" in shown(pilot, "#tree"))

    drive(AifixApp(), flow)


def test_what_cannot_be_opened_is_said(small: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        for path in (small / "absent.log", small):
            pilot.app.open_log(path)  # type: ignore[attr-defined]
        await pilot.pause()
        assert len(pilot.app._notifications) == 2
        assert pilot.app.current_mode == "open"

    drive(AifixApp(), flow)


def test_paths_are_completed(ranks: Path) -> None:
    assert complete("ran") == "ranks.log"
    assert complete(str(ranks)[:-4]) == str(ranks)
    assert complete("/") is None
    assert complete("zzz") is None


def test_modes_help_theme_and_palette(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        for key, mode in (("w", "wizard"), ("b", "browse"), ("d", "case"), ("o", "open")):
            await pilot.press(key)
            await until(pilot, lambda mode=mode: pilot.app.current_mode == mode)  # type: ignore[misc]
        await pilot.press("question_mark")
        assert isinstance(pilot.app.screen, HelpDialog)
        await pilot.press("escape")
        assert pilot.app.current_theme.dark
        await pilot.press("f2")
        assert not pilot.app.current_theme.dark
        await pilot.press("ctrl+p")
        await pilot.pause()
        pilot.app.screen.query_one(Input).value = "Wizard"
        await until(pilot, lambda: pilot.app.screen.query_one(OptionList).options)
        await pilot.pause(0.3)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.current_mode == "wizard")

    drive(AifixApp(ranks), flow)


def test_every_screen_opens_without_a_case(small: Path) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await pilot.app.switch_mode("case")
        await pilot.press("l", "f", "m", "y", "p", "slash", "n", "e", "r", "c", "h", "a", "enter")
        await pilot.press("q")

    drive(AifixApp(), flow)


def test_opening_a_second_log_replaces_the_first(ranks: Path, small: Path) -> None:
    other = small / "other.log"
    other.write_text("npm ERR! ERESOLVE unable to resolve dependency tree\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        pilot.app.open_log(other)  # type: ignore[attr-defined]
        await until(pilot, lambda: "Two versions" in shown(pilot, "#tree"))
        assert "out of memory" not in shown(pilot, "#meaning-text")

    drive(AifixApp(ranks), flow)


def test_a_damaged_history_is_no_history(small: Path) -> None:
    del small
    recent.store().parent.mkdir(parents=True)
    for text in ("{", '{"a": 1}', json.dumps([1, None, "/absent"])):
        recent.store().write_text(text)
        assert recent.recent() == []


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 16), (300, 90)])
def test_any_size_will_do(ranks: Path, size: tuple[int, int]) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f", "m", "y", "p", "l", "slash", "x", "escape", "e", "enter", "escape")
        for key, mode in (("w", "wizard"), ("b", "browse"), ("o", "open")):
            await pilot.press(key)
            await until(pilot, lambda mode=mode: pilot.app.current_mode == mode)  # type: ignore[misc]
            await pilot.press("tab", "tab", "shift+tab", "down", "pagedown", "end")
        await pilot.press("question_mark")

    drive(AifixApp(ranks), flow, size)


def test_a_log_that_is_closed_under_a_view_shows_nothing(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        pilot.app.case.log.close()  # type: ignore[attr-defined]
        await pilot.press("l", "pagedown", "G", "slash", *"zzz", "enter", "n")
        await pilot.pause(0.2)

    drive(AifixApp(ranks), flow)
