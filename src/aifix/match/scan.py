"""A yes-or-no scan of a page for any of many literals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def escape(literal: bytes) -> bytes:
    """Escape a literal for every regex engine: letters and digits stay, all else by its hexadecimal code."""
    return re.sub(rb"[^A-Za-z0-9_]", lambda found: b"\\x%02x" % found.group()[0], literal)


def scanner(cores: Sequence[bytes]) -> Callable[[bytes], bool]:
    """Build the scan.

    Args:
        cores: literals, each led by b's' (exact case) or b'i' (lower-cased, any case).

    """
    cores = [core for core in cores if len(core) > 1]
    try:
        return _hyperscan(cores)
    except ImportError:
        return _alternation(cores)


def _hyperscan(cores: Sequence[bytes]) -> Callable[[bytes], bool]:
    import hyperscan

    expressions = [escape(core[1:]) for core in cores]
    flags = [hyperscan.HS_FLAG_SINGLEMATCH | (hyperscan.HS_FLAG_CASELESS if core[:1] == b"i" else 0) for core in cores]
    engine = hyperscan.Database()
    engine.compile(expressions=expressions, ids=list(range(len(expressions))), elements=len(expressions), flags=flags)

    def stop(*_match: object) -> bool:
        return True

    def scan(page: bytes) -> bool:
        try:
            engine.scan(page, match_event_handler=stop)
        except hyperscan.ScanTerminated:
            return True
        return False

    return scan


def _alternation(cores: Sequence[bytes]) -> Callable[[bytes], bool]:
    exact = b"|".join(escape(core[1:]) for core in cores if core[:1] == b"s")
    folded = b"|".join(escape(core[1:]) for core in cores if core[:1] == b"i")
    try:
        import re2

        compiled = [re2.compile(exact), *([re2.compile(b"(?i)" + folded)] if folded else [])]
    except ImportError:
        compiled = [re.compile(exact), *([re.compile(b"(?i)" + folded)] if folded else [])]
    return lambda page: any(expression.search(page) for expression in compiled)
