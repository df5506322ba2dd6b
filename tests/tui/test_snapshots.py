"""Pictures of the main screens. After a wanted change: pytest tests/tui/test_snapshots.py --snapshot-update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

pytest.importorskip("pytest_textual_snapshot", reason="pytest-textual-snapshot is missing")

from tests.tui.pilot import diagnosed, until

from aifix import api
from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.pilot import Pilot

SMALL, LARGE = (80, 24), (120, 40)
BOTH = [(SMALL, True), (LARGE, False)]
EVERY = [(SMALL, True), (LARGE, True), (SMALL, False), (LARGE, False)]
pytestmark = pytest.mark.usefixtures("steady")


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what moves by itself from the pictures."""
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    truly = api.diagnose_document

    def framed(document: Any, **given: Any) -> Any:
        """Keep what the reasoning adds from version to version out of the pictures: further facts, other figures and steps."""
        report = truly(document, **given)
        kept = [
            msgspec.structs.replace(
                one,
                confidence=0.9 if one.symptom else 0.95,
                facts={name: fact for name, fact in one.facts.items() if name in {"requested", "capacity", "gpu"}},
                fixes=tuple(msgspec.structs.replace(fix, score=round(0.7 - 0.2 * number, 2)) for number, fix in enumerate(one.fixes)),
                derivation=tuple(step for step in one.derivation if step.what in {"rule", "signature"}),
            )
            for one in report.diagnoses
        ]
        return msgspec.structs.replace(report, diagnoses=tuple(kept))

    monkeypatch.setattr(api, "diagnose_document", framed)
    monkeypatch.setenv("TEXTUAL_COLOR_SYSTEM", "truecolor")


def settled(*keys: str, mode: str = "case", ready: str = "") -> Callable[[Pilot[None]], Any]:
    async def flow(pilot: Pilot[None]) -> None:
        app: Any = pilot.app
        if app._first[0] is not None:
            await diagnosed(pilot)
        await pilot.press(*keys)
        await until(pilot, lambda: app.current_mode == mode)
        if ready:
            await until(pilot, lambda: ready in "".join(strip.text for strip in app.screen._compositor.render_strips()))
        await pilot.pause(0.2)

    return flow


@pytest.mark.parametrize(("size", "dark"), EVERY)
def test_case(snap_compare: Any, ranks: Path, size: tuple[int, int], *, dark: bool) -> None:
    assert snap_compare(AifixApp(ranks, name="ranks.log", dark=dark), terminal_size=size, run_before=settled())


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_fixes(snap_compare: Any, ranks: Path, size: tuple[int, int], *, dark: bool) -> None:
    assert snap_compare(AifixApp(ranks, name="ranks.log", dark=dark), terminal_size=size, run_before=settled("f"))


@pytest.mark.parametrize(("size", "dark"), EVERY)
def test_handbook(snap_compare: Any, small: Path, size: tuple[int, int], *, dark: bool) -> None:
    del small
    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=settled("b", mode="browse", ready="Programs print"))


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_wizard(snap_compare: Any, small: Path, size: tuple[int, int], *, dark: bool) -> None:
    del small
    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=settled("w", mode="wizard", ready="6 of 6"))


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_open(snap_compare: Any, ranks: Path, size: tuple[int, int], *, dark: bool) -> None:
    del ranks
    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=settled(mode="open", ready="ranks.log"))


@pytest.mark.parametrize("keys", ["m", "y", "p"])
def test_other_tabs(snap_compare: Any, ranks: Path, keys: str) -> None:
    assert snap_compare(AifixApp(ranks, name="ranks.log"), terminal_size=SMALL, run_before=settled(keys))


def test_help(snap_compare: Any, small: Path) -> None:
    del small
    assert snap_compare(AifixApp(), terminal_size=SMALL, run_before=settled("question_mark", mode="open"))


# ------------------------------------------------------------ the history, articles, a live run, a look at the machine


@pytest.fixture
def past(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a failure of a fixed day into the history, and a fix that was taken against it."""
    import aifix
    from aifix import kb
    from aifix.kb import record
    from aifix_tui import tried

    monkeypatch.setattr(tried, "OLDEST", 1e12)
    at = 1715515200.0  # 12:00 UTC on 12 May 2024
    incident = record.incident(aifix.diagnose(ranks), record.Run(how="run", arguments=("python", "train.py"), status=1), at=at)
    with kb.open_store() as store:
        kb.add(store, incident)
    tried.note(tried.Tried(1, incident.uid, "smaller-batch", "Halve the batch and accumulate gradients over two steps", incident.title, at))


@pytest.mark.usefixtures("past")
@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_open_with_a_history(snap_compare: Any, size: tuple[int, int], *, dark: bool) -> None:
    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=settled(mode="open", ready="python train.py"))


@pytest.mark.usefixtures("past")
@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_a_failure_of_the_history(snap_compare: Any, size: tuple[int, int], *, dark: bool) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await settled(mode="open", ready="python train.py")(pilot)
        await pilot.press("end", "enter")
        await until(pilot, lambda: pilot.app.current_mode == "case")
        await diagnosed(pilot)
        await pilot.press("f", "c")
        await pilot.pause(0.2)
        pilot.app.clear_notifications()
        await pilot.pause(0.2)

    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=flow)


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_did_it_help(snap_compare: Any, ranks: Path, size: tuple[int, int], *, dark: bool) -> None:
    assert snap_compare(AifixApp(ranks, name="ranks.log", dark=dark), terminal_size=size, run_before=settled("f", "t"))


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_an_article(snap_compare: Any, small: Path, size: tuple[int, int], *, dark: bool) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await settled("b", mode="browse", ready="Programs print")(pilot)
        await pilot.press("slash", *"allocator")
        await settled(mode="browse", ready="What the numbers mean")(pilot)

    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=flow)


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_run(snap_compare: Any, small: Path, size: tuple[int, int], *, dark: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix_tui import run_screen

    del small
    monkeypatch.setattr(run_screen, "_lasted", lambda _: "1.2 s")

    async def flow(pilot: Pilot[None]) -> None:
        await settled("R", mode="run")(pilot)
        app: Any = pilot.app
        app.screen.query_one("#command").value = "printf 'step 1 loss 2.31\\nstep 2 loss 2.29\\nsaved checkpoint\\n'"
        await pilot.press("enter")
        await settled(mode="run", ready="ended well")(pilot)

    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=flow)


@pytest.mark.parametrize(("size", "dark"), BOTH)
def test_a_look_at_this_machine_is_offered(snap_compare: Any, small: Path, size: tuple[int, int], *, dark: bool) -> None:
    del small

    async def flow(pilot: Pilot[None]) -> None:
        await settled("w", mode="wizard", ready="6 of 6")(pilot)
        screen: Any = pilot.app.screen
        while not screen._question.probes:
            question = screen._question
            await pilot.press("s")
            await until(pilot, lambda question=question: screen._question is not question)  # type: ignore[misc]
        await pilot.pause(0.2)

    assert snap_compare(AifixApp(dark=dark), terminal_size=size, run_before=flow)
