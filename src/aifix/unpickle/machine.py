"""The pickle machine for plain data: a stack, a memo, and no way to call anything.

Opcodes as in the standard library's `pickletools`. Each instruction costs time and memory in proportion to its own bytes, so the whole
does to the file; keys of dictionaries and members of sets are scalars or flat tuples of them, since the hash of a nested tuple takes time
that doubles with each level.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable
from typing import Any

from aifix.unpickle.errors import RefusedPickleError, UnpickleError, refuse_global

Plain = None | bool | int | float | str | bytes | list[Any] | tuple[Any, ...] | dict[Any, Any] | set[Any] | frozenset[Any]

DIGITS = 4300
"""Decimal digits of a number written as text, the interpreter's own bound: reading more takes quadratic time."""
_SCALARS = (str, int, float, bytes, bool, type(None))
_MARK = object()
_uint4 = struct.Struct("<I").unpack_from
_int4 = struct.Struct("<i").unpack_from
_double = struct.Struct(">d").unpack_from


def run(data: bytes) -> Plain:
    """Run the pickle's instructions to its STOP.

    Raises:
        RefusedPickleError: it wants more than plain data.
        UnpickleError: it is cut or broken.

    """
    machine = Machine(data)
    try:
        return machine.run()
    except RefusedPickleError:
        raise
    except UnpickleError as error:
        if data[:1] != b"\x80":  # so do all that were written since protocol 2, of 2003, begin
            raise UnpickleError(f"it is no pickle, to judge by its first bytes {data[:8]!r}, or a broken one") from error
        raise
    except (struct.error, IndexError) as error:
        raise UnpickleError(f"the pickle is cut or broken at byte {machine.at} of {len(data)}") from error
    except KeyError as error:
        raise UnpickleError(f"the pickle is broken: object {error} was never remembered") from error
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise UnpickleError(f"the pickle is broken at byte {machine.at} of {len(data)}: {error}"[:300]) from error


class Machine:
    """The state of one run."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Plain:
        """Execute until STOP; the instructions of which dumps are full are written out here, four times as fast as a call for each."""
        data, stack, memo, table = self.data, self.stack, self.memo, _TABLE
        push = stack.append
        total = len(data)
        at = self.at
        while at < total:
            opcode = data[at]
            at += 1
            if opcode == 0x68:  # BINGET
                push(memo[data[at]])
                at += 1
            elif opcode == 0x4B:  # BININT1
                push(data[at])
                at += 1
            elif opcode == 0x94:  # MEMOIZE
                memo[len(memo)] = _remembered(stack)
            elif opcode == 0x71:  # BINPUT
                memo[data[at]] = _remembered(stack)
                at += 1
            elif opcode == 0x28:  # MARK
                push(_MARK)
            elif opcode == 0x6A:  # LONG_BINGET
                push(memo[_uint4(data, at)[0]])
                at += 4
            elif opcode == 0x72:  # LONG_BINPUT
                memo[_uint4(data, at)[0]] = _remembered(stack)
                at += 4
            elif opcode == 0x4A:  # BININT
                push(_int4(data, at)[0])
                at += 4
            elif opcode == 0x8C or opcode == 0x58:  # noqa: PLR1714 - SHORT_BINUNICODE, BINUNICODE; a set would be slower
                size = data[at] if opcode == 0x8C else _uint4(data, at)[0]
                at += 1 if opcode == 0x8C else 4
                if at + size > total:
                    raise UnpickleError(f"the pickle is cut: byte {at} asks for {size} more, and {total - at} are there")
                push(data[at : at + size].decode("utf-8", "surrogatepass"))
                at += size
            elif opcode == 0x2E:  # STOP
                found = self.pop()
                if found is _MARK:
                    raise UnpickleError("the pickle is broken: it ends inside a list")
                return found  # type: ignore[no-any-return]
            else:
                action = table[opcode]
                self.at = at
                if action is None:
                    raise UnpickleError(f"not a pickle, or a broken one: byte {at - 1} of {total} is no instruction")
                action(self)
                at = self.at
        raise UnpickleError(f"the pickle is cut: it ends after {total} bytes without its end mark")

    # ---- reading

    def take(self, count: int) -> bytes:
        """Take the next bytes."""
        start, end = self.at, self.at + count
        if count < 0 or end > len(self.data):
            raise UnpickleError(f"the pickle is cut: byte {start} asks for {count} more, and {len(self.data) - start} are there")
        self.at = end
        return self.data[start:end]

    def number(self, size: int) -> int:
        """Take an unsigned number of so many bytes, the lowest first."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        """Take a text up to its line feed."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise UnpickleError(f"the pickle is cut: the text at byte {self.at} has no end")
        found = self.data[self.at : end]
        self.at = end + 1
        return found

    def digits(self) -> bytes:
        """Take a number written as text."""
        found = self.line()
        if len(found) > DIGITS:
            raise UnpickleError(f"the pickle holds a number of {len(found)} digits")
        return found

    # ---- the stack

    def pop(self) -> Any:
        """Take the topmost object."""
        if not self.stack:
            raise UnpickleError(f"the pickle is broken: nothing is there to take at byte {self.at}")
        return self.stack.pop()

    def popped(self) -> list[Any]:
        """Take what stands above the last mark, and the mark."""
        stack = self.stack
        at = len(stack) - 1
        while at >= 0 and stack[at] is not _MARK:
            at -= 1
        if at < 0:
            raise UnpickleError(f"the pickle is broken: no mark before byte {self.at}")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def top(self, kind: type) -> Any:
        """Look at the topmost object, which must be of a kind."""
        if not self.stack or type(self.stack[-1]) is not kind:
            raise UnpickleError(f"the pickle is broken: no {kind.__name__} to fill at byte {self.at}")
        return self.stack[-1]


