from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.tui.conftest import RANKS
from tests.tui.pilot import diagnosed, drive, shown, until
from textual.widgets import OptionList

from aifix_tui.app import AifixApp
from aifix_tui.dialogs import CopyDialog, LineDialog
from aifix_tui.log_pane import LogPane
from aifix_tui.logview import LogView

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot


def view(pilot: Pilot[None]) -> LogView:
    return pilot.app.screen.query_one(LogView)


def test_the_tree_and_the_proof(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        tree = shown(pilot, "#tree")
        assert "✗ CUDA out of memory on GPU 1" in tree
        assert "↳ The launcher reports a failed rank" in tree
        assert "% sure · rank 1 · cuda.oom" in tree
        assert view(pilot).number == 6
        assert set(view(pilot)._proof) == {6}
        await pilot.press("down")
        await until(pilot, lambda: view(pilot).number == 11)
        strip = view(pilot).render_line(view(pilot).cursor - int(view(pilot).scroll_offset.y))
        assert strip.text.startswith("›▶")

    drive(AifixApp(ranks), flow)


def test_search_and_its_next_hits(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("slash", *"step", "enter")
        await until(pilot, lambda: view(pilot).number == 7)
        await pilot.press("n")
        await until(pilot, lambda: view(pilot).number == 1)
        await pilot.press("N")
        await until(pilot, lambda: view(pilot).number == 7)
        await pilot.press("slash", *"nowhere", "enter")
        await until(pilot, lambda: "is not in the log" in shown(pilot, "#state"))

    drive(AifixApp(ranks), flow)


def test_escape_closes_the_search(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("slash", *"step", "escape")
        assert view(pilot).has_focus
        assert view(pilot).words == ""

    drive(AifixApp(ranks), flow)


def test_one_rank_alone(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("r")
        assert view(pilot).rows == 2
        assert "rank 0 only: 2 lines" in shown(pilot, "#state")
        await pilot.press("r")
        assert view(pilot).rows == 5
        await pilot.press("slash", *"step", "enter")
        await until(pilot, lambda: view(pilot).number == 2)
        await pilot.press("r")
        assert view(pilot).rows == 12

    drive(AifixApp(ranks), flow)


def test_a_log_without_ranks_says_so(small: Path) -> None:
    log = small / "plain.log"
    log.write_text("RuntimeError: Expected all tensors to be on the same device, but found at least two devices\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("r")
        assert pilot.app.screen.query_one(LogPane).rank is None

    drive(AifixApp(log), flow)


def test_a_line_whole(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("l", "enter")
        assert isinstance(pilot.app.screen, LineDialog)
        await pilot.press("c")
        assert "311.12 MiB is free" in pilot.app.clipboard
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, LineDialog)

    drive(AifixApp(ranks), flow)


def test_fixes_with_conditions_and_copying(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("f")
        fixes = shown(pilot, "#fixes")
        assert "1. Halve the batch and accumulate gradients over two steps" in fixes
        assert "low effort · no risk" in fixes
        assert 'holds here: has("requested")' in fixes
        assert "risk: accuracy: slight" in fixes
        assert 'not offered here: only when log("llama")' in fixes
        await pilot.press("c")
        assert pilot.app.clipboard == "python train.py --batch-size 6 --accumulate 2"
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, CopyDialog)
        await pilot.press("down", "enter")
        await until(pilot, lambda: "loss.backward" in pilot.app.clipboard or "model(batch).loss / 2" in pilot.app.clipboard)

    drive(AifixApp(ranks), flow)


def test_meaning_and_why(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("m")
        meaning = shown(pilot, "#meaning-text")
        assert "It asked for 1.50 GiB on a card of 23.64 GiB." in meaning
        assert "/job/train.py:42 in training_step" in meaning
        assert "= 1610612736 bytes" in meaning
        assert "▶ line 6: " in meaning
        await pilot.press("y")
        why = shown(pilot, "#why-text")
        assert "the text matches exactly" in why
        assert "line 6" in why
        assert "Confidence" in why

    drive(AifixApp(ranks), flow)


def test_proofs_one_after_the_other(small: Path) -> None:
    log = small / "two.log"
    text = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, {}!\n"
    log.write_text("a\n" * 50 + text.format("cpu") + "b\n" * 100 + text.format("cuda:1") + "c\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        first = view(pilot).number
        assert first == 51
        await pilot.press("e")
        await until(pilot, lambda: view(pilot).number in {51, 152})
        await pilot.press("g")
        assert view(pilot).number == 1
        await pilot.press("G")
        assert view(pilot).number == 153

    drive(AifixApp(log), flow)


def test_probes_run_alone_and_together(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.probes import run
    from aifix.probes.finding import Finding

    def answer(probe: Any, case: Any) -> Finding:
        del case
        if probe.id == "host.shm":
            return Finding("confirmed", "/dev/shm has 64 MiB", {}, ("shm 64M",))
        return Finding("not-available", "no NVIDIA driver")

    monkeypatch.setattr(run, "one", answer)
    (script := ranks.with_name("train.py")).touch()
    ranks.write_text(ranks.read_text().replace("/job/train.py", str(script)).replace("/opt/venv/bin/torchrun", str(script)))

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        before = pilot.app.case.report.diagnoses[0].confidence  # type: ignore[attr-defined]
        await pilot.press("p")
        probes = shown(pilot, "#probe-list")
        assert "Is a GPU short of memory" in probes
        assert "$ aifix probe memory.model --model …" in probes
        await pilot.press("down", "enter")
        await until(pilot, lambda: "✗ speaks for it: /dev/shm has 64 MiB" in shown(pilot, "#probe-list"))
        assert "shm 64M" in shown(pilot, "#probe-list")
        await pilot.press("a")
        await until(pilot, lambda: "– not here: no NVIDIA driver" in shown(pilot, "#probe-list"))
        after = pilot.app.case.report.diagnoses[0].confidence  # type: ignore[attr-defined]
        assert after > before
        assert f"{round(after * 100)} % sure (was {round(before * 100)} %)" in shown(pilot, "#tree")

    drive(AifixApp(ranks), flow)


def test_without_probes_it_says_so(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix_tui import probes_pane

    monkeypatch.setattr(probes_pane, "_registry", lambda: None)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("p", "a")
        assert "no probes" in shown(pilot, "#probe-note")

    drive(AifixApp(ranks), flow)


def test_nothing_failed(small: Path) -> None:
    log = small / "fine.log"
    log.write_text("epoch 1 loss 0.1\ndone\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert "nothing failed" in shown(pilot, "#tree")
        assert "nothing failed" in shown(pilot, "#title")

    drive(AifixApp(log), flow)


def test_an_unknown_failure_is_said_to_be_one(small: Path) -> None:
    log = small / "odd.log"
    log.write_text(
        'x\nTraceback (most recent call last):\n  File "/job/a.py", line 3, in <module>\n    f()\nFrobnicationError: the frob is out of quux\n'
    )

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert "no rule knows" in shown(pilot, "#tree")
        await pilot.press("m")
        assert "FrobnicationError: the frob is out of quux" in shown(pilot, "#meaning-text")
        assert 5 in view(pilot)._proof
        await pilot.press("f", "c", "y", "p", "e")

    drive(AifixApp(log), flow)


def test_an_empty_log_opens(small: Path) -> None:
    log = small / "empty.log"
    log.touch()

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("l", "enter", "G", "g", "n", "pagedown", "e", "c")

    drive(AifixApp(log), flow)


def test_a_resize_keeps_the_state(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("down", "f")
        await pilot.resize_terminal(140, 50)
        await until(pilot, lambda: pilot.app.screen.has_class("-both"))
        assert view(pilot).display
        assert pilot.app.screen.query_one("#logpane").region.height > 5
        assert pilot.app.screen.query_one("#fixes").region.height > 5
        assert pilot.app.screen.query_one("#tree", OptionList).highlighted == 1
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not pilot.app.screen.has_class("-both"))
        assert pilot.app.screen.query_one("#fixes").region.height > 5

    drive(AifixApp(ranks), flow)


def test_hard_wrapped_proof_is_marked_whole(small: Path) -> None:
    log = small / "wrapped.log"
    message = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 1 has a total capacity of 23.64 GiB of which 311.12 MiB is free."
    )
    wrapped = "\n".join(message[at : at + 80] for at in range(0, len(message), 80))
    log.write_text(f"x\n{wrapped}\ny\n")

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert set(view(pilot)._proof) == {2, 3}

    drive(AifixApp(log), flow)


def test_the_rule_page_of_a_diagnosis(ranks: Path) -> None:
    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("h")
        await until(pilot, lambda: pilot.app.current_mode == "browse" and "CUDA out of memory" in shown(pilot, "#page-text"))
        await pilot.press("d")
        assert pilot.app.current_mode == "case"

    drive(AifixApp(ranks), flow)


def test_a_log_from_another_machine_learns_nothing_here(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.probes import run
    from aifix.probes.finding import Finding

    monkeypatch.setattr(run, "one", lambda _probe, _case: Finding("not-available", "no NVIDIA driver"))

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "from another machine" in shown(pilot, "#probe-list"))

    drive(AifixApp(ranks), flow)


def test_of_a_large_log_all_lines_of_a_rank_are_found(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.match import keeper

    monkeypatch.setattr(keeper, "WHOLE", 1 << 16)
    monkeypatch.setattr(keeper, "PAGE", 1 << 12)
    log = small / "large.log"
    steps = "".join(f"12:00:00 [rank{number % 3}]: step {number}\n" for number in range(30_000))
    log.write_text(steps + RANKS.replace("[rank", "12:00:01 [rank"))

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        assert pilot.app.case.document.truncated  # type: ignore[attr-defined]
        await pilot.press("r")
        await until(pilot, lambda: "rank 0 only: 10,002 lines" in shown(pilot, "#state"))
        assert "kept" not in shown(pilot, "#state")
        await pilot.press("slash", *"step 29997", "enter")
        await until(pilot, lambda: view(pilot).number == 29998)

    drive(AifixApp(log), flow)


def test_probes_are_followed_as_they_go_and_called_off(ranks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.probes import run
    from aifix.probes.finding import Finding

    gate = threading.Event()

    def answer(probe: Any, case: Any) -> Finding:
        del case
        if probe.id == "gpu.memory":
            return Finding("refuted", "20 GiB are free")
        gate.wait(30)
        return Finding("confirmed", "/dev/shm has 64 MiB")

    monkeypatch.setattr(run, "one", answer)

    async def flow(pilot: Pilot[None]) -> None:
        await diagnosed(pilot)
        before = pilot.app.case.report  # type: ignore[attr-defined]
        await pilot.press("a")
        await until(pilot, lambda: "20 GiB are free" in shown(pilot, "#probe-list"))  # while the other still runs
        assert "… running" in shown(pilot, "#probe-list")
        await until(pilot, lambda: "1 of 2 answered" in shown(pilot, "#probe-note"))
        await pilot.press("x")
        assert "– called off" in shown(pilot, "#probe-list")
        assert "20 GiB are free" in shown(pilot, "#probe-list")
        gate.set()
        await pilot.pause(0.5)
        assert pilot.app.case.report is before  # type: ignore[attr-defined]
        assert "64 MiB" not in shown(pilot, "#probe-list")
        await pilot.press("a")
        await until(pilot, lambda: "64 MiB" in shown(pilot, "#probe-list") and pilot.app.case.report is not before)  # type: ignore[attr-defined]

    drive(AifixApp(ranks), flow)


@pytest.mark.slow
def test_an_active_probe_that_is_called_off_leaves_no_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from aifix_tui import probing

    marked = tmp_path / "pid"
    program = f"import os, subprocess, sys, time; child = subprocess.Popen(['sleep', '600']); open({str(marked)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    (tmp_path / "python").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{program}"\n')
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(probing.sys, "executable", str(tmp_path / "python"))
    going = probing.Going()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(probing.active("dist.allreduce", going)))
    thread.start()
    deadline = time.monotonic() + 30
    while not marked.exists() or not marked.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    going.call_off()
    thread.join(20)
    assert found == [None]
    child = int(marked.read_text())
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.kill(child, 0)
            time.sleep(0.05)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
