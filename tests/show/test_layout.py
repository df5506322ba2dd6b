from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.show.layout import counted, display_width, hang, hang_parts, name_lines, name_ranks, paragraphs, sure, wrap

LINE = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" "), max_size=200)


@given(LINE, st.integers(2, 120))
def test_wrapping_loses_nothing_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(display_width(line) <= width for line in lines)


@given(st.lists(st.text("abc", min_size=1, max_size=9), min_size=1), st.integers(10, 60))
def test_words_that_fit_are_never_cut(words: list[str], width: int) -> None:
    assert [word for line in wrap(" ".join(words), width) for word in line.split()] == words


@given(LINE, st.integers(24, 120), st.sampled_from(["", "  1. ", "  57 │ "]))
def test_hanging_lines_align(text: str, width: int, first: str) -> None:
    lines = hang(text, width, first)
    assert lines[0].startswith(first)
    assert all(line.startswith(" " * len(first)) for line in lines[1:])
    assert all(display_width(line) <= width for line in lines)


def test_wide_characters_count_twice() -> None:
    assert display_width("进度 a") == 6
    assert display_width("e\u0301") == 1
    assert wrap("进度进度", 4) == ["进度", "进度"]


def test_paths_are_cut_behind_a_separator() -> None:
    path = "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"
    assert wrap(path, 40) == ["/opt/venv/lib/python3.11/site-packages/", "torch/nn/modules/module.py"]
    assert wrap(f'  File "{path}", line 13, in <module>', 40) == [
        '  File "/opt/venv/lib/python3.11/',
        "site-packages/torch/nn/modules/",
        'module.py", line 13, in <module>',
    ]


def test_breaks_between_statements_first() -> None:
    assert hang_parts(["cuda.oom", "", "97 % sure", "rank 3 (1 of 8)"], 26, "  ", "·") == ["  cuda.oom · 97 % sure ·", "  rank 3 (1 of 8)"]


def test_lists_keep_their_breaks() -> None:
    assert paragraphs("one\ntwo\n\n- a\n- b\n", 40, "  ") == ["  one two", "", "  - a", "  - b"]


@pytest.mark.parametrize(
    ("ranks", "world", "text"),
    [
        ((), None, ""),
        ((3,), None, "rank 3"),
        ((3,), 8, "rank 3 (1 of 8)"),
        ((7, 0, 1, 2, 3), 64, "ranks 0-3, 7 (5 of 64)"),
        ((0, 1), None, "ranks 0, 1"),
        ((5, 5, 9), 1, "ranks 5, 9"),
        (tuple(range(512)), 512, "ranks 0-511 (512 of 512)"),
    ],
)
def test_ranks(ranks: tuple[int, ...], world: int | None, text: str) -> None:
    assert name_ranks(ranks, world) == text


def test_numbers() -> None:
    assert name_lines([]) == ""
    assert name_lines([57]) == "line 57"
    assert name_lines([9, 8, 8]) == "lines 8, 9"
    assert name_lines(range(1, 10)) == "lines 1, 2, 3 and 6 more"
    assert counted(1, "line") == "1 line"
    assert counted(1204, "line") == "1,204 lines"
    assert [sure(value) for value in (0.0, 0.97, 1.0)] == ["1 % sure", "97 % sure", "99 % sure"]
