from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("libcst", reason="LibCST is missing: patches are an extra")

from tests.tui.pilot import diagnosed, drive, shown, until

from aifix import api
from aifix.fixes.patch import Change
from aifix_tui.app import AifixApp
from aifix_tui.patch_dialog import PatchDialog, picture, rows

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

PROGRAM = "import torch\nimport torch.nn as nn\n\nx = torch.randn(4, 3, 5, requires_grad=True)\ny = x.numpy()\nprint(y)\n"
LOG = (
    'Traceback (most recent call last):\n  File "{path}", line 5, in <module>\n    y = x.numpy()\n'
    "RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.\n"
)


@pytest.fixture
def program(small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use the shipped rules, which name patches."""
    monkeypatch.setattr(api, "_loaded", None)
    path = small / "train.py"
    path.write_text(PROGRAM)
    (small / "train.log").write_text(LOG.format(path=path))
    return path


@pytest.mark.parametrize("size", [(80, 24), (140, 45)])
def test_a_patch_is_shown_applied_after_a_second_key_and_undone(program: Path, size: tuple[int, int]) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f")
        assert "v  shows it as a patch of your code" in shown(pilot, "#fixes")
        await pilot.press("v")
        await until(pilot, lambda: isinstance(pilot.app.screen, PatchDialog))
        await until(pilot, lambda: "detach()" in shown(pilot, "#diff"))
        assert "- y = x.numpy()" in shown(pilot, "#diff")
        await pilot.press("a")
        assert program.read_text() == PROGRAM
        assert "again" in shown(pilot, "#patch-foot")
        await pilot.press("a")
        await until(pilot, lambda: "✓ Written" in shown(pilot, "#patch-foot"))
        assert "detach()" in program.read_text()
        await pilot.press("u")
        await until(pilot, lambda: "✓ As before" in shown(pilot, "#patch-foot"))
        assert program.read_text() == PROGRAM
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, PatchDialog)

    drive(AifixApp(program.with_suffix(".log")), flow, size)


def test_a_file_that_changed_meanwhile_is_left_alone(program: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f", "v")
        await until(pilot, lambda: isinstance(pilot.app.screen, PatchDialog))
        program.write_text("other\n")
        await pilot.press("a", "a")
        await until(pilot, lambda: "Not applied" in shown(pilot, "#patch-foot"))
        assert program.read_text() == "other\n"

    drive(AifixApp(program.with_suffix(".log")), flow)


def test_without_the_source_it_says_why(program: Path) -> None:
    program.unlink()

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f", "v")
        await until(pilot, lambda: pilot.app._notifications)
        assert not isinstance(pilot.app.screen, PatchDialog)

    drive(AifixApp(program.with_suffix(".log")), flow)


def test_the_layouts_say_the_same() -> None:
    change = Change("a.py", "a\nb\nc\nd\n" + "x\n" * 20 + "e\n", "a\nB\nBB\nc\n" + "x\n" * 20 + "E\n")
    assert len(rows(change)) == 2
    for width in (60, 120):
        plain = picture([change], width).plain
        for said in ("- b", "+ B", "+ BB", "- d", "- e", "+ E", "⋮"):
            assert said in plain, (width, said)
        assert all(len(line) <= 120 for line in plain.splitlines())
    assert "\x1b" not in picture([Change("a.py", "a\x1b[31m\n", "b\n")], 60).plain
