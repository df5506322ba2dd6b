"""What the dynamic loader wrote (LD_DEBUG=libs,files): which library was missing, who needed it, where it was looked for."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifix.model import Document

PREFIX = "loader."
LARGEST = 64 << 20
PLACES = 4
"""Folders named."""
_NEEDED = re.compile(r"file=(\S+) \[\d+\];\s+(?:needed by|dynamically loaded by) (\S+)")
_FIND = re.compile(r"find library=(\S+) \[\d+\]; searching")
_TRYING = re.compile(r"trying file=(\S+)")
_ERROR = re.compile(r"(\S+): error: ([^:]+): (.*)$")
_MISSING = re.compile(r"(?:^|[\s'\"(])([\w./+-]+\.so[\w.]*): cannot open shared object file")
_SYMBOL = re.compile(r"(\S+\.so[\w.]*): undefined symbol: (\w+)")


def sentences(folder: str, document: Document) -> list[str]:
    """Say what the loader's own words add to its error in the output."""
    if not folder:
        return []
    missing, symbol = _asked(document)
    if not missing and not symbol:
        return []
    texts = _read(folder)
    if missing:
        return _missing(missing, texts)
    return _undefined(*symbol, texts) if symbol else []


def _asked(document: Document) -> tuple[str, tuple[str, str] | None]:
    """Find the missing library or symbol that the output names last."""
    for line in reversed(document.lines):
        if "cannot open shared object" in line.text and (found := _MISSING.search(line.text)):
            return found[1], None
        if "undefined symbol" in line.text and (symbol := _SYMBOL.search(line.text)):
            return "", (symbol[1], symbol[2])
    return "", None


def _read(folder: str) -> list[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith(PREFIX))
    except OSError:
        return []
    texts = []
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
            texts.append(stream.read(LARGEST))
    return texts


def _missing(library: str, texts: list[str]) -> list[str]:
    name = os.path.basename(library)
    for text in texts:
        if name not in text:
            continue
        wanted, tried, searching = "", [], False
        for line in text.splitlines():
            needed = _NEEDED.search(line)
            if needed and os.path.basename(needed[1]) == name:
                wanted = needed[2]
            found = _FIND.search(line)
            if found:
                searching = os.path.basename(found[1]) == name
                continue
            trial = _TRYING.search(line)
            if trial and searching and os.path.basename(trial[1]) == name:
                tried.append(os.path.dirname(trial[1]))
        folders = [place for place in dict.fromkeys(tried) if "glibc-hwcaps" not in place and "/tls" not in place]
        if not wanted and not folders:
            continue
        by = f" is needed by {wanted}" if wanted else " was asked for"
        where = f"; the loader looked in {', '.join(folders[:PLACES])}" + (
            f" and {len(folders) - PLACES} more folders" if len(folders) > PLACES else ""
        )
        return [f"{library}{by}{where if folders else ''}."]
    return []


def _undefined(library: str, symbol: str, texts: list[str]) -> list[str]:
    """Say for which library a symbol is missing, and which libraries it was loaded with that could have had it."""
    name = os.path.basename(library)
    for text in texts:
        if symbol not in text and name not in text:
            continue
        loaded = [match[1] for match in map(_NEEDED.search, text.splitlines()) if match and os.path.basename(match[2]) == name]
        needs = (
            f"; it loads {', '.join(dict.fromkeys(os.path.basename(one) for one in loaded))}"
            if loaded
            else "; it names no library that could have it"
        )
        return [f"{library} uses the symbol {symbol}, which none of the libraries loaded with it has{needs}."]
    return []
