"""Ranks that wait for each other in different collectives: each prints only its own traceback, and no single line says that they differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from aifix.intake.tracebacks import is_user
from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

_FRAME = lazy_re(r"\s*File \"(?P<file>[^\"]{1,1000})\", line (?P<line>\d{1,7}), in (?P<function>\S.{0,200})$")
_WITHIN_TORCH = "torch/distributed/"
_ERROR = lazy_re(r"[A-Za-z_][\w.]*(?:Error|Exception): ")
_GLOO = lazy_re(r"(?:gloo[/\\]transport[/\\]|monitoredBarrier)")
_WAITED = "Timed out waiting"
_TABLE = lazy_re(r"\s*rank\s*: (\d+) \(local_rank: \d+\)$")
OPERATIONS = frozenset(
    (
        *("all_reduce", "all_gather", "all_gather_into_tensor", "all_gather_object", "broadcast", "broadcast_object_list", "barrier", "reduce"),
        *("reduce_scatter", "reduce_scatter_tensor", "all_to_all", "all_to_all_single", "gather", "gather_object", "scatter", "send", "recv"),
        *("monitored_barrier", "isend", "irecv", "scatter_object_list", "all_reduce_coalesced", "batch_isend_irecv"),
    )
)
"""The functions of torch.distributed that ranks call together."""


class _Call(NamedTuple):
    """The collective in which a rank's traceback ends."""

    operation: str
    file: str
    number: int
    error: int
    waited: bool

    @property
    def place(self) -> str:
        return f"{self.file}:{self.number}"


class Parting(NamedTuple):
    """Which rank is elsewhere: the index of its error line, those of the ranks that wait, and captures: who waits in what, and where."""

    parted: int
    waiting: tuple[int, ...]
    captures: dict[str, str]


def parting(lines: Sequence[Line]) -> Parting | None:
    """Find the rank whose traceback ends in another collective than those of the others, when they timed out on each other.

    Silent on anything that explains it otherwise: an error of another kind on any rank, a rank without a traceback (it may be the one that
    all wait for), connections that were closed.
    """
    if not any(_WAITED in line.text for line in lines) or not any("distributed_c10d.py" in line.text for line in lines):
        return None
    calls = _calls(lines)
    if calls is None or len(calls) < 2 or sorted(calls) != list(range(len(calls))) or not all(call.waited for call in calls.values()):
        return None
    listed = {int(match[1]) for line in lines if (match := _TABLE.match(line.text))}
    if not listed <= set(calls):
        return None
    odd = _odd(calls)
    if odd is None:
        return None
    others = [rank for rank in sorted(calls) if rank != odd]
    waiting, parted = calls[others[0]], calls[odd]
    captures = {
        "first_rank": str(others[0]),
        "op_type": waiting.operation,
        "waits_at": waiting.place,
        "other_rank": str(odd),
        "parted_rank": str(odd),
        "other_op_type": parted.operation,
        "parted_at": parted.place,
    }
    return Parting(parted.error, tuple(calls[rank].error for rank in others), captures)


def _calls(lines: Sequence[Line]) -> dict[int, _Call] | None:
    """Give the collective of each rank; None where a rank ends with an error that is none of gloo's."""
    user: dict[int, tuple[str, int]] = {}
    operation: dict[int, str] = {}
    calls: dict[int, _Call] = {}
    for index, line in enumerate(lines):
        rank = line.rank
        if rank is None:
            continue
        frame = _FRAME.match(line.text) if "File" in line.text[:40] else None
        if frame:
            file = frame["file"].replace("\\", "/")
            if _WITHIN_TORCH in file:
                if frame["function"] in OPERATIONS:
                    operation[rank] = frame["function"]
            elif is_user(file, frame["function"]):
                user[rank] = (file.rpartition("/")[2], int(frame["line"]))
                operation.pop(rank, None)
        elif _ERROR.match(line.text):
            if not _GLOO.search(line.text):
                return None
            if rank in user and rank in operation:
                file, number = user[rank]
                calls[rank] = _Call(operation[rank], file, number, index, _WAITED in line.text)
        elif rank in calls and _WAITED in line.text and index - calls[rank].error < 4:  # a barrier's message goes on
            calls[rank] = calls[rank]._replace(waited=True)
    return calls


def _odd(calls: dict[int, _Call]) -> int | None:
    """Give the one rank that is elsewhere; of two ranks the one that is further on in the same file: it left out what the other waits in."""
    places = Counter(call.place for call in calls.values())
    if len(places) != 2:
        return None
    if len(calls) == 2:
        first, second = calls[0], calls[1]
        if first.file != second.file:
            return None
        return 0 if first.number > second.number else 1
    rarest, count = places.most_common()[-1]
    return next(rank for rank, call in calls.items() if call.place == rarest) if count == 1 else None
