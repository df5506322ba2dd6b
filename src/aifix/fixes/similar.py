"""Names in the user's own files that are nearly the one that an unknown error misses: most often one of the two is a typing error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes import source
from aifix.lazy import lazy_re
from aifix.model import Location, Similar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aifix.model import Document, Unknown

SHORTEST = 3
"""Characters of a name from which on another can be told to be like it."""
LIKE = 0.75
"""Share of two names that is the same, from which on they are alike."""
MOST = 2
_MISSING = lazy_re(
    r"name '(\w+)' is not defined|has no attribute '(\w+)'|unexpected keyword argument '(\w+)'|variable '(\w+)' (?:referenced|where it is not)"
    r"|^['\"]([\w.-]+)['\"]$"
)
_NAME = lazy_re(r"[A-Za-z_]\w*")


def similar(document: Document, unknown: Unknown, folders: Sequence[str] = ()) -> tuple[Similar, ...]:
    """Name what the failing files call nearly so, and where; nothing where the error misses no name.

    Args:
        document: the log.
        unknown: its error.
        folders: where relative names may start.

    """
    found = _MISSING.search(unknown.message)
    name = next(filter(None, found.groups()), "") if found else ""
    if len(name) < SHORTEST or (found is not None and found[5] and unknown.kind.rpartition(".")[2] != "KeyError"):
        return ()
    proof = {item.line for item in unknown.evidence}
    at = [index for index, line in enumerate(document.lines) if line.number in proof]
    files = [item for item in source.find(document, at, folders) if not item.changed]
    failing = {(item.name, line) for item in files for line in item.lines}
    places: dict[str, Location] = {}
    for item in files:
        for number, text in enumerate(item.data.decode("utf-8", "replace").splitlines(), start=1):
            if (item.name, number) not in failing and name not in (words := _NAME.findall(text)):
                for word in words:
                    places.setdefault(word, Location(item.name, number, source=text.strip()))
    return tuple(Similar(word, places[word]) for word in _nearest(name, places))


def _nearest(name: str, words: Iterable[str]) -> list[str]:
    """Give the words that are most like a name: by their letters, or by being its beginning."""
    from difflib import SequenceMatcher

    scored = []
    for word in words:
        if len(word) < SHORTEST:
            continue
        share = SequenceMatcher(None, name.lower(), word.lower()).ratio()
        begins = name.startswith(f"{word}_") or word.startswith(f"{name}_")
        if share >= LIKE or begins:
            scored.append((-share, word))
    return [word for _, word in sorted(scored)[:MOST]]
