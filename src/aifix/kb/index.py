"""The full-text index over rules and articles: an SQLite file with FTS5, made when the wheel is built or when something changed.

Where SQLite lacks FTS5, or no file can be written or read, the same questions are answered from memory.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from aifix.kb import articles as library
from aifix.kb.words import words_of
from aifix.lazy import lazy_re
from aifix.rulebase import paths

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from aifix.kb.articles import Articles
    from aifix.model import Rule
    from aifix.rulebase.base import Base

FORMAT = 2
"""Version of the file; another one is rebuilt."""
NAME = "handbook.db"
START, END = "\x02", "\x03"
"""Around what fits, in a snippet."""
FIELDS = ("name", "title", "tags", "printed", "body")
WEIGHTS = (8.0, 6.0, 4.0, 3.0, 1.0)
"""How much a word counts by the field in which it stands."""
KEPT = 4
"""Indexes that stay in the cache."""
SNIPPET = 18
"""Words of a snippet."""

_MARKUP = lazy_re(r"^ {0,3}(?:`{3,}.*|~{3,}.*|\|? *:?-{3,}.*)$|^#+ |^ *\| ?| ?\| *$|[*`]", re.MULTILINE)


class Entry(NamedTuple):
    """What can be found: an `article` or a `rule`, with the texts in which it is looked for."""

    kind: str
    name: str
    title: str
    summary: str
    tags: str
    printed: str
    body: str

    def texts(self) -> tuple[str, ...]:
        """Give the fields in the order of their weights."""
        return (self.name.replace(".", " ").replace("-", " "), self.title, self.tags, self.printed, self.body)


class Index(Protocol):
    """What a search asks."""

    entries: Sequence[Entry]
    words: Mapping[str, int]
    """Every word, and in how many entries it stands."""

    def matches(self, word: str, *, begins: bool) -> dict[int, float]:
        """Give the entries in which a word stands (or one that begins so), by number, and how much it tells about each."""

    def phrases(self, phrase: str) -> dict[int, float]:
        """Give the entries whose title, or whose message as programs print it, holds words that stand side by side."""

    def snippet(self, number: int, words: Iterable[str]) -> str:
        """Give a passage of an entry around some words, which are marked; empty when none stands in its texts."""


def stripped(body: str) -> str:
    """Take the markup out of an article."""
    return re.sub(r"[ \t]+", " ", _MARKUP.sub(" ", library.relink(body, lambda link: link.text))).strip()


def entries(rules: Mapping[str, Rule], articles: Articles) -> list[Entry]:
    """Give all that can be found. Takes a second for the whole base, so it is done once."""
    from aifix.show import handbook

    found = [
        Entry(
            "article",
            article.name,
            article.title,
            article.summary,
            " ".join((*article.topics, *article.rules)),
            "",
            f"{article.summary}\n{stripped(article.body)}",
        )
        for article in articles.values()
    ]
    for rule in rules.values():
        page = handbook.without_case(rule)
        fixes = " ".join(f"{fix.title}. {fix.why}" for fix in page.fixes)
        explained = " ".join(page.explain.split())
        summary = re.split(r"(?<=[.!?]) (?=[A-Z])", explained, maxsplit=1)[0]
        printed = "\n".join(handbook.wordings(rule))
        covers = " ".join(signature.covers for signature in rule.signatures)
        found.append(Entry("rule", rule.id, page.title, summary, " ".join((*rule.tags, *rule.phase, covers)), printed, f"{explained} {fixes}"))
    return found


def count(listed: Iterable[Entry]) -> dict[str, int]:
    """Count in how many entries each word stands."""
    counted: Counter[str] = Counter()
    for entry in listed:
        counted.update({word for text in entry.texts() for word in words_of(text)})
    return dict(counted)


def mark(base: Base, articles: Articles) -> str:
    """Give the fingerprint of what an index is made of."""
    import hashlib

    digest = hashlib.blake2b(f"{FORMAT}\0{base.digest()}\0".encode(), digest_size=16)
    digest.update(library.encode(articles.values()))
    return digest.hexdigest()


def load(base: Base, articles: Articles) -> Index:
    """Open the index of a base and articles, making it first where there is none that fits."""
    import contextlib

    wanted = mark(base, articles)
    own = os.path.join(paths.cache_folder(), f"handbook-{wanted}.db")  # noqa: PTH118 - as rulebase/paths.py
    for path in (os.path.join(paths.compiled_folder(), NAME), own):  # noqa: PTH118
        found = _open(path, wanted)
        if found is not None:
            return found
    listed = entries(base, articles)
    with contextlib.suppress(OSError):
        if write(listed, wanted, own) and (found := _open(own, wanted)) is not None:
            _tidy(os.path.dirname(own))  # noqa: PTH120
            return found
    return Plain(listed)


def write(listed: Sequence[Entry], fingerprint: str, path: str) -> bool:
    """Write an index, whole or not at all; false where SQLite lacks FTS5.

    Raises:
        OSError: the file cannot be written.

    """
    import tempfile

    try:
        import sqlite3
    except ImportError:  # a Python built without it
        return False

    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".handbook-")  # noqa: PTH120
    os.close(handle)
    try:
        connection = sqlite3.connect(temporary)
        try:
            _fill(connection, listed, fingerprint)
        finally:
            connection.close()
        os.chmod(temporary, 0o644)  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except sqlite3.Error as error:
        os.unlink(temporary)  # noqa: PTH108
        if "fts5" in str(error):
            return False
        raise OSError(str(error)) from error
    except OSError:
        os.unlink(temporary)  # noqa: PTH108
        raise
    return True


def _fill(connection: sqlite3.Connection, listed: Sequence[Entry], fingerprint: str) -> None:
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA page_size = 4096")
    connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5({', '.join(FIELDS)}, tokenize = 'porter unicode61')")
    connection.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, kind TEXT, name TEXT, title TEXT, summary TEXT)")
    connection.execute("CREATE TABLE about (fingerprint TEXT, words TEXT)")
    for number, entry in enumerate(listed):
        connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?)", (number, entry.kind, entry.name, entry.title, entry.summary))
        connection.execute("INSERT INTO texts (rowid, name, title, tags, printed, body) VALUES (?, ?, ?, ?, ?, ?)", (number, *entry.texts()))
    words = " ".join(f"{word}:{times}" for word, times in sorted(count(listed).items()))
    connection.execute("INSERT INTO about VALUES (?, ?)", (fingerprint, words))
    connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
    connection.commit()


def _tidy(folder: str) -> None:
    """Remove the older indexes from the cache; a few are kept, for projects with rules of their own."""
    import contextlib

    paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("handbook-") and name.endswith(".db")]  # noqa: PTH118, PTH208
    with contextlib.suppress(OSError):  # another process tidies too
        for path in sorted(paths, key=os.path.getmtime)[:-KEPT]:
            os.unlink(path)  # noqa: PTH108


def _open(path: str, wanted: str) -> Full | None:
    """Open an index; None when it is missing, made of something else, damaged, or FTS5 is missing."""
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    try:
        import sqlite3
        from urllib.parse import quote
    except ImportError:
        return None
    try:
        # immutable: no lock and no journal, so that a read-only folder will do
        connection = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1", uri=True, check_same_thread=False)  # noqa: PTH100
    except sqlite3.Error:
        return None
    try:
        fingerprint, words = connection.execute("SELECT fingerprint, words FROM about").fetchone()
        if fingerprint == wanted:
            connection.execute("SELECT rowid FROM texts WHERE texts MATCH 'cuda' LIMIT 1").fetchall()
            return Full(connection, words)
    except (sqlite3.Error, TypeError, ValueError):
        pass
    connection.close()
    return None


class Full:
    """The index in an SQLite file."""

    def __init__(self, connection: sqlite3.Connection, words: str) -> None:
        """Read what is needed of every entry.

        Args:
            connection: The open file.
            words: Each word and its count, as the file has them.

        """
        self._connection = connection
        rows = connection.execute("SELECT kind, name, title, summary FROM entry ORDER BY number")
        self.entries: Sequence[Entry] = [Entry(kind, name, title, summary, "", "", "") for kind, name, title, summary in rows]
        pairs = (pair.rpartition(":") for pair in words.split(" "))
        self.words: Mapping[str, int] = {word: int(times) for word, _, times in pairs if word}

    def matches(self, word: str, *, begins: bool) -> dict[int, float]:
        """Ask FTS5, whose bm25 is the better the lower."""
        weights = ", ".join(map(str, WEIGHTS))
        query = f"SELECT rowid, bm25(texts, {weights}) FROM texts WHERE texts MATCH ?"  # noqa: S608 - the weights are ours
        return {number: -rank for number, rank in self._connection.execute(query, (f'"{word}"' + " *" * begins,))}

    def phrases(self, phrase: str) -> dict[int, float]:
        """Ask FTS5 for a phrase; one as good as all wordings of a rule together."""
        query = "SELECT rowid, bm25(texts, 0.0, 2.0, 0.0, 2.0, 0.0) FROM texts WHERE texts MATCH ?"
        return {number: -rank for number, rank in self._connection.execute(query, (f'{{title printed}} : "{phrase}"',))}

    def snippet(self, number: int, words: Iterable[str]) -> str:
        """Look in the text, then in what programs print."""
        asked = " OR ".join(f'"{word}"' + " *" * (len(word) > 3) for word in words)
        for column in (4, 3):
            query = f"SELECT snippet(texts, {column}, ?, ?, '…', {SNIPPET}) FROM texts WHERE texts MATCH ? AND rowid = ?"  # noqa: S608
            row = self._connection.execute(query, (START, END, asked, number)).fetchone()
            if row is not None and START in row[0]:
                return " ".join(row[0].split())
        return ""


class Plain:
    """The index in memory, where there is no FTS5: whole words and beginnings, no word stems."""

    def __init__(self, listed: Sequence[Entry]) -> None:
        """Index entries."""
        self.entries: Sequence[Entry] = listed
        self._fields = [[Counter(words_of(text)) for text in entry.texts()] for entry in listed]
        self.words: Mapping[str, int] = count(listed)

    def matches(self, word: str, *, begins: bool) -> dict[int, float]:
        """Weigh the fields in which the word stands by its rarity."""
        standing = [other for other in self.words if other.startswith(word)] if begins else [word] * (word in self.words)
        found: dict[int, float] = {}
        for other in standing:
            rarity = math.log(1 + len(self.entries) / self.words[other])
            for number, fields in enumerate(self._fields):
                told = sum(weight * field[other] / (field[other] + 1) for weight, field in zip(WEIGHTS, fields, strict=True))
                if told:
                    found[number] = max(found.get(number, 0.0), rarity * told)
        return found

    def phrases(self, phrase: str) -> dict[int, float]:
        """Look through the titles and wordings."""
        return {
            number: 2.0
            for number, entry in enumerate(self.entries)
            if f" {phrase} " in f" {' '.join(words_of(entry.title))}  {' '.join(words_of(entry.printed))} "
        }

    def snippet(self, number: int, words: Iterable[str]) -> str:
        """Cut a passage around the first word that stands in the text."""
        asked = "|".join(map(re.escape, words))
        if not asked:
            return ""
        entry = self.entries[number]
        for text in (entry.body, entry.printed):
            parts = text.split()
            at = next((place for place, part in enumerate(parts) if re.search(rf"(?i)\b(?:{asked})", part)), None)
            if at is None:
                continue
            start = max(0, at - SNIPPET // 2)
            passage = " ".join(parts[start : start + SNIPPET])
            marked = re.sub(rf"(?i)\b(?:{asked})\w*", lambda found: START + found[0] + END, passage)
            return "…" * bool(start) + marked + "…" * (start + SNIPPET < len(parts))
        return ""
