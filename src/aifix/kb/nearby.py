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

# The bars below were set by leaving rules out: examples of 120 rules, each diagnosed without its own rule. Of the 297 that were then unknown,
# 122 got an article, and for 112 of these (92 %) it was one of the missing rule's own.
TELLING = 7.0
"""What an error's words must tell together: the sum of log(articles / articles with the word), twice for those of the heading."""
APART = 1.5
"""How far what is named must stand above the next article."""
MOST = 2
LIKELY = 0.6
"""Likeness of a rule's wording from which it speaks for its articles."""
SPOKEN = 4.0
"""What a rule of the very same wording would tell."""
LONGEST = 2000
"""Characters of an error that are looked at."""
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

    An article is near when the error's rarer words stand in it, or the nearest rules are its own, and no other article can say so.

    Args:
        unknown: the failure, with the rules that are nearest in wording.
        articles: all articles.

    """
    bodies = {name: frozenset(words_of(f"{article.title} {article.summary} {article.body}")) for name, article in articles.items()}
    standing = Counter(word for body in bodies.values() for word in body)
    said = {word for word in words_of(f"{unknown.kind} {unknown.message}"[:LONGEST]) if not word.isdigit()} - COMMON
    told: dict[str, float] = {}
    for name, article in articles.items():
        heading = frozenset(words_of(" ".join((name, article.title, article.summary, *article.topics))))
        told[name] = sum(math.log(len(bodies) / standing[word]) * (1 + (word in heading)) for word in said & bodies[name])
    for rule in unknown.nearest:
        likely = SPOKEN * max(0.0, rule.score - LIKELY) / (1 - LIKELY)
        for place, article in enumerate(articles.of_rule(rule.id)[:2], 1):
            told[article.name] += likely / place
    ranked = sorted(told, key=lambda name: (-told[name], name))
    for most in range(1, MOST + 1):
        if len(ranked) > most and told[ranked[most - 1]] >= max(TELLING, APART * told[ranked[most]]):
            return [articles[name] for name in ranked[:most]]
    return []
