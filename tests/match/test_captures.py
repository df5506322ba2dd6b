"""Typed captures: what each type matches in a message, and the value that it becomes."""

from __future__ import annotations

import re

import pytest

from aifix.match.captures import TYPES, UnknownTypeError, expand, parse


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("bytes", "1.24 GiB", 1331439862),
        ("bytes", "20.00 MiB", 20 << 20),
        ("bytes", "6291456 bytes", 6291456),
        ("bytes", "10.45GiB", round(10.45 * (1 << 30))),
        ("bytes", "-3.17 GiB", round(-3.17 * (1 << 30))),
        ("bytes", "512Mi", 512 << 20),
        ("bytes", "805,306,368 bytes", 805306368),
        ("bytes", "329. GiB", 329 << 30),
        ("bytes", "4786749440", 4786749440),
        ("seconds", "1800000 ms", 1800.0),
        ("seconds", "1800648 milliseconds", 1800.648),
        ("seconds", "30 minutes", 1800.0),
        ("seconds", "01:30:00", 5400.0),
        ("seconds", "2-00:00:00", 172800.0),
        ("seconds", "600s", 600.0),
        ("int", "1,048,576", 1048576),
        ("int", "-1", -1),
        ("float", "1.000e-02", 0.01),
        ("float", "nan", "nan"),
        ("shape", "[8, 3, 224, 224]", [8, 3, 224, 224]),
        ("shape", "torch.Size([0])", [0]),
        ("shape", "32x512", [32, 512]),
        ("shape", "(2 x 39)", [2, 39]),
        ("shape", "[None, 10]", [-1, 10]),
        ("shape", "[]", []),
        ("version", "2.4.1+cu121", "2.4.1+cu121"),
        ("device", "cuda:0", "cuda:0"),
        ("arch", "sm_86", "sm_86"),
    ],
)
def test_a_type_matches_its_printed_form_whole_and_parses_it(kind: str, text: str, value: object) -> None:
    assert re.fullmatch(TYPES[kind].regex, text)
    assert parse(kind, text).value == value


@pytest.mark.parametrize(
    ("pattern", "line", "captures"),
    [
        (r"Tried to allocate {requested:bytes}\. GPU", "Tried to allocate 9.27 GiB. GPU 0", {"requested": "9.27 GiB"}),
        (r"Target {target:int} is out of bounds", "IndexError: Target -1 is out of bounds.", {"target": "-1"}),
        (r"shape '{shape:shape}' is invalid", "shape '[128, 100]' is invalid for input", {"shape": "[128, 100]"}),
        (r"\({a:shape} and {b:shape}\)", "(32x512 and 256x10)", {"a": "32x512", "b": "256x10"}),
        (r"File {file:path} not", "File C:\\models\\a.pt not found", {"file": "C:\\models\\a.pt"}),
        (r"a{3} {x:word}", "aaa yes", {"x": "yes"}),
    ],
)
def test_captures_stand_in_patterns_beside_ordinary_regex_syntax(pattern: str, line: str, captures: dict[str, str]) -> None:
    regex, types = expand(pattern)
    found = re.search(regex, line)
    assert found is not None
    assert found.groupdict() == captures
    assert set(types) == set(captures)


@pytest.mark.parametrize("pattern", ["{a:nonsense}", "{a:int} {a:int}"])
def test_an_unknown_type_or_a_name_used_twice_is_refused(pattern: str) -> None:
    with pytest.raises(UnknownTypeError):
        expand(pattern)
