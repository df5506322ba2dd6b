"""No control byte of a log reaches the terminal, whatever is shown of it and wherever."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.tui.pilot import diagnosed, drive, shown, until
from textual import events

from aifix import api
from aifix.rulebase.base import from_rules
from aifix.rulebase.compile import load_folder
from aifix_tui.app import AifixApp

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from textual.pilot import Pilot

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;ZXZpbA==\x07\x9b31m\x00\x08\u202e"
HOSTILE = (
    f"[rank0]: {EVIL}step{EVIL}\n[bold red]markup[/] [@click=app.quit]x[/]\n"
    f'[rank0]:   File "/job/{EVIL}[red]train.py", line 42, in f{EVIL}\n'
    f"[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. {EVIL} GPU 1 has a total capacity of 23.64 GiB of which\n"
)


def check(pilot: Pilot[None]) -> None:
    """Look at every character of the screen, apart from the sequences that Textual makes itself."""
    screen = pilot.app.screen
    lines = screen._compositor.render_strips()
    for strip in lines:
        for segment in strip:
            assert segment.text.isprintable(), repr(segment.text)
    assert "owned" not in "".join(strip.text for strip in lines)


def test_a_hostile_log(small: Path) -> None:
    log = small / "hostile.log"
    log.write_text(HOSTILE)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        for key in ("l", "f", "m", "y", "p"):
            await pilot.press(key)
            await pilot.pause()
            check(pilot)
        await pilot.press("l", "g", "enter")
        check(pilot)
        await pilot.press("c")
        assert pilot.app.clipboard.isprintable()
        await pilot.press("escape", "down")
        check(pilot)

    drive(AifixApp(log), flow, (120, 40))


def test_an_unknown_failure_with_controls(small: Path) -> None:
    log = small / "hostile.log"
    log.write_text(f'Traceback (most recent call last):\n  File "/job/a{EVIL}.py", line 3, in <module>\n    f()\nFrobError: {EVIL}[b]no[/b]\n')

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        for key in ("m", "y", "l"):
            await pilot.press(key)
            check(pilot)

    drive(AifixApp(log), flow)


def test_pasting_and_file_names(small: Path) -> None:
    (small / f"a{chr(27)}[31m[red].log").write_text("x\n")

    async def flow(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "a[red].log" in shown(pilot, "#places"))
        check(pilot)
        await pilot.press("slash")
        pilot.app.screen.query_one("#path").post_message(events.Paste(f"one{EVIL}line"))
        await pilot.pause()
        assert pilot.app.screen.query_one("#path").value.isprintable()  # type: ignore[attr-defined]
        check(pilot)
        pilot.app.open_log(small / f"no{EVIL}.log")  # type: ignore[attr-defined]
        await pilot.pause(0.2)
        check(pilot)
        await pilot.press("tab", "p")
        pilot.app.screen.query_one("TextArea").post_message(events.Paste(HOSTILE))
        await pilot.pause()
        check(pilot)

    drive(AifixApp(), flow)


def test_a_hostile_rule_pack(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Titles, explanations, fixes and articles of a stranger's rules: in the case, in the handbook, in its search."""
    evil = "".join(f"\\U{ord(one):08x}" for one in f"{EVIL}[red]\u2028")
    pack = small / "pack" / "my"
    pack.mkdir(parents=True)
    (pack / "rule.yaml").write_text(
        f'id: my.rule\ntitle: "a{evil}b"\nseverity: error\nexplain: "{evil} it says {{what}}"\nsignatures:\n  - pattern: "no {{what:text}} such thing"\n'
        f'fixes:\n  - {{id: pet, title: "c{evil}d", prior: 0.5, effort: low, risk: "{evil}", '
        f'do: [{{kind: note, text: "{evil}"}}, {{kind: command, text: "{evil}"}}]}}\n'
    )
    loaded, problems = load_folder(small / "pack")
    assert not problems
    monkeypatch.setattr(api, "_loaded", from_rules(item.rule for item in loaded))
    log = small / "run.log"
    log.write_text(f"RuntimeError: no {EVIL} such thing\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        check(pilot)
        for key in ("f", "down", "m", "y", "h", "down", "enter", "slash", "c", "enter"):
            await pilot.press(key)
            await pilot.pause()
            check(pilot)

    drive(AifixApp(log), flow, (120, 40))
