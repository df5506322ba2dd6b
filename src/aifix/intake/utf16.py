"""Two bytes a character: what Windows PowerShell 5 writes with `>`, also below lines of another program's, and others below its own.

A file may hold both: `>>` appends UTF-16 to a file of UTF-8, and a program appends UTF-8 to a file that PowerShell began. So each line is
looked at by itself.
"""

from __future__ import annotations

import codecs

BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SHARE = 4
"""One NUL among so many bytes makes a text UTF-16 on the whole; then a line in another alphabet needs no more than its end to be so too."""


def narrow(data: bytes) -> bytes:
    """Give a text in UTF-8 whose lines, or some of them, may be UTF-16; line feeds stay what and where they are."""
    if b"\0" not in data:
        return data.decode("utf-16", "replace").encode("utf-8", "replace") if data.startswith(BOMS) else data
    big = data.startswith(codecs.BOM_UTF16_BE)
    marked = data.startswith(BOMS)
    wholly = marked or data.count(0) * SHARE > len(data)
    return b"\n".join([_line(line, big=big, marked=marked, wholly=wholly) if b"\0" in line else line for line in data.split(b"\n")])


def _line(line: bytes, *, big: bool, marked: bool, wholly: bool) -> bytes:
    """Decode a line, cut at the byte of its line feed, where it is UTF-16; NULs that a hole in a file left stay."""
    if big:
        body = line[:-1] if len(line) % 2 else line  # the line feed's own first byte
        upper, lower = body[0::2], body[1::2]
    else:
        body = line[1:] if line.startswith(b"\0") else line  # the second byte of the line feed before
        lower, upper = body[0::2], body[1::2]
    if b"\0" not in body:
        return body if not wholly or _is_utf8(body) else _decoded(body, big=big)
    zeros, misplaced = upper.count(0), lower.count(0)
    if misplaced > zeros if marked else misplaced * 8 > zeros:
        return line
    return _decoded(body, big=big) if wholly or zeros * 2 >= len(upper) else line


def _decoded(body: bytes, *, big: bool) -> bytes:
    return body.decode("utf-16-be" if big else "utf-16-le", "replace").encode("utf-8", "replace")


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
