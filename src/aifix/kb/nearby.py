"""Which articles a report names: those about a diagnosis, and those that are near to a failure that no rule knows.

It runs after a failed pipe, when something is printed: no index is opened for it.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from aifix.kb import articles as library
from aifix.kb.words import STOP, words_of

if TYPE_CHECKING:
    from aifix.kb.articles import Article, Articles
    from aifix.model import Diagnosis, Unknown

ALIKE = 0.75
"""Likeness of a rule's wording from which its articles are worth naming."""
SHARED = 2
"""Words that an error and an article's heading must share at least."""
TELLING = 4.5
"""How much these words must tell together: the sum of log(1 + articles / articles with the word)."""
MOST = 3
_COMMON = (
    "error errors exception failed failure fail runtime value type key invalid expected got found could cannot can only one two first last right "
    "which memory model data time line file name use used using reading read shows show need wrong long"
)
COMMON = STOP | frozenset(_COMMON.split())
"""Words that stand in errors of all kinds."""


def about(what: Diagnosis | Unknown) -> tuple[tuple[str, str], ...]:
    """Give name and title of the articles about a diagnosis, or really near to an unknown failure."""
    from aifix.model import Diagnosis

    if isinstance(what, Diagnosis):
        return library.background(what.id)
    return tuple((article.name, article.title) for article in near(what, library.load()))


def near(unknown: Unknown, articles: Articles) -> list[Article]:
    """Give the articles that are near to an unknown failure: leads, not claims; mostly none.

    Args:
        unknown: the failure, with the rules that are nearest in wording.
        articles: all articles.

    """
    found: dict[str, Article] = {}
    for rule in unknown.nearest:
        if rule.score >= ALIKE:
            found |= {article.name: article for article in articles.of_rule(rule.id)[:1]}
    headings = {article.name: _heading(article) for article in articles.values()}
    standing = Counter(word for heading in headings.values() for word in heading)
    said = set(words_of(f"{unknown.kind} {unknown.message}"[:2000])) - COMMON
    told: list[tuple[float, str]] = []
    for name, heading in headings.items():
        shared = said & heading
        weight = sum(math.log(1 + len(headings) / standing[word]) for word in shared)
        if len(shared) >= SHARED and weight >= TELLING:
            told.append((-weight, name))
    found |= {name: articles[name] for _, name in sorted(told)}
    return list(found.values())[:MOST]


def _heading(article: Article) -> frozenset[str]:
    """Give the words by which an article presents itself."""
    return frozenset(words_of(" ".join((article.name, article.title, article.summary, *article.topics)))) - COMMON
