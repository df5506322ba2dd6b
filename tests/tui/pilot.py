"""Drive the application without a terminal."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from aifix_tui.app import AifixApp

PATIENCE = 30.0


async def until(pilot: Pilot[None], condition: Callable[[], Any], what: str = "") -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what or "it never came to hold"
        await pilot.pause(0.02)
    await pilot.pause()


def drive(app: AifixApp, flow: Callable[[Pilot[None]], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    """Run a flow."""

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await flow(pilot)

    asyncio.run(run())


async def diagnosed(pilot: Pilot[None]) -> None:
    """Wait until the open log is diagnosed and shown."""
    app: Any = pilot.app
    await until(pilot, lambda: app.case is not None and app.case.report is not None and app.screen.query("#tree").first().options, "no diagnosis")


def shown(pilot: Pilot[None], selector: str) -> str:
    """Give the text of a widget, or of all options of a list."""
    from textual.widgets import OptionList

    widget = pilot.app.screen.query_one(selector)
    if isinstance(widget, OptionList):
        return "\n".join(str(option.prompt) for option in widget.options)
    return str(widget.content)  # type: ignore[attr-defined]
