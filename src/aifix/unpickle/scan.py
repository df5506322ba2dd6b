"""Look through a large pickle's instructions before the interpreter's own machine runs them.

That machine is fast and closed to code by its hooks, but four things it does are not safe with a stranger's bytes: it reserves its memo by
the highest index named, and memory by a length before the bytes are there; it parses decimal numbers of any length; it hashes nested tuples,
which takes time that doubles with each level, and C stack.

Tuples pass when they cannot nest far: pairs of numbers (memory pools have such names), and others that are not remembered (nor can be later:
nothing is taken off the stack to lay them bare), so that none of them can be an element twice; few of those may stand in unusual places.
"""

from __future__ import annotations

import re

from aifix.unpickle.errors import UnpickleError
from aifix.unpickle.machine import DIGITS

_PREFIXED = {0x8C: 1, 0x58: 4, 0x8D: 8, 0x43: 1, 0x42: 4, 0x8E: 8, 0x55: 1, 0x54: 4, 0x8A: 1, 0x8B: 4}
"""Instructions whose bytes follow their length, and the length's own size."""
_LINES = b"VSILFpg"
"""Instructions that are followed by a text up to its line feed."""
_NUMBERS = b"ILFpg"
_TUPLES = b"\x85\x86\x87t"
_PUTS = (b"q", b"r", b"p", b"\x94")
LOOSE = 1000
"""Tuples outside the usual forms: no dump has so many."""


def scan(data: bytes) -> bool:
    """Tell whether the interpreter's machine reads a pickle in time and memory of its size.

    False also means: it holds what our own machine will refuse by name.

    Raises:
        UnpickleError: it is cut.

    """
    total = len(data)
    steps = _steps(total)
    at = loose = 0
    while at < total:
        run = steps.match(data, at)
        if run is not None:
            at = run.end()
            continue
        opcode = data[at]
        if opcode == 0x2E:
            return True
        size = _PREFIXED.get(opcode)
        if size is not None:
            at += 1 + size + int.from_bytes(data[at + 1 : at + 1 + size], "little")
        elif opcode in _LINES:
            end = data.find(b"\n", at)
            if end < 0 or (opcode in _NUMBERS and end - at > DIGITS):
                return False
            if opcode == 0x70 and not 0 <= _index(data[at + 1 : end]) <= total:
                return False
            at = end + 1
        elif opcode in _TUPLES and loose < LOOSE and data[at + 1 : at + 2] not in _PUTS:
            loose += 1
            at += 1
        else:
            return False
    raise UnpickleError(f"the pickle is cut: it ends after {total} bytes without its end mark")


def _index(digits: bytes) -> int:
    return int(digits) if digits.isdigit() else -1


def _steps(total: int) -> re.Pattern[bytes]:
    """Give the expression of a run of instructions of fixed size that are safe; a memo index may not exceed the pickle's bytes."""
    if total < 1 << 24:
        put = rb"r..[\x00-" + re.escape(bytes([total >> 16])) + rb"]\x00"
    else:
        put = rb"r...[\x00-" + re.escape(bytes([min(total >> 24, 255)])) + rb"]"
    longs = b"|".join(re.escape(bytes([0x8A, size])) + b"." * size for size in range(1, 10))
    number = rb"(?:K.|M..|J.{4}|" + longs + rb")"
    # What `scan` says of tuples holds by these: a pair of numbers may be remembered, a pair of anything else may not.
    get = rb"(?:h.|j.{4})"
    pairs = b"K.K.\x86|" + number + number + b"\x86|" + rb"(?:" + number + b"|" + get + rb")" + get + rb"\x86(?![qrp\x94])"
    alternatives = pairs + rb"|[hqK].|[N\x88\x89\]})\x8faesu\x90(ld\x94]|J.{4}|j.{4}|" + put + rb"|M..|" + longs + rb"|G.{8}|\x80[\x00-\x05]|\x95.{8}"
    return re.compile(rb"(?:" + alternatives + rb"){1,4096}", re.DOTALL)
