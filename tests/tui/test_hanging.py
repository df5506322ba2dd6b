from __future__ import annotations

import pytest
from textual.content import Content
from textual.style import Style
from textual.visual import RenderOptions

from aifix_tui.hanging import Hanging


def lines(text: str, width: int) -> list[str]:
    hanging = Hanging(Content(text))
    strips = hanging.render_strips(width, None, Style(), RenderOptions(lambda _style: Style(), {}))
    assert hanging.get_height({}, width) == len(strips)
    assert all(strip.cell_length <= width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("1. one two three", 9, ["1. one", "   two", "   three"]),
        ("✗ one two three", 7, ["✗ one", "  two", "  three"]),
        ("   one two three", 9, ["   one", "   two", "   three"]),
        ("label  one two three four", 20, ["label  one two three", "      four"]),
        ("plain words here", 7, ["plain", "words", "here"]),
        ("a\n\n  b", 9, ["a", "", "  b"]),
        ("short", 80, ["short"]),
        ("漢字漢字漢字", 5, ["漢字", "漢字", "漢字"]),
        ("", 5, [""]),
    ],
)
def test_wrapped_lines_keep_their_indent(text: str, width: int, expected: list[str]) -> None:
    assert lines(text, width) == expected
