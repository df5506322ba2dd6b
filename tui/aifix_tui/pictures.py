"""Pictures of the interface for the documentation: `python -m aifix_tui.pictures [FOLDER]` writes them as SVG."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

SIZE = (110, 34)
PATIENCE = 60.0
FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
UNIQUE = re.compile(r"terminal-\d+-")


async def _until(pilot: Pilot[None], ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError
        await pilot.pause(0.05)
    await pilot.pause(0.3)


def _says(app: AifixApp, text: str) -> bool:
    return text in app.export_screenshot().replace("&#160;", " ")


async def _take(folder: Path, log: Path) -> None:
    app = AifixApp(log, name="train.log")
    async with app.run_test(size=SIZE) as pilot:
        for name, keys, said in (
            ("case", (), "98 % sure"),
            ("fixes", ("f",), "Halve the batch"),
            ("handbook", ("b", "slash", *"nccl timeout"), "dist.nccl-timeout"),
            ("article", ("escape", "a", "a", "slash", *"allocator memory"), "allocator"),
            ("wizard", ("escape", "w"), "diagnoses left"),
            ("wizard-words", ("slash", *"address already in us"), "dist.addr-in-use"),
        ):
            await pilot.press(*keys)
            await _until(pilot, lambda said=said: _says(app, said))  # type: ignore[misc]
            # Without the fonts from a foreign server, which a README must not load, and without a number that changes each time.
            picture = UNIQUE.sub(f"{name}-", FONT.sub("", app.export_screenshot(simplify=True)))
            (folder / f"{name}.svg").write_text(picture, "utf-8")


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    from aifix.examples import path

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state:
        os.environ |= {"XDG_STATE_HOME": state, "AIFIX_HOME": state}
        asyncio.run(_take(folder, path("cuda-oom")))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screens"))
