"""npm's version ranges, as far as package.json files use them."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+)(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?(?:-([0-9A-Za-z.-]+))?")
_PART = re.compile(r"(\^|~>?|>=|<=|>|<|=)?\s*v?([\dxX*][\w.*+-]*)")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")

Bound = tuple[int, int, int]


def satisfies(version: str, wanted: str) -> bool | None:
    """Tell whether a version lies in a range; None when the range is an address, a tag or not understood."""
    have = _VERSION.match(version.strip())
    if have is None or have[2] is None or have[3] is None:
        return None
    wanted = wanted.strip()
    if re.match(r"(?:npm|git|github|file|link|workspace|https?|portal|catalog|patch)[:+]", wanted) or "/" in wanted:
        return None
    number = (int(have[1]), int(have[2]), int(have[3]))
    answers = [_alternative(number, have[4] or "", part.strip()) for part in wanted.split("||")]
    if any(answers):
        return True
    return None if any(answer is None for answer in answers) else False


def _alternative(number: Bound, pre: str, text: str) -> bool | None:
    if text in {"", "*", "x", "X", "latest"}:
        return True
    hyphen = _HYPHEN.fullmatch(text)
    if hyphen:
        first, last = _bounds("", hyphen[1]), _bounds("", hyphen[2])
        return first is not None and last is not None and first[0] <= number < last[1]
    parts = list(_PART.finditer(text))
    if not parts or re.sub(r"[\s,]+", "", _PART.sub("", text)):
        return None
    for part in parts:
        found = _bounds(part[1] or "", part[2])
        if found is None:
            return None
        low, high = found
        if not low <= number < high:
            return False
        if pre and number == low and part[1] in {"^", "~", ">=", None} and f"-{pre}" not in part[2] and "-" not in part[2]:
            return False  # 5.0.0-rc.1 comes before 5.0.0
    return True


def _bounds(operator: str, text: str) -> tuple[Bound, Bound] | None:
    """Give a comparison as a half-open interval of versions."""
    top = (1 << 60, 0, 0)
    if text[:1] in "xX*":
        return (0, 0, 0), top
    found = _VERSION.match(text)
    if found is None:
        return None
    given = [int(part) for part in found.groups()[:3] if part is not None and part.isdigit()]
    major, minor, patch = (*given, 0, 0)[:3]
    low: Bound = (major, minor, patch)
    after: Bound = (major + 1, 0, 0) if len(given) == 1 else (major, minor + 1, 0) if len(given) == 2 else (major, minor, patch + 1)
    if operator == ">=":
        return low, top
    if operator == ">":
        return after, top
    if operator == "<":
        return (0, 0, 0), low
    if operator == "<=":
        return (0, 0, 0), after
    if operator == "^":
        if major or len(given) == 1:
            return low, (major + 1, 0, 0)
        if minor or len(given) == 2:
            return low, (0, minor + 1, 0)
        return low, (0, 0, patch + 1)
    if operator.startswith("~"):
        return low, ((major + 1, 0, 0) if len(given) == 1 else (major, minor + 1, 0))
    return low, after
