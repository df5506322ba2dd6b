"""From bytes to a document, whatever the bytes are."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aifix.intake import document

CORPUS = sorted((Path(__file__).parents[3] / "shared" / "corpus").glob("*.log"))
HEADS = [
    "",
    "[rank1]: ",
    "12: ",
    "trainer-1  | ",
    "2024-05-01T12:00:00Z ",
    "(Worker pid=1) ",
    "\x1b[31m",
    "\r",
    "│ ",
    "E0813 10:22:14.000 1 a.py:2] ",
]
TRACEBACK = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'


@pytest.mark.parametrize(
    ("data", "total"),
    [(b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n\n", 3), (b"\x00\x00", 1), (bytes(range(256)) * 40, 40 + 1), (b"\r\r\r", 1)],
)
def test_lines_are_counted_by_their_line_feeds(data: bytes, total: int) -> None:
    assert document.read(data).total_lines == total


def test_what_it_holds() -> None:
    doc = document.read(TRACEBACK + b"ValueError: x\n", source="train.log")
    assert (doc.source, doc.genre, doc.total_lines, doc.truncated) == ("train.log", "log", 4, False)
    assert [line.number for line in doc.lines] == [1, 2, 3, 4]
    assert [item.kind for item in doc.tracebacks] == ["ValueError"]


def test_blocks_of_a_big_input_keep_their_numbers() -> None:
    doc = document.read([(1, b"start\n"), (900, TRACEBACK + b"ValueError: x\n"), (5000, b"end\n")])
    assert [line.number for line in doc.lines] == [1, 900, 901, 902, 903, 5000]
    assert (doc.total_lines, doc.truncated) == (5000, True)
    (item,) = doc.tracebacks
    assert [doc.lines[i].number for i in (item.start, item.error, item.end - 1)] == [900, 903, 903]
    assert {doc.lines[i].number for i in item.quoted} == {901, 902}


def test_a_traceback_does_not_reach_over_a_gap() -> None:
    doc = document.read([(1, TRACEBACK), (900, b"ValueError: of something else\n")])
    assert [item.kind for item in doc.tracebacks] == [""]


def test_adjacent_blocks_are_one_text() -> None:
    doc = document.read([(1, TRACEBACK), (4, b"ValueError: x\n")])
    assert not doc.truncated
    assert [item.kind for item in doc.tracebacks] == ["ValueError"]


@given(st.binary(max_size=2000))
def test_any_bytes_are_read(data: bytes) -> None:
    doc = document.read(data)
    numbers = [line.number for line in doc.lines]
    assert numbers == sorted(numbers)
    assert all(1 <= number <= doc.total_lines for number in numbers)


@given(st.lists(st.tuples(st.lists(st.sampled_from(HEADS), max_size=4), st.text(max_size=60)), max_size=30))
def test_any_prefixes_are_read(rows: list[tuple[list[str], str]]) -> None:
    doc = document.read("\n".join("".join(heads) + text for heads, text in rows).encode("utf-8", "replace"))
    assert all("\x1b" not in line.text for line in doc.lines)


@pytest.mark.skipif(not CORPUS, reason="no ../shared/corpus here")
def test_every_line_of_the_corpus_keeps_its_text_and_number() -> None:
    """Prefix and text together are what stood in the input, but for escapes, redraws, boxes and joined lines."""
    odd = 0
    total = 0
    for path in CORPUS:
        data = path.read_bytes()
        raws = data.decode("utf-8", "replace").split("\n")
        doc = document.read(data)
        for line in doc.lines:
            total += 1
            odd += (line.prefix + line.text) not in raws[line.number - 1]
    assert odd <= total * 0.005


HOSTILE = {
    "brackets": b"[" * 300_000,
    "quotes": (b'  File "' + b"x" * 60_000 + b"\n") * 30,
    "blanks": (b" " * 60_000 + b"x\n") * 30,
    "dots": (b"a." * 30_000 + b"\n") * 30,
    "escapes": b"\x1b]" * 300_000,
    "bars": b"[00:01<" * 80_000,
    "returns": b"\r" * 2_000_000,
    "zeros": bytes(3_000_000),
    "pipes": (b"| " * 30_000 + b"\n") * 20,
    "digits": (b"1" * 60_000 + b"\n") * 20,
    "commas": (b"a, " * 20_000 + b"\n") * 20,
    "heads": b"Traceback (most recent call last):\n" * 20_000,
    "frames": b'  File "a.py", line 1, in f\n' * 30_000,
    "rules": b"=" * 79 + b"\n" + (b"=" * 80 + b"\n") * 20_000,
    "wide": (b"w" * 80 + b"\n") * 20_000,
    "boxes": ("│" * 20_000 + "\n").encode() * 10,
    "errors": b"ValueError: x\n" * 30_000,
    "wrote": b"On " + b"a " * 30_000 + b"\n" + b"> x\n" * 4,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_input_is_slow(name: str) -> None:
    before = time.process_time()
    document.read(HOSTILE[name])
    assert time.process_time() - before < 4


@settings(deadline=None)
@given(st.text(alphabet="ab \t[](){}|+-=~^:;.,\"'`#/\\0123456789_<>*@$%", max_size=300), st.integers(1, 300))
def test_repetition_is_not_slow(piece: str, times: int) -> None:
    before = time.process_time()
    document.read((piece * times)[:60_000].encode())
    assert time.process_time() - before < 3
