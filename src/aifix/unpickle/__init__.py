"""Pickles of strangers, read as plain data.

Memory snapshots and flight-recorder dumps are pickles, and a pickle is a program. Here it may build None, booleans, numbers, strings,
bytes, lists, tuples, dictionaries and sets, and nothing else: what names a function or a class is refused by that name. Memory and time
stay in proportion to the file, whatever it holds.

    data = unpickle.loads(path.read_bytes())

What comes back may hold one object in many places (that is how a pickle says "the same again"), so whoever walks it must
not follow every path: a hundred bytes can say a list of lists with a billion leaves.
"""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, NoReturn

from aifix.unpickle.errors import RefusedPickleError, UnpickleError, refuse_global
from aifix.unpickle.machine import run
from aifix.unpickle.scan import scan

if TYPE_CHECKING:
    from aifix.unpickle.machine import Plain

__all__ = ["RefusedPickleError", "UnpickleError", "loads"]

SMALL = 1 << 14
"""Bytes up to which our own machine reads a pickle; above, the interpreter's own does, when a scan finds only what that does safely."""


def loads(data: bytes, *, small: int = SMALL) -> Plain:
    """Read a pickle of plain data.

    Args:
        data: the whole pickle, of any protocol.
        small: bytes up to which our own machine reads it.

    Returns:
        The object that it describes.

    Raises:
        RefusedPickleError: it names a function, class, persistent object or buffer; the message says which.
        UnpickleError: it is cut, broken, or no pickle.

    """
    if len(data) <= small or not scan(data):
        return run(data)
    try:
        found: Plain = _Fast(io.BytesIO(data)).load()
    except UnpickleError:
        raise
    except Exception as error:
        raise UnpickleError(f"the pickle is broken: {error}") from error
    return found


class _Fast(pickle.Unpickler):
    """The interpreter's machine with its doors closed."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        """Refuse by name."""
        refuse_global(module_name, global_name)

    def persistent_load(self, _pid: object, /) -> NoReturn:
        """Refuse."""
        raise RefusedPickleError("a persistent object")
