"""Ranks that time out on each other from different lines: the one that is elsewhere, and silence where anything else explains it."""

from __future__ import annotations

import pytest

from aifix.intake import document
from aifix.match.parted import parting

TIMED_OUT = (
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete"
)
CLOSED = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:54923."


def traceback(rank: int, line: int, operation: str, error: str = TIMED_OUT) -> str:
    """What a rank prints that gives up in a collective."""
    return "".join(
        f"[rank{rank}]: {text}\n"
        for text in (
            "Traceback (most recent call last):",
            f'  File "/workspace/train.py", line {line}, in step',
            f"    dist.{operation}(tensor)",
            f'  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in {operation}',
            "    work.wait()",
            error,
        )
    )


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        (traceback(0, 40, "all_reduce") + traceback(1, 44, "broadcast"), 1),
        (traceback(0, 44, "broadcast") + traceback(1, 40, "all_reduce"), 0),
        (traceback(0, 40, "all_reduce") + traceback(1, 40, "all_reduce") + traceback(2, 38, "all_gather"), 2),
        (traceback(2, 40, "all_reduce") + traceback(1, 60, "barrier") + traceback(0, 40, "all_reduce"), 1),
    ],
)
def test_the_rank_that_is_elsewhere(text: str, rank: int) -> None:
    found = parting(document.read(text.encode()).lines)
    assert found is not None
    assert found.captures["parted_rank"] == str(rank)
    assert document.read(text.encode()).lines[found.parted].rank == rank


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(traceback(0, 40, "all_reduce") + traceback(1, 40, "all_reduce"), id="same place: a rank that is no part of the log"),
        pytest.param(traceback(0, 40, "all_reduce") + traceback(2, 44, "broadcast"), id="rank 1 says nothing: they may all wait for it"),
        pytest.param(traceback(0, 40, "all_reduce") + traceback(1, 44, "broadcast", CLOSED), id="a connection was closed: a rank is gone"),
        pytest.param(traceback(0, 40, "all_reduce") + "[rank1]: KeyError: 'labels'\n", id="one failed by itself"),
        pytest.param(traceback(0, 40, "all_reduce") + traceback(1, 44, "broadcast") + "  rank      : 2 (local_rank: 2)\n", id="one more was there"),
        pytest.param("".join(traceback(rank, 40 + rank, "all_reduce") for rank in range(3)), id="each elsewhere: no majority"),
    ],
)
def test_what_says_nothing(text: str) -> None:
    assert parting(document.read(text.encode()).lines) is None
