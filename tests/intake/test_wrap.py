"""Lines that were cut at one width, and lines that only look so."""

from __future__ import annotations

import pytest

from aifix.intake import wrap
from aifix.model import Line

TRACEBACK = """\
Traceback (most recent call last):
  File "/home/user/project/experiments/segmentation/train_with_everything.py", line 441, in <module>
    start()
  File "/home/user/miniconda3/envs/segmentation/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1501, in _call_impl
    return forward_call(*args, **kwargs)
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.LongTensor [8, 512]] is at version 2; expected version 0 instead."""


def numbered(texts: list[str]) -> list[Line]:
    return [Line(number, text) for number, text in enumerate(texts, 1)]


def cut(text: str, width: int) -> list[Line]:
    pieces = [line[i : i + width] for line in text.split("\n") for i in range(0, max(len(line), 1), width)]
    return numbered(pieces)


@pytest.mark.parametrize("width", [38, 72, 80, 97, 100, 120, 132])
def test_a_wrapped_traceback_is_joined(width: int) -> None:
    joined = [line.text for line in wrap.join(cut(TRACEBACK, width))]
    assert set(TRACEBACK.split("\n")) <= set(joined)


def test_a_joined_line_has_the_number_of_its_first_part() -> None:
    joined = wrap.join(cut(TRACEBACK, 80))
    assert [line.number for line in joined if line.text.startswith("RuntimeError: one")][:1] == [8]


def test_one_long_message_alone_keeps_both_readings() -> None:
    message = "RuntimeError: CUDA out of memory. Tried to allocate 1.24 GiB (GPU 0; 15.78 GiB total capacity; 13.70 GiB already allocated)"
    joined = wrap.join(cut("epoch 1\n" + message, 80))
    assert [line.text for line in joined] == ["epoch 1", message, message[:80], message[80:]]
    assert [line.number for line in joined] == [1, 2, 2, 3]


UNTOUCHED = [
    [],
    ["short", "lines", "only"],
    ["=" * 80, "tests/test_a.py::test_b PASSED", "=" * 80],
    ["a" * 79 + ".", "", "b"],  # full, but a blank line follows
    ["x" * 100, "Traceback (most recent call last):"],
    ["y" * 100, '  File "a.py", line 1, in f'],
    ["2024-05-01 12:00:00 " + "z" * 60, "2024-05-01 12:00:01 short"],
    ["step 10 " + "m" * 40, "step 11 " + "m" * 40, "step 12 done"],
    ["[rank1]: " + "e" * 71, "[rank1]: f"],
    ["0: " + "e" * 77, "0: f"],
    ["a line that happens to be the longest of this log, by chance, and is nothing", "special at all"],
    ["| " + "cell " * 15 + " |", "| x |"],
    ["w" * 3000, "w"],
]


@pytest.mark.parametrize("texts", UNTOUCHED, ids=lambda texts: (texts or ["none"])[0][:30])
def test_ordinary_logs_are_left_alone(texts: list[str]) -> None:
    assert wrap.join(numbered(texts)) == numbered(texts)


def test_nothing_is_lost_when_in_doubt() -> None:
    pieces = cut(TRACEBACK.replace("forward_call", "Forward"), 80)
    joined = wrap.join(pieces)
    assert "".join(piece.text for piece in pieces) in "".join(line.text for line in joined) or len(joined) >= len(pieces)


def test_lines_with_a_gap_between_are_not_joined() -> None:
    pieces = [Line(1, "x" * 79 + "a"), Line(500, "bcd"), Line(501, "y" * 79 + "e"), Line(900, "fgh")]
    assert wrap.join(pieces) == pieces
