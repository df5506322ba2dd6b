from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.show.safe import REPLACEMENT, fit_encoding, sanitise, sanitise_block

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
NASTY = st.lists(
    st.sampled_from(
        [
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x9b",
            "\x9d",
            "\x07",
            "\x1b\\",
            "31m",
            "0;title",
            "\u202e",
            "\u2066",
            "\r",
            "\n",
            "\0",
            "\ud800",
            "a",
            " ",
            "é",
        ]
    )
).map("".join)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("plain text", "plain text"),
        ("\x1b[1;31mRuntimeError\x1b[0m: x", "RuntimeError: x"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bP1$r\x1b\\x", "x"),
        ("\x1b(B\x1b7\x1b=ok", "ok"),
        ("\x1b]0;never ended RuntimeError", "0;never ended RuntimeError"),
        ("a\tb", "a   b"),
        ("bell\x07", "bell" + REPLACEMENT),
        ("nul\0byte", f"nul{REPLACEMENT}byte"),
        ("access\u202eden", "accessden"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("no\xa0break", "no break"),
        ("two\nlines", "two lines"),
        ("line\u2028separator", "line separator"),
        ("lone \ud83d surrogate", f"lone {REPLACEMENT} surrogate"),
        ("ends with\r\n", "ends with"),
        ("höher 100 % █▌ 进度", "höher 100 % █▌ 进度"),
    ],
)
def test_examples(raw: str, clean: str) -> None:
    assert sanitise(raw) == clean


@given(st.one_of(ANY_TEXT, NASTY))
def test_result_is_printable_and_stable(text: str) -> None:
    clean = sanitise(text)
    assert clean.isprintable()
    assert not any(unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for character in clean)
    assert sanitise(clean) == clean


@given(st.one_of(ANY_TEXT, NASTY))
def test_blocks_keep_only_line_feeds(text: str) -> None:
    clean = sanitise_block(text)
    assert clean.replace("\n", "").isprintable()
    assert sanitise_block(clean) == clean


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=80))
def test_printable_text_is_untouched(text: str) -> None:
    assert sanitise(text) == text


@given(ANY_TEXT, st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8", "no-such-codec"]))
def test_fits_the_encoding(text: str, encoding: str) -> None:
    fitted = fit_encoding(sanitise(text), encoding)
    fitted.encode("ascii" if encoding == "no-such-codec" else encoding)
