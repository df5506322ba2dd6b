from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix_tui import logfile
from aifix_tui.logfile import LogFile

if TYPE_CHECKING:
    from pathlib import Path


def indexed(path: Path) -> LogFile:
    log = LogFile(path)
    for _ in log.index():
        pass
    return log


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logfile, "PAGE", 16)
    monkeypatch.setattr(logfile, "STEP", 64)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("end", ["", "\n"])
def test_every_line_is_found_whatever_the_pages(tmp_path: Path, end: str) -> None:
    lines = ["", "a", "b" * 50, *[f"line {number}" for number in range(60)], "", "end"]
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + end)
    log = indexed(path)
    assert log.lines == len(lines)
    assert [log.text(number) for number in range(1, log.lines + 1)] == lines


@pytest.mark.usefixtures("tiny")
def test_search_goes_round_in_both_directions(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {number}\n" for number in range(1, 101)) + "Needle one\n" + "x\n" * 40 + "needle two\n")
    log = indexed(path)
    assert log.find("needle", 1) == 101
    assert log.find("NEEDLE", 101) == 142
    assert log.find("needle", 142) == 101
    assert log.find("needle", 101, backwards=True) == 142
    assert log.find("needle", 120, backwards=True) == 101
    assert log.find("line 7\n"[:-1], 100, backwards=True) == 79
    assert log.find("absent", 3) is None
    assert log.find("", 3) is None


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    log = indexed(path)
    assert (log.lines, log.text(1), log.find("x", 1)) == (0, "", None)


def test_of_redraws_the_last_is_shown_or_the_one_that_proves(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"  0%|   |\r 50%|##  |\rRuntimeError: boom\r100%|####|\n")
    log = indexed(path)
    assert log.text(1) == "100%|####|"
    assert log.text(1, "RuntimeError: boom") == "RuntimeError: boom"


def test_an_endless_line_is_cut_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"start " + b"x" * 1_000_000 + b" end\nnext\n")
    log = indexed(path)
    assert log.text(1).startswith("start ")
    assert log.text(1).endswith(" end")
    assert len(log.text(1)) < 40_000
    assert log.text(2) == "next"


def test_utf16_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("one\nzwei ü\n", encoding="utf-16")
    log = indexed(path)
    assert [log.text(1), log.text(2)] == ["one", "zwei ü"]


def test_no_control_character_is_left(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"\x1b]0;title\x07a\x1b[31mred\x1b[0m\x00\x9b\x07 \xe2\x80\xaeevil\n\x1b]52;c;Zm9v\x07\n")
    log = indexed(path)
    assert all(log.text(number).isprintable() for number in (1, 2))


def test_a_file_that_shrinks_meanwhile_ends(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("a\n" * 100)
    log = LogFile(path)
    path.write_text("a\n")
    for _ in log.index():
        pass
    assert log.complete
    assert log.text(90) == ""
