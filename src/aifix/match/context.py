"""Context conditions of signatures: what must, and must not, stand around a match."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aifix.match.regex import PatternError, compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aifix.match.exact import Hit
    from aifix.model import Document, Line, Rule, Signature


def fitting(hits: Iterable[Hit], document: Document, rules: Mapping[str, Rule]) -> list[Hit]:
    """Keep the hits whose signature's conditions on the rest of the log hold.

    Args:
        hits: what a matching stage found.
        document: the cleaned input.
        rules: the base.
    """
    context = Context(document)
    kept = []
    for hit in hits:
        signature = rules[hit.rule].signatures[hit.signature]
        if context.fits(signature, hit):
            survived = signature.level == "warning" or _logged_as_harmless(document.lines[hit.line], signature)
            kept.append(hit._replace(survived=survived))
    return kept


_HARMLESS = re.compile(r"\bNCCL INFO\b|^\W{0,2}(?:INFO|DEBUG|TRACE)\b|\b(?:INFO|DEBUG)\b\W{0,4}$")
_WARNING = re.compile(r"\b(?:[A-Z]\w*)?Warning: ")


def _logged_as_harmless(line: Line, signature: Signature) -> bool:
    """Tell whether the program itself logged a line as information, or as a Python warning that the signature does not name."""
    if _HARMLESS.search(line.prefix) or _HARMLESS.search(line.text):
        return "INFO" not in signature.source
    return _WARNING.search(line.text) is not None and "arning" not in signature.source and "arning" not in signature.covers


class Context:
    """Looks up the context conditions of signatures, each pattern once a log."""

    def __init__(self, document: Document) -> None:
        self._lines = document.lines
        self._found: dict[str, list[int]] = {}

    def fits(self, signature: Signature, hit: Hit) -> bool:
        """Tell whether all `with` patterns and none of the `without` patterns stand near enough."""
        return all(self._stands(pattern, hit.line, signature.within) for pattern in signature.having) and not any(
            self._stands(pattern, hit.line, signature.within) for pattern in signature.without
        )

    def _stands(self, pattern: str, line: int, within: int | None) -> bool:
        if within == 0:
            try:
                return compile_pattern(pattern).search(self._lines[line].text) is not None
            except PatternError:
                return False
        where = self._where(pattern)
        return bool(where) if within is None else any(abs(index - line) <= within for index in where)

    def _where(self, pattern: str) -> list[int]:
        if pattern not in self._found:
            try:
                expression = compile_pattern(pattern)
            except PatternError:
                self._found[pattern] = []
            else:
                self._found[pattern] = [index for index, line in enumerate(self._lines) if expression.search(line.text)]
        return self._found[pattern]
