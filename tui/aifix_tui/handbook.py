"""The rule base and the articles as a handbook: families, pages, links, and searches that forgive typing errors. No widgets.

A page goes by a name: a rule by its id, an article by `article:` and its name.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aifix.show import handbook
from aifix.show.handbook import FAMILIES

if TYPE_CHECKING:
    from aifix.kb.articles import Article, Articles
    from aifix.kb.search import Found as Hit
    from aifix.kb.search import Searcher
    from aifix.model import Rule
    from aifix.rulebase.base import Base
    from aifix.show.handbook import Links

__all__ = ["ARTICLE", "FAMILIES", "Found", "Handbook"]
ARTICLE = "article:"
MOST = 60
"""Pages that a search of the whole handbook gives."""
LINKS = (("causes", "may be caused by"), ("symptoms", "may cause"), ("refines", "a case of"), ("refined", "special case"))
"""The ways in which rules hang together, and what they are called on a page."""
LIKE = 78
"""How alike (of 100) a word must be to one of the handbook's to be taken for it."""
_WORD = re.compile(r"[a-z0-9_]{2,}")
_SYNTAX = re.compile(r"\{(\w+):\w+\}|\\[a-zA-Z]|\(\?[a-zA-Z:!<=]*|[\\(){}\[\]?*+|^$.]")


class Found(NamedTuple):
    """A rule that a search found, and how well it fits, in 0..1."""

    id: str
    score: float


class Link(NamedTuple):
    """A way from one page to another: in what way they hang together, and where it leads."""

    words: str
    page: str
    title: str


