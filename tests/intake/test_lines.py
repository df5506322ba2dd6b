"""Bytes to clean, numbered lines."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.intake import lines

BAR = "Epoch 1:  51%|#####     | 60/118 [00:31<00:30,  1.91it/s, loss=0.871]"

CASES = [
    # bytes, lines as (number, text)
    (b"", []),
    (b"\n", [(1, "")]),
    (b"a", [(1, "a")]),
    (b"a\nb\n", [(1, "a"), (2, "b")]),
    (b"a\r\nb\r\n", [(1, "a"), (2, "b")]),
    (b"a\r\r\nb", [(1, "a"), (2, "b")]),
    (b"\xef\xbb\xbfa", [(1, "a")]),
    (b"\xff\xfea\x00\n\x00b\x00", [(1, "a"), (2, "b")]),
    (b"a\xff\xfeb", [(1, "a\ufffd\ufffdb")]),
    (b"a\x00b\x01c\x7f", [(1, "abc")]),
    (b"tab\tstays", [(1, "tab\tstays")]),
    # escapes
    (b"\x1b[31mred\x1b[0m", [(1, "red")]),
    (b"\x1b[38;2;1;2;3mred\x1b[m\x1b[K", [(1, "red")]),
    (b"\x1b]0;title\x07text", [(1, "text")]),
    (b"\x1b]8;;https://example.test\x1b\\link\x1b]8;;\x1b\\", [(1, "link")]),
    (b"\x1b]0;never closed", [(1, "0;never closed")]),
    (b"\x1b(Btext\x1b)0", [(1, "text")]),
    (b"\x1bP+q\x1b\\text\x1b7\x1b8\x1b=", [(1, "text")]),
    ("\x9b31mred\x9b0m \x9d0;t\x07x".encode(), [(1, "red x")]),
    (b"cut \x1b[3", [(1, "cut ")]),
    (b"cut \x1b", [(1, "cut ")]),
    (b"a\x1b[3Cb", [(1, "a   b")]),
    (b"one\x1b[2K\x1b[1Gtwo", [(1, "one"), (1, "two")]),
    (b"^[[31mred^[[0m", [(1, "red")]),
    (b"[36m(x)[0m red", [(1, "(x) red")]),
    (b"x[mask] and y[0] stay", [(1, "x[mask] and y[0] stay")]),
    (b"wbce[mask].mean() [0m", [(1, "wbce[mask].mean() ")]),
    (b"N\x08NA\x08AM\x08M", [(1, "NAM")]),
    ("safe\u202eevil\u200b".encode(), [(1, "safeevil")]),
    # redraws
    (b"one\rtwo\n", [(1, "one"), (1, "two")]),
    (b"get 1%\rget 2%\rget 3%\rdone\n", [(1, "get 3%"), (1, "done")]),
    (f"\r{BAR}\r{BAR.replace('60', '61')}\nnext".encode(), [(1, BAR.replace("60", "61")), (2, "next")]),
    (f"\rloss is nan\r{BAR}".encode(), [(1, "loss is nan"), (1, BAR)]),
    (f"{BAR}{BAR}Traceback (most recent call last):".encode(), [(1, BAR), (1, "Traceback (most recent call last):")]),
    (f"{BAR}RuntimeError: x".encode(), [(1, BAR), (1, "RuntimeError: x")]),
    (b"100%|xx| 5/5 [00:01<00:00]\n", [(1, "100%|xx| 5/5 [00:01<00:00]")]),
    (
        b"  1/142 [..............................] - ETA: 9:42Traceback (most recent call last):",
        [(1, "  1/142 [..............................] - ETA: 9:42"), (1, "Traceback (most recent call last):")],
    ),
    (b"1/9 [=====>....]\x08\x08\x08\x08\x08\x082/9 [=====>....]", [(1, "2/9 [=====>....]")]),
    (b"0 examples [00:00, ? examples/s]Failed to read file 'x'", [(1, "0 examples [00:00, ? examples/s]"), (1, "Failed to read file 'x'")]),
    (f"RuntimeError: too early {BAR}".encode(), [(1, "RuntimeError: too early Epoch 1:"), (1, BAR.removeprefix("Epoch 1:"))]),
    # tracebacks in JSON
    (
        rb'{"level":"error","exc":"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nValueError: x\n"}',
        [
            (1, '{"level":"error","exc":"Traceback (most recent call last):'),
            (1, '  File "a.py", line 1, in <module>'),
            (1, "    f()"),
            (1, "ValueError: x"),
            (1, '"}'),
        ],
    ),
]


@pytest.mark.parametrize(("data", "expected"), CASES, ids=lambda value: repr(value)[:48])
def test_cleaning(data: bytes, expected: list[tuple[int, str]]) -> None:
    assert [(line.number, line.text) for line in lines.clean(data)] == expected


def test_numbers_begin_where_the_block_does() -> None:
    assert [line.number for line in lines.clean(b"a\nb\n", first=900)] == [900, 901]


@pytest.mark.parametrize(
    ("text", "progress"),
    [
        (BAR, True),
        ("Loading checkpoint shards: 100%|██████████| 2/2 [00:05<00:00,  2.71s/it]", True),
        ("config.json: 100% 718/718 [00:00<00:00, 61.0kB/s]", True),
        ("400/400 [==============================] - 61s 137ms/step - loss: 0.8120 - accuracy: 0.7011", True),
        ("   ━━━━━━━━━━━━━━━━━━━━ 868.8/868.8 kB 2.7 MB/s eta 0:00:00", True),
        ("RuntimeError: x", False),
        ("Test: [  0/100]  Time 0.001  Loss 0.90", False),
        ("[12/100, 3.5] ms/step was slow", False),
        ("read 300 MB/s", False),
    ],
)
def test_progress_bars(text: str, *, progress: bool) -> None:
    assert lines.is_progress(text) is progress


@pytest.mark.parametrize("at", [0, 10, 32_700, 99_000, 150_000, 199_000])
def test_a_long_line_is_read_in_windows_that_overlap(at: int) -> None:
    message = b" RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3) "
    found = lines.clean(b"H" * at + message + b"T" * (200_000 - at))
    assert any(message.decode().strip() in line.text for line in found)
    assert {line.number for line in found} == {1}
    assert max(len(line.text) for line in found) <= lines.WINDOW


def test_a_traceback_inside_a_long_string_of_json_is_found() -> None:
    trace = (
        r"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nRuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n"
    )
    text = '{"rows": "' + "0, " * 30_000 + trace + "0, " * 30_000 + '"}'
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)" in [line.text for line in lines.clean(text.encode())]


def test_a_line_of_200_megabytes_costs_little() -> None:
    data = b"x" * 199_999_999 + b"y"
    before = time.process_time()
    assert sum(len(line.text) for line in lines.clean(data)) < 2 << 20
    assert time.process_time() - before < 5


def test_what_stands_behind_an_endless_bar_is_kept() -> None:
    data = (b"\r" + BAR.encode()) * 200_000 + b"Traceback (most recent call last):\nnext\n"
    assert [line.text for line in lines.clean(data)][-2:] == ["Traceback (most recent call last):", "next"]


@given(st.binary(max_size=3000))
def test_any_bytes_become_clean_lines(data: bytes) -> None:
    found = lines.clean(data)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert [line.number for line in found] == sorted(line.number for line in found)
        total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        numbers = {line.number for line in found}
        assert numbers == set(range(1, total + 1)) or (b"\0" in data and numbers == set(range(1, total)))  # UTF-16: half of a last line feed
    for line in found:
        assert not any((ord(c) < 32 and c != "\t") or 0x7F <= ord(c) < 0xA0 for c in line.text)


@given(st.text(alphabet="ab[]()0123456789;mKGHC%|/=.<, \x1b\x08\r\n\x9b\x07its", max_size=400))
def test_escapes_and_redraws_never_survive(text: str) -> None:
    for line in lines.clean(text.encode()):
        assert not set(line.text) & set("\x1b\x08\r\n\x9b\x07")
