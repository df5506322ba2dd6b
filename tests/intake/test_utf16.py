"""UTF-16 as Windows PowerShell writes it: alone, below UTF-8, above it, and what only looks like it."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.intake import utf16
from aifix.intake.lines import clean
from aifix.match.keeper import READ, Keeper

TEXT = (
    'Traceback (most recent call last):\r\n  File "C:\\Nutzer\\Jörg\\train.py", line 3, in <module>\r\nRuntimeError: CUDA out of memory – sorry\r\n'
)
LINES = TEXT.split("\r\n")[:-1]


def texts(data: bytes) -> list[str]:
    return [line.text for line in clean(data)]


@pytest.mark.parametrize(("mark", "form"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (b"", "utf-16-le")])
def test_a_whole_file(mark: bytes, form: str) -> None:
    assert texts(mark + TEXT.encode(form)) == LINES
    assert texts(mark + TEXT.replace("\r\n", "\n").encode(form)) == LINES


@pytest.mark.parametrize("form", ["utf-16-le", "utf-16-be"])
def test_letters_without_a_zero_byte_are_read_too(form: str) -> None:
    text = "Ошибка: недостаточно памяти\r\nメモリ不足\r\nend\r\n"
    mark = codecs.BOM_UTF16_LE if form == "utf-16-le" else codecs.BOM_UTF16_BE
    assert texts(mark + text.encode(form)) == text.split("\r\n")[:-1]


def test_appended_to_a_file_of_utf_8() -> None:
    assert texts("epoch 1 – ok\n".encode() + TEXT.encode("utf-16-le")) == ["epoch 1 – ok", *LINES]


def test_appended_to_by_a_program_that_writes_utf_8() -> None:
    assert texts(codecs.BOM_UTF16_LE + "step 1\r\n".encode("utf-16-le") + TEXT.encode()) == ["step 1", *LINES]


def test_holes_and_single_zeros_are_no_utf_16() -> None:
    assert texts(b"\0" * 5000 + b"loss 0.5\n" + b"\0" * 300 + b"\nab\0cd efgh\n") == ["loss 0.5", "", "abcd efgh"]


@given(st.binary(max_size=400))
def test_line_feeds_stay_what_they_are(data: bytes) -> None:
    if not data.startswith(utf16.BOMS) or b"\0" in data:
        assert utf16.narrow(data).count(b"\n") >= data.count(b"\n")
    clean(data)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=200))
def test_what_powershell_wrote_is_read(text: str) -> None:
    data = codecs.BOM_UTF16_LE + (text + "\r\n").encode("utf-16-le")
    if data.count(b"\n") == 1:  # a character whose code holds 0A splits its line
        assert utf16.narrow(data).decode().lstrip("\ufeff").rstrip("\r\n") == text.lstrip("\ufeff")


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("before", [b"", b"epoch 1 saved\n" * 60_000], ids=["alone", "below UTF-8"])
@pytest.mark.parametrize("size", [0, 9 * READ, 50 * READ])
def test_the_keeper_finds_a_failure_in_it(size: int, before: bytes, beside: bool) -> None:
    quiet = "epoch 1 saved\r\n".encode("utf-16-le")
    around = quiet * (size // len(quiet))
    keeper = Keeper([b"sCUDA out of memory"], beside=beside)
    keeper.feed(before + around + TEXT.encode("utf-16-le") + around)
    assert not keeper.healthy(b"cuda\n\ncuda\tsCUDA out of memory\n")
    found = [line for first, block in keeper.blocks() for line in clean(block, first) if "CUDA out of memory" in line.text]
    assert [line.number for line in found] == [before.count(b"\n") + around.count(b"\n") + 3]
    healthy = Keeper([b"sCUDA out of memory"], beside=beside)
    healthy.feed(before + around + quiet)
    assert healthy.healthy(b"cuda\n\ncuda\tsCUDA out of memory\n")
