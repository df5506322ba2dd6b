"""As much of an ELF file as probes ask for: what it needs, and which symbol versions it wants or gives."""

from __future__ import annotations

import mmap
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SYMBOLS = 200_000
MAX_ENTRIES = 2000
"""Sections, libraries and versions that are read; a damaged file may claim any number."""


class ElfError(ValueError):
    """The file is no ELF file of this kind, or is damaged."""


class Elf(NamedTuple):
    """What a shared object needs and offers: libraries, and symbol versions by library and its own."""

    needed: tuple[str, ...]
    wants: dict[str, tuple[str, ...]]
    gives: tuple[str, ...]


class _Section(NamedTuple):
    kind: int
    offset: int
    size: int
    link: int


def read(path: str) -> Elf:
    """Read an ELF file.

    Raises:
        ElfError: it is none, or damaged.
        OSError: it cannot be read.

    """
    with _mapped(path) as data:
        return _parse(data)


def undefined(path: str, marks: tuple[str, ...]) -> list[str]:
    """List the symbols that a shared object wants from others, by the beginnings of their names.

    Raises:
        ElfError: it is no ELF file of this kind, or damaged.
        OSError: it cannot be read.

    """
    with _mapped(path) as data:
        return _undefined(data, tuple(mark.encode() for mark in marks))


@contextmanager
def _mapped(path: str) -> Iterator[mmap.mmap]:
    """Open a file to be parsed; what makes no sense within is damage."""
    with open(path, "rb") as stream:
        try:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise ElfError("the file is empty") from error
        with data:
            try:
                yield data
            except (struct.error, IndexError, UnicodeDecodeError, OverflowError) as error:
                raise ElfError(f"the file is damaged: {error}") from error


def _sections(data: mmap.mmap) -> tuple[str, list[_Section]]:
    if data[:4] != b"\x7fELF" or data[4] != 2:
        raise ElfError("no 64-bit ELF file")
    order = "<" if data[5] == 1 else ">"
    start, size, count = (*struct.unpack_from(f"{order}Q", data, 0x28), *struct.unpack_from(f"{order}HH", data, 0x3A))
    sections = []
    for index in range(min(count, MAX_ENTRIES)):
        _, kind, _, _, offset, length, link = struct.unpack_from(f"{order}IIQQQQI", data, start + index * size)
        sections.append(_Section(kind, offset, length, link))
    return order, sections


def _undefined(data: mmap.mmap, marks: tuple[bytes, ...]) -> list[str]:
    order, sections = _sections(data)
    found: list[str] = []
    for section in sections:
        if section.kind != 11:  # dynamic symbols
            continue
        names = sections[section.link].offset
        for at in range(section.offset, min(section.offset + section.size, section.offset + MAX_SYMBOLS * 24, len(data)), 24):
            name, info, _, index = struct.unpack_from(f"{order}IBBH", data, at)
            if index == 0 and name and info >> 4 == 1:  # wanted from elsewhere, and not weakly
                text = data[names + name : min(len(data), names + name + 4096)].split(b"\0", 1)[0]
                if text.startswith(marks):
                    found.append(text.decode("utf-8", "replace"))
    return found


def _parse(data: mmap.mmap) -> Elf:
    order, sections = _sections(data)

    def text(section: _Section, at: int) -> str:
        begin = sections[section.link].offset + at
        return data[begin : data.find(b"\0", begin)].decode()

    needed: list[str] = []
    wants: dict[str, tuple[str, ...]] = {}
    gives: list[str] = []
    for section in sections:
        if section.kind == 6:  # dynamic
            for at in range(section.offset, section.offset + section.size, 16):
                tag, value = struct.unpack_from(f"{order}QQ", data, at)
                if tag == 0:
                    break
                if tag == 1:
                    needed.append(text(section, value))
        elif section.kind == 0x6FFFFFFE:  # versions wanted
            at = section.offset
            for _ in range(MAX_ENTRIES):
                _, number, file, auxiliary, following = struct.unpack_from(f"{order}HHIII", data, at)
                listed, here = [], at + auxiliary
                for _ in range(min(number, MAX_ENTRIES)):
                    _, _, _, name, step = struct.unpack_from(f"{order}IHHII", data, here)
                    listed.append(text(section, name))
                    here += step
                wants[text(section, file)] = tuple(listed)
                if not following:
                    break
                at += following
        elif section.kind == 0x6FFFFFFD:  # versions given
            at = section.offset
            for _ in range(MAX_ENTRIES):
                _, _, _, _, _, auxiliary, following = struct.unpack_from(f"{order}HHHHIII", data, at)
                (name,) = struct.unpack_from(f"{order}I", data, at + auxiliary)
                gives.append(text(section, name))
                if not following:
                    break
                at += following
    return Elf(tuple(needed), wants, tuple(gives))