class Handbook:
    """All rules and articles, searchable."""

    def __init__(self, rules: Base, articles: Articles | None = None) -> None:
        """Index a rule base; takes some tens of milliseconds, so it runs in a thread."""
        from aifix.kb.articles import Articles

        self._base = rules
        self.articles = articles if articles is not None else Articles()
        self._searcher: Searcher | None = None
        self.rules = dict(sorted(rules.items()))
        self.links: dict[str, Links] = handbook.links(self.rules)
        self._pages: dict[str, Rule] = {}
        self._printed: dict[str, list[str]] = {}
        self.titles = {rule.id: handbook.title(rule) for rule in self.rules.values()}
        self._fields = [(rule.id, *self._words(rule)) for rule in self.rules.values()]
        counted: dict[str, int] = {}
        for _, *fields in self._fields:
            for word in set().union(*fields):
                counted[word] = counted.get(word, 0) + 1
        self._weight = {word: math.log(1 + len(self.rules) / count) for word, count in counted.items()}
        self.vocabulary = sorted(counted)

    def _words(self, rule: Rule) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """Give the words of a rule by weight: name and title, tags, what programs print."""
        printed = " ".join(_SYNTAX.sub(r" \1 ", signature.source) for signature in rule.signatures)
        return (
            frozenset(_words(f"{rule.id} {self.titles[rule.id]}")),
            frozenset(_words(" ".join((*rule.tags, *rule.phase)))),
            frozenset(_words(printed)),
        )

    def page(self, rule_id: str) -> Rule:
        """Give a rule with its texts filled in."""
        if rule_id not in self._pages:
            self._pages[rule_id] = handbook.without_case(self.rules[rule_id])
        return self._pages[rule_id]

    def printed(self, rule_id: str) -> list[str]:
        """Give what programs print for a rule."""
        if rule_id not in self._printed:
            self._printed[rule_id] = handbook.wordings(self.rules[rule_id])
        return self._printed[rule_id]

    def families(self) -> dict[str, list[str]]:
        """Give the ids by family."""
        families: dict[str, list[str]] = {}
        for rule_id in self.rules:
            families.setdefault(rule_id.partition(".")[0], []).append(rule_id)
        return families

    # ------------------------------------------------------------ articles, and the links both ways

    def article(self, page: str) -> Article | None:
        """Give the article of a page's name; None when it is a rule's, or nobody's."""
        return self.articles.get(page.removeprefix(ARTICLE)) if page.startswith(ARTICLE) else None

    def holds(self, page: str) -> bool:
        """Tell whether there is such a page."""
        return page in self.rules or self.article(page) is not None

    def title(self, page: str) -> str:
        """Give the title of a page."""
        article = self.article(page)
        return article.title if article is not None else self.titles.get(page, page)

    def links_of(self, page: str) -> list[Link]:
        """Give all links of a page: rules by cause, symptom and refinement, articles about a rule, rules and articles that an article names."""
        article = self.article(page)
        if article is None:
            links = self.links[page]
            found = [(words, other) for name, words in LINKS for other in getattr(links, name)]
            found += [("read", ARTICLE + one.name) for one in self.articles.of_rule(page)]
        else:
            found = [("about", rule_id) for rule_id in article.rules]
            found += [("see also", other) for other in _linked(article.body)]
        first = {other: words for words, other in reversed(found) if other != page and self.holds(other)}  # each page once, by its first link
        return [Link(words, other, self.title(other)) for other, words in reversed(first.items())]

    def topics(self) -> dict[str, list[Article]]:
        """Give the articles by topic, each under its first one."""
        found: dict[str, list[Article]] = {}
        for article in self.articles.values():
            found.setdefault(next(iter(article.topics), "other"), []).append(article)
        return dict(sorted(found.items()))

    def find(self, query: str, kind: str = "") -> list[Hit]:
        """Find rules and articles together, best first, as `aifix kb search` does; the first call may take a second, so it runs in a thread.

        Args:
            query: words, the last of which may be incomplete, or a whole message.
            kind: `rule` or `article`; both by default.

        """
        from aifix.kb import search

        if self._searcher is None:
            self._searcher = search.searcher(self._base)
        found = self._searcher.search(query, most=MOST, kind=kind)
        return [one for one in found if self.holds(one.name if one.kind == "rule" else ARTICLE + one.name)]

    def search(self, query: str) -> list[Found]:
        """Find rules by words, the last of which may be incomplete; best first. Words that are nearly right count too.

        Args:
            query: words of a title, a tag, or of the message itself.

        """
        asked = _words(query)
        if not asked:
            return []
        readings = [self._readings(word) for word in asked]
        found: list[Found] = []
        for rule_id, named, tagged, printed in self._fields:
            total = reached = 0.0
            for reading in readings:
                weight = max((self._weight[word] for word in reading), default=3.0)
                best = max(
                    (
                        likeness * (1.0 if word in named else 0.85 if word in tagged else 0.7 if word in printed else 0.0)
                        for word, likeness in reading.items()
                    ),
                    default=0.0,
                )
                total += weight
                reached += weight * best
            if reached >= 0.4 * total:
                found.append(Found(rule_id, reached / total))
        return sorted(found, key=lambda one: (-one.score, one.id))

    def _readings(self, word: str) -> dict[str, float]:
        """Give the words of the handbook that a typed one may mean, each with its likeness in 0..1."""
        if word in self._weight:
            return {word: 1.0} | {other: 0.9 for other in self.vocabulary if other != word and other.startswith(word)}
        begun = {other: 0.9 for other in self.vocabulary if other.startswith(word)}
        if begun:
            return begun
        inside = {other: 0.8 for other in self.vocabulary if len(word) > 2 and word in other}
        if inside:
            return inside
        from rapidfuzz import process

        near = process.extract(word, self.vocabulary, limit=4, score_cutoff=LIKE)
        return {other: score / 100 * 0.8 for other, score, _ in near}


def _linked(body: str) -> list[str]:
    """Give the pages that an article's body links to."""
    from aifix.kb.articles import relink

    found: list[str] = []

    def note(link: Any) -> str:
        if link.kind in {"rule", "article"}:
            found.append(link.target if link.kind == "rule" else ARTICLE + link.target)
        return ""

    relink(body, note)
    return found


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace(".", " ").replace("-", " "))
