"""What can be wrong with a pickle."""

from __future__ import annotations

from typing import NoReturn

NAMED = 80
"""Characters of a name that are told."""


class UnpickleError(ValueError):
    """The pickle is cut, broken, or no pickle at all."""


class RefusedPickleError(UnpickleError):
    """The pickle wants more than plain data. `what` says what it tried, as `posix.system`."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"it is no plain data: it asks for {what}, which could run code, so nothing of it was read")


def refuse_global(module: object, name: object) -> NoReturn:
    """Refuse a function or class by its name."""
    raise RefusedPickleError(f"{module}.{name}"[:NAMED])
