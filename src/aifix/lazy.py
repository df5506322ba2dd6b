"""Regular expressions that are compiled when they are first used: most runs use a third of those that stand in the modules."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Lazy:
    """Stands in for a compiled expression; takes over its methods at the first use, so that later calls cost nothing more."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copy and pickle ask for what a compiled expression has not
            raise AttributeError(name)
        pattern, flags = self._source
        compiled = re.compile(pattern, flags)
        for method in ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_re(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Give an expression that is compiled when it is first used; a wrong one is found only then, so each needs a test."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


class _Linear:
    """Stands in for a linear-time expression; the engine is imported when it is first used."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def search(self, text: str) -> Any:
        """Search; what it gives is only to be asked for its truth: without google-re2 it is another class."""
        from aifix.match.regex import compile_pattern

        self.search = compile_pattern(self._pattern).search  # type: ignore[method-assign]
        return self.search(text)


def lazy_linear(pattern: str) -> _Linear:
    """Give an expression of many alternatives for many lines, compiled when it is first used: `re` tries each of them at each place."""
    return _Linear(pattern)
