"""Search over rules and articles together: by words, their beginnings and their stems, typing errors forgiven; best first.

    from aifix.kb import search
    for found in search.search("pinned memry"):
        print(found.kind, found.name, found.title)

`search` is what `aifix kb search` and the terminal interface call; `articles.load()` (aifix.kb.articles) gives the articles themselves.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import msgspec

from aifix.kb import articles as library
from aifix.kb import index as indexes
from aifix.kb.index import END, START
from aifix.kb.words import STOP, stem, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.kb.index import Index
    from aifix.rulebase.base import Base

LIKE = 0.7
"""How alike a word must be to one of the texts to be taken for it."""
RIVAL = 0.9
"""Share of the best reading's likeness that another needs to count too."""
READINGS = 4
"""Words that a mistyped one may mean."""
STRANGE = 4.0
"""Weight of a word that stands nowhere."""
PHRASE = 0.6
"""What two words side by side tell beside the words themselves."""
SHORT = 4
"""Words up to which a query is a question; a longer one is a pasted message, of which less has to fit."""
MOST = 40
"""Words of a query that are looked at."""


class Found(msgspec.Struct, frozen=True):
    """Something that a search found: an `article` or a `rule`, by name or id. `score` is 1 for the best."""

    kind: str
    name: str
    title: str
    summary: str
    score: float
    snippet: str = ""
    """A passage in which words of the query stand between `aifix.kb.search.START` and `END`; empty when they stand in the title only."""


__all__ = ["END", "START", "Found", "Searcher", "search", "searcher"]


class Searcher:
    """Searches one base and its articles; opening takes some milliseconds, a search less."""

    def __init__(self, index: Index) -> None:
        """Search an index."""
        self._index = index
        self._named = [frozenset(map(stem, words_of(f"{entry.name} {entry.title}"))) for entry in index.entries]
        self._stems: dict[str, int] = {}
        for word, times in index.words.items():
            self._stems[stem(word)] = max(times, self._stems.get(stem(word), 0))

    def search(self, text: str, *, most: int = 10, kind: str = "") -> list[Found]:
        """Find what words lead to, best first.

        Args:
            text: words, the last of which may be incomplete, or a whole message.
            most: how many to give.
            kind: `article` or `rule`; both by default.

        """
        said = words_of(text)[:MOST]
        asked = list(dict.fromkeys(said))
        asked = [word for word in asked if word not in STOP] or asked
        if len(asked) > SHORT:
            asked = [word for word in asked if not word.isdigit()] or asked  # the numbers of a pasted message are that run's alone
        readings = {word: self._readings(word) for word in asked}
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        total = 0.0
        for reading in readings.values():
            weight = self._weight(reading)
            total += weight
            for number, told in self._told(reading).items():
                scores[number] = scores.get(number, 0.0) + told + weight * self._names(number, reading)
                covered[number] = covered.get(number, 0.0) + weight
        for first, second in itertools.pairwise(said):
            for number, told in self._index.phrases(f"{first} {second}").items():
                if number in scores:
                    scores[number] += told * PHRASE
        need = 0.5 if len(asked) <= SHORT else 0.3
        ranked: list[tuple[float, int]] = []
        name = text.strip().lower()
        for number, score in scores.items():
            entry = self._index.entries[number]
            share = covered[number] / total
            if share >= need and (not kind or entry.kind == kind):
                ranked.append((score * share * share * (1000 if entry.name == name else 1), number))
        ranked.sort(key=lambda one: (-one[0], one[1]))
        marked = [word for reading in readings.values() for word in reading if len(word) > 2] or asked
        return [self._found(number, rank / ranked[0][0], marked) for rank, number in ranked[:most]]

    def _found(self, number: int, score: float, marked: Iterable[str]) -> Found:
        entry = self._index.entries[number]
        return Found(entry.kind, entry.name, entry.title, entry.summary, round(score, 3), self._index.snippet(number, marked))

    def _weight(self, reading: dict[str, float]) -> float:
        """Give what a word is worth: the rarer the more."""
        known = [self._stems[stem(word)] for word in reading if stem(word) in self._stems]
        return math.log(1 + len(self._index.entries) / max(known)) if known else STRANGE

    def _told(self, reading: dict[str, float]) -> dict[int, float]:
        best: dict[int, float] = {}
        for word, likeness in reading.items():
            for number, told in self._index.matches(word, begins=likeness == 1.0 and len(word) > 3).items():
                best[number] = max(best.get(number, 0.0), told * likeness)
        return best

    def _names(self, number: int, reading: dict[str, float]) -> float:
        """Tell how surely a word stands in an entry's name or title; bm25 hardly tells fields apart where all say the word."""
        named = self._named[number]
        return max((likeness for word, likeness in reading.items() if stem(word) in named or (likeness == 1.0 and _begins(word, named))), default=0.0)

    def _readings(self, word: str) -> dict[str, float]:
        """Give the words that a typed one may mean, each with its likeness in 0..1."""
        if word in self._index.words or stem(word) in self._stems or _begins(word, self._index.words):
            return {word: 1.0}
        if len(word) < 4 or word.isdigit():
            return {}
        from rapidfuzz import process
        from rapidfuzz.distance import OSA, JaroWinkler

        near = process.extract(word, list(self._index.words), scorer=OSA.normalized_similarity, limit=READINGS * 3, score_cutoff=LIKE)
        # one edit is like another, but people rarely mistype how a word begins: lable is label, not able or table
        likely = {other: score * JaroWinkler.similarity(word, other) ** 2 for other, score, _ in near}
        best = max(likely.values(), default=0.0)
        chosen = sorted((other for other, likeness in likely.items() if likeness >= RIVAL * best), key=lambda other: -likely[other])
        return {other: 0.95 * likely[other] / best * min(1.0, best + 0.1) for other in chosen[:READINGS]}


def searcher(base: Base | None = None) -> Searcher:
    """Open the index of a base (the built-in and the user's rules by default) and all articles."""
    if base is None:
        from aifix import api

        base = api.rule_base()
    return Searcher(indexes.load(base, library.load()))


def search(text: str, *, most: int = 10, kind: str = "", base: Base | None = None) -> list[Found]:
    """Find rules and articles by words of theirs, best first; see `Searcher.search`."""
    return searcher(base).search(text, most=most, kind=kind)


def _begins(word: str, words: Iterable[str]) -> bool:
    return len(word) > 3 and any(other.startswith(word) for other in words)
