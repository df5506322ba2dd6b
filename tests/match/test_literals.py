"""Literal cores: strings of which at least one stands in every match."""

from __future__ import annotations

import re

import pytest

from aifix.match.captures import expand
from aifix.match.literals import cores


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"CUDA out of memory\. Tried to allocate {n:bytes}", (("CUDA out of memory. Tried to allocate ",), False)),
        (r"(?:invalid device ordinal|no such device) {x:int}", (("invalid device ordinal", "no such device"), False)),
        (r"(?i)Out Of Memory", (("out of memory",), True)),
        (r"total capacit?y of", (("total capaciy of", "total capacity of"), False)),
        (
            r"[Ii]nvalid __(?:global|shared)__ read",
            (("Invalid __global__ read", "Invalid __shared__ read", "invalid __global__ read", "invalid __shared__ read"), False),
        ),
        (r"\d+ \w+", ((" ",), False)),
    ],
)
def test_the_most_selective_required_literals_are_found(pattern: str, expected: tuple[tuple[str, ...], bool]) -> None:
    found, ignore_case = cores(expand(pattern)[0])
    assert ignore_case == expected[1]
    assert found == expected[0]


@pytest.mark.parametrize("pattern", [r"\d+|\w+ foo", r"(?:foo)?", r".*"])
def test_there_is_no_core_where_nothing_is_required(pattern: str) -> None:
    found, _ = cores(pattern)
    assert found == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"size {a:int}(?: of {b:int})? must match", "size 3 must match"),
        (r"(?:ab{2}c|xyz+) end of it", "abbc end of it"),
        (r"x(?:yz)+ quux", "xyzyz quux"),
    ],
)
def test_a_core_stands_in_every_match(pattern: str, text: str) -> None:
    regex, _ = expand(pattern)
    found = re.search(regex, text)
    assert found is not None
    assert any(core in found.group() for core in cores(regex)[0])