def _remembered(stack: list[Any]) -> Any:
    found = stack[-1]
    if found is _MARK:
        raise UnpickleError("the pickle is broken: a mark to remember")
    return found


def _key(value: Any) -> Any:
    """Let a key through whose hash costs nothing."""
    if isinstance(value, _SCALARS) or (type(value) is tuple and all(isinstance(part, _SCALARS) for part in value)):
        return value
    raise UnpickleError(f"the pickle is broken: a {type(value).__name__} of objects as a key")


def _fill(target: dict[Any, Any], items: list[Any]) -> None:
    if len(items) % 2:
        raise UnpickleError("the pickle is broken: a key without its value")
    for at in range(0, len(items), 2):
        target[_key(items[at])] = items[at + 1]


def _members(items: list[Any]) -> list[Any]:
    return [_key(item) for item in items]


Action = Callable[[Machine], None]


def _pushes(read: Callable[[Machine], Any]) -> Action:
    def action(machine: Machine) -> None:
        machine.stack.append(read(machine))

    return action


def _refuses(what: str) -> Action:
    def action(_machine: Machine) -> None:
        raise RefusedPickleError(what)

    return action


def _text(size: int) -> Action:
    def action(machine: Machine) -> None:
        machine.stack.append(machine.take(machine.number(size)).decode("utf-8", "surrogatepass"))

    return action


def _raw(size: int) -> Action:
    """Bytes; and the strings of Python 2, which are text where they can be."""

    def action(machine: Machine) -> None:
        machine.stack.append(machine.take(machine.number(size)))

    return action


def _old_text(size: int) -> Action:
    def action(machine: Machine) -> None:
        machine.stack.append(machine.take(machine.number(size)).decode("ascii"))

    return action


def _long(size: int) -> Action:
    def action(machine: Machine) -> None:
        machine.stack.append(int.from_bytes(machine.take(machine.number(size)), "little", signed=True))

    return action


def _int(machine: Machine) -> Any:
    text = machine.digits()
    return text == b"01" if text in {b"00", b"01"} else int(text)


def _quoted(machine: Machine) -> str:
    text = machine.line().strip()
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in {b"'", b'"'}:
        raise UnpickleError(f"the pickle is broken: an unquoted text before byte {machine.at}")
    raw, _ = codecs.escape_decode(text[1:-1])
    return bytes(raw).decode("ascii")


def _put(machine: Machine) -> None:
    found = _remembered(machine.stack)
    machine.memo[int(machine.digits())] = found


def _get(machine: Machine) -> None:
    machine.stack.append(machine.memo[int(machine.digits())])


def _tuple(count: int) -> Action:
    def action(machine: Machine) -> None:
        stack = machine.stack
        items = stack[-count:]
        if len(items) < count or any(item is _MARK for item in items):
            raise UnpickleError(f"the pickle is broken: too little for a tuple at byte {machine.at}")
        del stack[-count:]
        stack.append(tuple(items))

    return action


def _append(machine: Machine) -> None:
    item = machine.pop()
    machine.top(list).append(item)


def _appends(machine: Machine) -> None:
    items = machine.popped()
    machine.top(list).extend(items)


