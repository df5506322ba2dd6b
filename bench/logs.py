"""Logs to measure with: generated, the same bytes every time, streamed so that a gigabyte needs no memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = 4 << 20
FAILURE = b"""Traceback (most recent call last):
  File "/workspace/train.py", line 148, in <module>
    main()
  File "/workspace/train.py", line 87, in training_step
    logits = model(batch["tokens"])
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 2 has a total capacity of 23.64 GiB of which 311.12 MiB is free. \
Including non-PyTorch memory, this process has 23.33 GiB memory in use. Of the allocated memory 21.87 GiB is allocated by PyTorch, and 1.02 GiB \
is reserved by PyTorch but unallocated.
"""


def healthy_line(number: int) -> bytes:
    """Give a line of a run that goes well."""
    kind = number % 8
    if kind == 3:
        return b"2024-05-01 12:%02d:%02d,%03d INFO data: shard %d of 4096 opened, 81920 sequences\n" % (
            number // 3600 % 60,
            number // 60 % 60,
            number % 1000,
            number % 4096,
        )
    if kind == 5:
        return b"epoch %d:  %d%%|#####     | %d/1706 [12:31<10:22,  1.91it/s, loss=%.4f]\n" % (
            number // 1706,
            number % 100,
            number % 1706,
            9 / (1 + number * 5e-3),
        )
    return b"2024-05-01 12:00:01,%03d INFO trainer: step %d lr 3.0e-04 loss %.4f grad_norm 1.03 tokens/s 48612\n" % (
        number % 1000,
        number,
        10 / (1 + number * 5e-3),
    )


def lines(line: Callable[[int], bytes]) -> Iterator[bytes]:
    """Make endless blocks of one sort of line."""
    number = 0
    while True:
        parts: list[bytes] = []
        size = 0
        while size < BLOCK:
            parts.append(line(number))
            size += len(parts[-1])
            number += 1
        yield b"".join(parts)


def adversarial(cores: list[str], gates: list[str]) -> Callable[[int], bytes]:
    """Give lines of which two in five nearly hit: a literal with its last three characters changed.

    Args:
        cores: literals without a gate word, each led by the letter of its case.
        gates: the gate words: a literal may hold one together with what stands before it.
    """
    chosen = random.Random(7).sample([core[1:] for core in cores if len(core) > 12], min(600, len(cores)))  # noqa: S311
    lines = [core[:-3] + "qzj" for core in chosen]
    known = [*(core[1:].lower() for core in cores), *gates]
    near = [text.encode("utf-8", "replace") for text in lines if "\n" not in text and not any(core in f":{text.lower()}|" for core in known)]

    def line(number: int) -> bytes:
        if number % 5 < 2:
            return b"2024-05-01 12:00:01 INFO step %d:%s|went well\n" % (number, near[number % len(near)])
        return healthy_line(number)

    return line


def worried(number: int) -> bytes:
    """Give lines of which two in five have a word that failures have too."""
    if number % 5 < 2:
        return b"2024-05-01 12:00:01 INFO step %d: 0 errors, 0 failed, validation error 0.%d\n" % (number, number % 97)
    return healthy_line(number)


def ranks(number: int) -> bytes:
    """Give a line of one of 1,024 ranks."""
    return b"[rank%d]: %s" % (number * 37 % 1024, healthy_line(number // 1024))


def write(path: Path, blocks: Iterator[bytes], size: int) -> Path:
    """Write blocks until a file has its size; the last line ends whole where there are lines."""
    if path.exists() and path.stat().st_size >= size - (1 << 20):
        return path
    with path.open("wb") as stream:
        left = size
        while left > 0:
            block = next(blocks)
            if len(block) > left:
                block = block[:left].rpartition(b"\n")[0] + b"\n" if b"\n" in block[:left] else block[:left]
                stream.write(block)
                break
            stream.write(block)
            left -= len(block)
    return path


def cycle(line: Callable[[int], bytes], blocks: int = 16) -> Iterator[bytes]:
    """Make a few different blocks and go round: a gigabyte within seconds."""
    made = [block for block, _ in zip(lines(line), range(blocks), strict=False)]
    while True:
        yield from made


def endless(block: bytes) -> Iterator[bytes]:
    """Repeat one block."""
    while True:
        yield block


def junk() -> Iterator[bytes]:
    """Give binary data."""
    source = random.Random(3)  # noqa: S311
    made = [source.randbytes(BLOCK) for _ in range(8)]
    while True:
        yield from made


def failing(path: Path, size: int, failures: int) -> Path:
    """Write a log with failures strewn evenly, each at another step."""
    if path.exists():
        return path
    source = cycle(healthy_line)
    with path.open("wb") as stream:
        gap = size // max(failures, 1)
        block, at = next(source), 0
        for number in range(failures):
            left = gap
            while left > 0:
                part = block[at : at + left]
                end = part.rfind(b"\n") + 1
                if end <= 0:
                    block, at = next(source), 0
                    continue
                stream.write(part[:end])
                left -= len(part)
                at += end
                if at >= len(block):
                    block, at = next(source), 0
            stream.write(FAILURE.replace(b"1.50 GiB", b"1.%02d GiB" % (number % 100)))
    return path
