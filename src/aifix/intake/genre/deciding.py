"""The decision: of a text as a whole, of a shell session that only shows files, and of several texts in one."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from aifix.intake.tracebacks import uttered
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aifix.model import Genre, Line, Traceback

from aifix.intake.genre.listing import is_diff, is_listing, is_manual
from aifix.intake.genre.reading import ENOUGH, GREP, SPOKEN, UTTERED, WIDTH, Text, read_text, silent, starts_mail
from aifix.intake.genre.source import is_source
from aifix.intake.genre.talk import is_chat
from aifix.intake.genre.writing import is_document

_PARTS = 60  # more commands or dividers than that are a log's
# ---- sessions: commands that only show what files say
_PROMPT = lazy_re(
    r"(?:\([\w.+-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}(?:[:~ ][^$#%>]{0,80})?[$#%>]|\[[\w.-]{1,40}@[^\]]{1,80}\][$#%]"
    r"|[\w./~-]{0,60}[$❯➜]|[❯➜] +[\w~./-]{0,60}"
    r"|PS [A-Z]:[^>]{0,100}>|[A-Z]:\\[^>]{0,100}>) ?(?P<command>\S.*)$"
)
_DIVIDER = lazy_re(r"(?:-{3,}|={3,}|\*{3,}|_{3,}|#{5,}|~{5,})\s*$|diff --git |==> \S.* <==$|-{2,} ?>8|={3,} \S.{0,80} ={3,}$")
_CELL = lazy_re(r"(?:In|Out) ?\[\d*\]: ?|>>> ")
_SOURCE_FILE = (
    r"(?:\.(?:pyi?|ipynb|md|rst|adoc|c|cc|cpp|cxx|cu|cuh|h|hh|hpp|rs|go|m?js|cjs|tsx?|jsx|java|kt|swift|rb|sh|bash|toml|ya?ml"
    r"|cfg|ini|json5?|diff|patch|tex|html?"
    r"|css|sql|proto|cmake|bazel|in|po|service)\b|\b(?:CHANGELOG|CHANGES|README|LICENSE|TODO|NEWS|CONTRIBUTING|Makefile|Dockerfile)\b)"
)
_LOG_FILE = lazy_re(r"\.(?:log|out|err|txt|stderr|stdout|jsonl|gz)\b|\blogs?\b|slurm-|/var/|nohup|wandb|/proc/|/sys/|/dev/|<\(")
_SHOWS_SOURCE = lazy_re(rf"(?:cat|bat|less|more|head|tail|sed|awk|nl|view|diff|pygmentize|type|Get-Content|gc)\s.*{_SOURCE_FILE}")
_SEARCHES = lazy_re(r"(?:[ef]?grep|rg|ag|ack|ugrep|findstr|Select-String|find \S+ .*(?:-exec|xargs) grep)\s")
_SEARCHES_SOURCE = lazy_re(
    rf"{_SOURCE_FILE}|\s-[a-zA-Z]*[rR]|--(?:recursive|include|type)|\s-t ?\w+|^(?:rg|ag|ack)\s|\s(?:src|lib|tests?|docs?|csrc"
    rf"|include|scripts|tools|examples)\b/?"
)
_QUOTES = lazy_re(
    r"git (?:-\S+ (?:\S+ )?)*(?:diff|show|log|blame|grep|shortlog|range-diff|whatchanged|stash show)\b|(?:hg|svn|jj) (?:diff|log|show)\b"
    r"|gh (?:issue|pr|release|search) (?:list|view|diff|status|issues|prs|code)\b|glab (?:issue|mr) (?:list|view|diff)\b"
    r"|(?:man|apropos|whatis|tldr|info|pydoc3?|help|history|fc)\b|\S*python\S* -m pydoc\b|strings\s"
)
_IDLE = lazy_re(
    r"(?:ls|cd|pwd|wc|tree|clear|which|date|whoami|hostname|true|export|alias|source|\.|mkdir|cp|mv|touch|rm|chmod|vim?|nano|exit|find|du|uname"
    r"|git (?:status|fetch|pull|checkout|switch|clone|branch|add|commit|remote|rev-parse|stash))(?:\s|$)"
)


def classify(lines: Sequence[Line], tracebacks: Sequence[Traceback]) -> Genre:
    """Decide the genre; only a confident decision leaves 'log'."""
    if uttered(lines, tracebacks):
        return "log"
    traced = {id(lines[index]) for item in tracebacks if item.kind and item.frames for index in range(item.start, item.end)}
    text = read_text(lines, traced)
    if (shown := _session(lines, text, traced)) is not None:
        return shown
    if (genre := _decide(text)) != "log" or len(text.rows) < ENOUGH:
        return genre
    return _compound(lines, text, traced)


def _decide(text: Text) -> Genre:
    if len(text.rows) < ENOUGH:
        return "log"
    deciders: tuple[tuple[Genre, Callable[[Text], bool]], ...] = (
        ("diff", is_diff),
        ("manual", is_manual),
        ("chat", is_chat),
        ("listing", is_listing),
        ("source", is_source),
        ("document", is_document),
    )
    for genre, decide in deciders:
        if decide(text):
            return genre
    return "log"


def _session(lines: Sequence[Line], text: Text, traced: set[int]) -> Genre | None:
    """Tell what a shell session shows in which nothing was run, but files, histories and manuals were read."""
    prompts = [index for index, line in enumerate(lines) if (found := _PROMPT.match(line.text[:WIDTH])) and not _CELL.match(found["command"])]
    if not prompts or len(prompts) > _PARTS or any(_CELL.match(row) for row in text.rows):
        return None
    genre: Genre | None = None
    ahead = read_text(lines[: prompts[0]], traced)
    if ahead.rows and not silent(ahead) and _decide(ahead) == "log":
        return None
    for here, following in zip(prompts, [*prompts[1:], len(lines)], strict=True):
        found = _PROMPT.match(lines[here].text[:WIDTH])
        shown = [line.text[:WIDTH] for line in lines[here + 1 : following] if line.text.strip()]
        kind = _shows(found["command"], shown) if found else None
        if kind is None:
            return None
        if kind != "log":
            genre = genre or kind
        elif any(UTTERED.match(row) for row in shown):
            return None
    return genre


def _shows(command: str, shown: Sequence[str]) -> Genre | None:
    """Give the genre of what a command line prints, 'log' if nothing that matters, None if it may be the output of a run."""
    genre: Genre = "log"
    for part in re.split(r"&&|;", command):
        first = re.sub(r"^\s*(?:sudo |time |command |\w+=\S* )*", "", part).rstrip()
        if not first:
            continue
        if _QUOTES.match(first):
            kind: Genre = (
                "diff" if re.search(r"\b(?:diff|show)\b", first) else "manual" if first.startswith(("man ", "help", "tldr", "pydoc")) else "listing"
            )
        elif _SEARCHES.match(first) and not _LOG_FILE.search(first):
            if not _SEARCHES_SOURCE.search(first) or any((hit := GREP.match(row)) and _LOG_FILE.search(row[: hit.start("rest")]) for row in shown):
                return None
            kind = "listing"
        elif _SHOWS_SOURCE.match(first) and not _LOG_FILE.search(first):
            kind = "source"
        elif _IDLE.match(first):
            continue
        else:
            return None
        genre = kind
    return genre


def _compound(lines: Sequence[Line], text: Text, traced: set[int]) -> Genre:
    """Several texts in one, as a diff with a mail below: no log if each of them is none."""
    if text.traced or any(SPOKEN.match(row) for row in text.open_rows):
        return "log"
    cuts = [index for index, line in enumerate(lines) if _DIVIDER.match(line.text) or starts_mail(lines, index)]
    if not cuts or len(cuts) > _PARTS:
        return "log"
    genres: Counter[Genre] = Counter()
    rows = 0
    for low, high in pairwise([0, *cuts, len(lines)]):
        part = read_text([line for line in lines[low:high] if not _DIVIDER.match(line.text) or line.text.startswith("diff ")], traced)
        rows += len(part.rows)
        genre = _decide(part)
        if genre != "log":
            genres[genre] += len(part.rows)
        elif part.rows and not silent(part):
            return "log"
    if sum(genres.values()) < 0.6 * rows or not genres:
        return "log"
    return genres.most_common(1)[0][0]
