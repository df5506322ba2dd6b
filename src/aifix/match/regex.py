"""Linear-time regular expressions: google-re2, or the standard library's where there is no wheel."""

from __future__ import annotations

import functools
import re
from typing import Any

try:
    import re2

    _OPTIONS = re2.Options()
    _OPTIONS.log_errors = False
    LINEAR = True
except ImportError:  # pragma: no cover - platforms without a wheel
    re2 = None
    LINEAR = False


class PatternError(ValueError):
    """The pattern is not a linear-time regular expression."""


@functools.lru_cache(maxsize=8192)
def compile_pattern(pattern: str) -> Any:
    """Compile a pattern for search.

    Raises:
        PatternError: it does not compile, or needs look-around or back-references.

    """
    try:
        if re2 is not None:
            return re2.compile(pattern, _OPTIONS)
        return re.compile(pattern)
    except Exception as error:  # re2 raises its own error class, which has no public name
        message = f"{error}: {pattern!r}"
        raise PatternError(message) from error


@functools.lru_cache(maxsize=1024)
def compile_bytes(pattern: str) -> Any:
    """Compile a pattern for search in UTF-8 bytes.

    Raises:
        PatternError: as `compile_pattern`.
    """
    compile_pattern(pattern)
    return re2.compile(pattern, _OPTIONS) if re2 is not None else re.compile(pattern.encode())
