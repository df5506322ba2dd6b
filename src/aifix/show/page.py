"""What the pages of verdicts have in common (flight recorders, memory snapshots, the logs of many ranks): cut lists, headings, diagnoses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from aifix.show import terminal
from aifix.show.layout import NARROWEST, Paint, hang, signs_for
from aifix.show.safe import fit_encoding, sanitise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Diagnosis

_Item = TypeVar("_Item")

MARGIN = "  "


class Page:
    """The lines as they are laid out."""

    def __init__(self, *, width: int, colour: bool, verbose: bool, encoding: str) -> None:
        self.width = max(width, NARROWEST)
        self.paint = Paint(colour=colour)
        self.verbose = verbose
        self.encoding = encoding
        self.signs = signs_for(encoding)
        self.out: list[str] = []

    def text(self) -> str:
        """Give the page, as its stream can print it."""
        return fit_encoding("\n".join(self.out).strip("\n") + "\n", self.encoding)

    def heading(self, text: str) -> None:
        """Begin a part of the page."""
        self.out += ["", self.paint.strong(f"{MARGIN}{text}")]

    def line(self, text: str, first: str = MARGIN, rest: str = MARGIN * 2) -> None:
        """Add a sentence that may hold words of a stranger's."""
        self.out += hang(sanitise(text), self.width, first, rest)

    def shown(self, items: Sequence[_Item], most: int) -> Sequence[_Item]:
        """Give the items that are shown: with --verbose, all."""
        return items if self.verbose else items[:most]

    def more(self, items: Sequence[object], most: int, margin: str = MARGIN) -> None:
        """Say how many items were not shown."""
        left = len(items) - len(self.shown(items, most))
        if left:
            self.out.append(self.paint.dim(f"{margin}{left} more with --verbose"))

    def diagnosis(self, diagnosis: Diagnosis, source: str) -> None:
        """Show a diagnosis with its fixes."""
        lines = terminal.diagnosis_lines(
            diagnosis, source=source, width=self.width, colour=self.paint.colour, verbose=self.verbose, encoding=self.encoding
        )
        self.out += ["", *lines]