def _setitem(machine: Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.top(dict)[_key(key)] = value


def _setitems(machine: Machine) -> None:
    items = machine.popped()
    _fill(machine.top(dict), items)


def _dict(machine: Machine) -> None:
    found: dict[Any, Any] = {}
    _fill(found, machine.popped())
    machine.stack.append(found)


def _additems(machine: Machine) -> None:
    items = machine.popped()
    machine.top(set).update(_members(items))


def _global(machine: Machine) -> None:
    module, name = (machine.line().decode("utf-8", "replace") for _ in range(2))
    refuse_global(module, name)


def _stack_global(machine: Machine) -> None:
    name, module = machine.pop(), machine.pop()
    refuse_global(module, name)


def _extension(size: int) -> Action:
    def action(machine: Machine) -> None:
        raise RefusedPickleError(f"object {machine.number(size)} of the extension registry (copyreg)")

    return action


def _discard(machine: Machine) -> None:
    if machine.stack and machine.stack[-1] is _MARK:
        machine.stack.pop()
    else:
        machine.pop()


def _discard_all(machine: Machine) -> None:
    machine.popped()


def _table() -> list[Action | None]:
    actions: dict[bytes, Action] = {
        b"\x80": lambda machine: _protocol(machine.number(1)),
        b"\x95": lambda machine: _frame(machine, machine.number(8)),
        b"N": _pushes(lambda _: None),
        b"\x88": _pushes(lambda _: True),
        b"\x89": _pushes(lambda _: False),
        b"I": _pushes(_int),
        b"L": _pushes(lambda machine: int(machine.digits().rstrip(b"L"))),
        b"M": _pushes(lambda machine: machine.number(2)),
        b"\x8a": _long(1),
        b"\x8b": _long(4),
        b"F": _pushes(lambda machine: float(machine.digits())),
        b"G": _pushes(lambda machine: _double(machine.take(8))[0]),
        b"V": _pushes(lambda machine: machine.line().decode("raw-unicode-escape")),
        b"\x8d": _text(8),
        b"C": _raw(1),
        b"B": _raw(4),
        b"\x8e": _raw(8),
        b"U": _old_text(1),
        b"T": _old_text(4),
        b"S": _pushes(_quoted),
        b"]": _pushes(lambda _: []),
        b")": _pushes(lambda _: ()),
        b"}": _pushes(lambda _: {}),
        b"\x8f": _pushes(lambda _: set()),
        b"l": _pushes(Machine.popped),
        b"t": _pushes(lambda machine: tuple(machine.popped())),
        b"\x85": _tuple(1),
        b"\x86": _tuple(2),
        b"\x87": _tuple(3),
        b"d": _dict,
        b"\x91": _pushes(lambda machine: frozenset(_members(machine.popped()))),
        b"a": _append,
        b"e": _appends,
        b"s": _setitem,
        b"u": _setitems,
        b"\x90": _additems,
        b"0": _discard,
        b"1": _discard_all,
        b"2": _pushes(lambda machine: machine.stack[-1]),
        b"p": _put,
        b"g": _get,
        b"c": _global,
        b"i": _global,
        b"\x93": _stack_global,
        b"R": _refuses("a call (REDUCE)"),
        b"b": _refuses("an object's state to be set (BUILD)"),
        b"o": _refuses("an instance (OBJ)"),
        b"\x81": _refuses("an instance (NEWOBJ)"),
        b"\x92": _refuses("an instance (NEWOBJ_EX)"),
        b"P": _refuses("a persistent object (PERSID)"),
        b"Q": _refuses("a persistent object (BINPERSID)"),
        b"\x82": _extension(1),
        b"\x83": _extension(2),
        b"\x84": _extension(4),
        b"\x96": _refuses("a writable buffer (BYTEARRAY8)"),
        b"\x97": _refuses("a buffer outside the file (NEXT_BUFFER)"),
        b"\x98": _refuses("a buffer outside the file (READONLY_BUFFER)"),
    }
    return [actions.get(bytes([code])) for code in range(256)]


def _protocol(version: int) -> None:
    if version > 5:
        raise UnpickleError(f"the pickle is of protocol {version}, which is not known (0 to 5 are)")


def _frame(machine: Machine, size: int) -> None:
    if machine.at + size > len(machine.data):
        raise UnpickleError(f"the pickle is cut: a frame of {size} bytes, and {len(machine.data) - machine.at} are there")


_TABLE = _table()
