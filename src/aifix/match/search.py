"""Where a pattern stands in a document: one search over the joined text, then the lines that it hits."""

from __future__ import annotations

import bisect
from typing import TYPE_CHECKING

from aifix.match.regex import PatternError, compile_bytes, compile_pattern

if TYPE_CHECKING:
    from aifix.model import Document

MANY = 2000
"""Lines given for one pattern; further ones change no answer."""


class Searcher:
    """Finds patterns in one document, each once."""

    def __init__(self, document: Document) -> None:
        """Join the document's lines when first asked."""
        self.document = document
        self._joined: bytes | None = None
        self._starts: list[int] = []
        self._found: dict[str, list[int]] = {}

    def lines(self, pattern: str) -> list[int]:
        """Give the indices of the lines that a pattern matches, in order; none for a pattern that is not a linear-time regex."""
        if pattern not in self._found:
            self._found[pattern] = self._search(pattern)
        return self._found[pattern]

    def stands(self, pattern: str) -> bool:
        """Tell whether a pattern matches any line."""
        return bool(self.lines(pattern))

    def _search(self, pattern: str) -> list[int]:
        try:
            expression = compile_pattern(pattern)
        except PatternError:
            return []
        texts = self.document.lines
        if "^" in pattern or "$" in pattern or "\\A" in pattern:  # anchored to lines, which the joined text does not show
            return [index for index, line in enumerate(texts) if expression.search(line.text)][:MANY]
        if self._joined is None:
            at = 0
            encoded = [line.text.encode("utf-8", "replace") for line in texts]
            for text in encoded:
                self._starts.append(at)
                at += len(text) + 1
            self._joined = b"\n".join(encoded)  # bytes: re2 would encode a text anew for every search
        over = compile_bytes(pattern)
        found: list[int] = []
        position = 0
        while len(found) < MANY:
            match = over.search(self._joined, position)
            if match is None:
                break
            index = max(bisect.bisect_right(self._starts, match.start()) - 1, 0)
            if expression.search(texts[index].text):  # blanks and negated classes match line feeds too: the line itself decides
                found.append(index)
            if index + 1 >= len(texts):
                break
            position = self._starts[index + 1]
        return found


_latest: Searcher | None = None


def searcher(document: Document) -> Searcher:
    """Give the document's searcher: the latest one is kept, since all stages ask about one document after the other."""
    global _latest  # noqa: PLW0603 - as said
    if _latest is None or _latest.document is not document:
        _latest = Searcher(document)
    return _latest
