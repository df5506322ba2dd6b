"""The keeper: bounded memory for an endless input, and nothing lost that a diagnosis needs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aifix.match import keeper as keeping
from aifix.match import scan
from aifix.match.keeper import Keeper, core_index, stands

NEEDLE = b"RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"


def fill(keeper: Keeper, data: bytes, step: int = 50_001) -> None:
    for at in range(0, len(data), step):
        keeper.feed(data[at : at + step])


def test_a_small_input_is_kept_whole() -> None:
    keeper = Keeper()
    fill(keeper, b"a\nb\r\nc", step=2)
    assert keeper.blocks() == [(1, b"a\nb\r\nc")]
    assert keeper.lines() == 3
    assert not keeper.truncated


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("where", [0.0, 0.3, 0.7, 1.0])
def test_of_a_large_input_the_pages_around_a_hit_stay_with_their_line_numbers(where: float, *, beside: bool) -> None:
    healthy = b"".join(b"step %d going well with lr 3.0e-04\n" % number for number in range(500_000))
    lines = healthy.splitlines(keepends=True)
    at = int(where * len(lines))
    data = b"".join([*lines[:at], NEEDLE, *lines[at:]])
    keeper = Keeper([b"sCUDA out of memory"], beside=beside)
    fill(keeper, data)
    assert keeper.truncated
    assert keeper.lines() == len(lines) + 1
    kept = [(number + offset, line) for number, block in keeper.blocks() for offset, line in enumerate(block.split(b"\n"))]
    assert (at + 1, NEEDLE.strip()) in kept
    assert sum(len(block) for _, block in keeper.blocks()) < 2 << 20


@pytest.mark.parametrize("seed", range(4))
def test_searching_beside_the_reading_keeps_the_same(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311
    lines = [b"step %d going well with lr 3.0e-04 and %s\n" % (number, b"x" * source.randrange(300)) for number in range(90_000)]
    for _ in range(source.randrange(200)):
        lines[source.randrange(len(lines))] = source.choice([NEEDLE, b"0 errors so far\n", b"y" * 200_000, b"\n"])
    data = b"".join(lines)
    keepers = [Keeper([b"sCUDA out of memory"], beside=beside) for beside in (False, True)]
    step = source.randrange(10_000, 900_000)
    for keeper in keepers:
        fill(keeper, data, step)
    assert keepers[0].blocks() == keepers[1].blocks()
    assert keepers[0].lines() == keepers[1].lines() == data.count(b"\n")


def test_what_goes_wrong_in_the_search_beside_is_told_to_whoever_reads() -> None:
    keeper = Keeper([b"sCUDA out of memory"], beside=True)
    keeper.feed(b"well\n" * 200_000)

    def broken(*_: object) -> dict[int, int]:
        raise MemoryError

    keeper._find = broken
    with pytest.raises(MemoryError):
        keeper.feed(b"well\n" * 900_000)


def test_memory_stays_bounded_when_every_line_hits() -> None:
    keeper = Keeper([b"sCUDA out of memory"])
    for _ in range(600):
        keeper.feed(NEEDLE * 1000)
    assert (
        sum(len(block) for _, block in keeper.blocks())
        <= (keeping.FIRST_PAGES + keeping.LAST_PAGES + keeping.FIRST_GATED + keeping.LAST_GATED + 4) * keeping.PAGE * 2
    )


def test_an_endless_line_is_bounded() -> None:
    keeper = Keeper()
    for _ in range(200):
        keeper.feed(b"x" * (1 << 20))
    assert sum(len(block) for _, block in keeper.blocks()) < 20 << 20
    assert keeper.lines() == 1


@pytest.mark.parametrize(
    ("data", "healthy"),
    [
        (b"step 1 ok\nstep 2 ok\n", True),
        (b"", True),
        (b"Traceback (most recent call last):\n", False),
        (b"a core stands here\n", False),
        (b"A CORE IN CAPITALS\n", False),
        (b"".join(b"epoch %d loss 1.386 acc 0.25\n" % e for e in range(9)), False),
        (b"".join(b"epoch %d loss %.3f\n" % (e, 2 / (1 + e)) for e in range(9)), True),
        (b"".join(b"train loss %.3f val_loss 0.693\n" % (2 / (1 + e)) for e in range(9)), False),
        (b"".join(b"epoch 1: loss 0.9\nepoch 2: loss 0.5\n" for e in range(99)), True),
        (b"".join(b"{'loss': 2.303, 'epoch': %d}\n" % e for e in range(200)), False),
    ],
)
def test_an_input_without_gate_words_and_cores_is_known_to_be_healthy_at_once(data: bytes, *, healthy: bool) -> None:
    keeper = Keeper()
    keeper.feed(data)
    assert keeper.healthy(core_index([b"itraceback (most", b"score stands", b"icore in capitals", b"snothing of the kind"])) is healthy
    assert not keeper.healthy(b""), "without a compiled base nothing is known"


@given(st.lists(st.binary(max_size=200), max_size=30))
def test_what_is_kept_of_a_small_input_is_the_input(chunks: list[bytes]) -> None:
    keeper = Keeper()
    for chunk in chunks:
        keeper.feed(chunk)
    assert b"".join(block for _, block in keeper.blocks()) == b"".join(chunks)


LITERALS = st.binary(min_size=1, max_size=9).filter(lambda core: b"\n" not in core)


@given(st.lists(st.tuples(st.sampled_from([b"s", b"i"]), LITERALS), max_size=8), st.lists(LITERALS, max_size=8), st.integers(0, 9))
def test_literals_stand_where_a_plain_search_finds_them(cores: list[tuple[bytes, bytes]], parts: list[bytes], mixed: int) -> None:
    literals = [kind + (core.lower() if kind == b"i" else core) for kind, core in cores]
    data = b"Some text " + b" ".join(
        [*parts, *(literal[1:].upper() for literal in literals[: mixed % 3]), *(literal[1:] for literal in literals[mixed:])]
    )
    plain = any(literal[1:] in (data.lower() if literal[:1] == b"i" else data) for literal in literals)
    assert stands(data, core_index(literals)) is plain


WORDS = [
    b"step 3 loss 0.2",
    b"an error",
    b"shapes differ: error",
    b"device lost",
    b"Device Lost",
    b"DataLoader worker",
    b"killed: DataLoader worker",
    b"",
    b"x" * 90,
]


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=5), min_size=1, max_size=5))
def test_literals_beside_which_a_gate_stands_are_found_as_if_they_were_searched_for_at_once(pages: list[list[bytes]]) -> None:
    texts = [b"".join(line + b"\n" for line in lines) or b"\n" for lines in pages]
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    data = memoryview(b"".join(texts))
    for find in FINDERS:
        assert find(data, ends) == {
            page: 2 if any(core in text or core.lower() in text.lower() for core in (b"device lost", b"shapes differ", b"killed: DataLoader")) else 1
            for page, text in enumerate(texts, 1)
            if b"error" in text or b"killed" in text or b"device lost" in text.lower()
        }


ALONE, GATED, WATCHED = [b"idevice lost"], [b"sshapes differ", b"skilled: DataLoader"], [b"ierror", b"ikilled"]
FINDERS = [scan.finder(ALONE, WATCHED, GATED), scan.finder([*ALONE, *GATED], WATCHED)]


def test_a_literal_that_needs_no_gate_is_compiled_as_one_that_does_not() -> None:
    alone, gated = keeping.literals()
    assert len(alone) > 1000
    assert len(gated) > 1000
    assert not set(alone) & set(gated)


def test_of_many_short_lines_not_all_are_kept() -> None:
    keeper = Keeper([b"sCUDA out of memory"])
    keeper.feed(b"\n" * 1_500_000 + b"CUDA out of memory\n" + b"x\n" * 700_000)
    blocks = keeper.blocks()
    assert sum(block.count(b"\n") for _, block in blocks) < 500_000
    found = [first + block[: block.index(b"CUDA out")].count(b"\n") for first, block in blocks if b"CUDA out" in block]
    assert found == [1_500_001]
