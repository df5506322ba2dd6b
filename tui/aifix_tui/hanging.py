"""Texts whose wrapped lines keep their indent, at any width."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.content import Content
from textual.strip import Strip
from textual.visual import RenderOptions, Visual

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.style import Style

_HEAD = re.compile(r" {0,2}[\w.-]+(?: \d+)? {2,}| *(?:(?:[✗▲•↳✓?–$“▶¶]|\d+\.|hint|env|set|[a-z]  ) *)?")
NARROW = 3
"""The indent takes at most a third of the width."""


class Hanging(Visual):
    """A content of which each line, when it wraps, goes on below its own first word (behind blanks, a sign, a number, or a label and two blanks)."""

    def __init__(self, content: Content) -> None:
        """Split the content into lines and measure their indents."""
        self.content = content
        self._lines = [(_indent(line.plain), line) for line in content.split("\n", allow_blank=True)]

    def __str__(self) -> str:
        return self.content.plain

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Lay the lines out."""
        strips: list[Strip] = []
        for indent, line in self._lines:
            hang = min(indent, width // NARROW)
            if hang == 0 or line.cell_length <= width:
                strips += (line if line.plain else Content(" ")).render_strips(width, None, style, options)
                continue
            head, rest = line[:hang], line[hang:]
            blank = Strip.blank(hang, style.rich_style)
            for number, strip in enumerate(rest.render_strips(max(1, width - hang), None, style, options)):
                first = head.render_strips(hang, 1, style, options)[0].adjust_cell_length(hang, style.rich_style) if number == 0 else blank
                strips.append(Strip.join([first, strip]))
        return strips if height is None else strips[:height]

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Give the width at which nothing wraps."""
        return self.content.get_optimal_width(rules, container_width)

    def get_minimal_width(self, rules: RulesMap) -> int:
        """Give the width of the longest word."""
        return self.content.get_minimal_width(rules)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Count the lines at a width."""
        total = 0
        for indent, line in self._lines:
            hang = min(indent, width // NARROW)
            if hang == 0 or line.cell_length <= width:
                total += line.get_height(rules, width) if line.plain else 1
            else:
                total += line[hang:].get_height(rules, max(1, width - hang))
        return total


def _indent(line: str) -> int:
    match = _HEAD.match(line)
    return match.end() if match and match.end() < len(line) else 0
