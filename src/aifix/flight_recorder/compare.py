"""Hold the ranks' collectives of one group against each other: the first one in which they disagree, and who is to blame."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from aifix.flight_recorder.dump import Call, Frame
from aifix.flight_recorder.groups import Group

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence


Kind = Literal["not-joined", "type", "size", "dtype", "state", "stuck", "no-dump", "unmatched", "peer-size"]
UNEVEN = frozenset({"all_gather_v", "reduce_scatter_v"})
"""Collectives whose sizes may differ from rank to rank."""
GATHERS = frozenset({"all_gather", "_all_gather_base", "all_gather_into_tensor_coalesced", "all_gather_single", "ALLGATHER_coalesced"})
SCATTERS = frozenset({"reduce_scatter", "_reduce_scatter_base", "reduce_scatter_tensor_coalesced", "reduce_scatter_single"})


class Side(msgspec.Struct, frozen=True):
    """What one rank did in the disputed operation: its call, or None when it never came, and the last call that it recorded at all."""

    rank: int
    call: Call | None
    last: Call | None
    reached: int
    """The last number that it reached in this group."""


class Path(msgspec.Struct, frozen=True):
    """Ranks that came to a call from the same lines of the program, the innermost first."""

    ranks: tuple[int, ...]
    frames: tuple[Frame, ...]


class Parting(msgspec.Struct, frozen=True):
    """The call since which the ranks come from different lines, up to the disputed one: before it, one path had a call more or less."""

    sequence: int
    paths: tuple[Path, ...]


class Finding(msgspec.Struct, frozen=True):
    """A disagreement, or an operation that nobody finished."""

    kind: Kind
    group: Group
    sequence: int
    operation: str
    culprits: tuple[int, ...]
    sides: tuple[Side, ...]
    failed: bool = True
    peers: tuple[int, int] | None = None
    """Sender and receiver, as global ranks, of a point-to-point operation."""
    caused_by: int | None = None
    """Index of the finding that this one follows from."""
    parting: Parting | None = None
    title: str = ""
    explanation: str = ""

    @property
    def created(self) -> int:
        """When the first rank came to the operation."""
        return min((side.call.created for side in self.sides if side.call is not None and side.call.created is not None), default=0)


Book = dict[int, list[Call]]
"""A rank's collectives by number; a coalesced one has several."""


def book_of(calls: Sequence[Call]) -> Book:
    """File a rank's collectives of one group under their numbers."""
    book: Book = {}
    for call in sorted((call for call in calls if not call.peer_to_peer), key=lambda call: (call.sequence, call.step, call.record)):
        book.setdefault(call.sequence, []).append(call)
    return book


def compare(group: Group, calls: Mapping[int, Sequence[Call]], lasts: Mapping[int, Call | None]) -> Finding | None:
    """Find the first collective of a group in which its ranks disagree, or that they did not finish.

    Args:
        group: the group.
        calls: each dumped rank's calls in it.
        lasts: each dumped rank's last call in any group.

    """
    books = {rank: book_of(found) for rank, found in calls.items()}
    numbers = sorted({number for book in books.values() for number in book})
    if not numbers:
        return None
    first = max((min(book) for rank, book in books.items() if book and rank in group.shortened), default=numbers[0])

    def sides(number: int) -> tuple[Side, ...]:
        return tuple(
            Side(rank, book[number][0] if number in book else None, lasts.get(rank), max(book, default=group.enqueued(rank)))
            for rank, book in sorted(books.items())
        )

    for number in numbers:
        if number < first:
            continue
        present = {rank: book[number] for rank, book in books.items() if number in book}
        differing = _differing(present, group)
        operation = _majority({rank: found[0].operation for rank, found in present.items()})[0]
        if differing is not None:
            kind, culprits = differing
            return Finding(kind, group, number, str(operation), culprits, sides(number), parting=_parting(books, number, first))
        absent = tuple(rank for rank in sorted(books) if rank not in present and not group.had(rank, number, books[rank]))
        if absent:
            return Finding("not-joined", group, number, str(operation), absent, sides(number), parting=_parting(books, number - 1, first))
    return _unfinished(group, books, numbers, first, sides)


def _parting(books: Mapping[int, Book], last: int, first: int) -> Parting | None:
    """Walk back from a call while the ranks come to it from different lines."""
    found = None
    for number in range(last, first - 1, -1):
        paths: dict[tuple[Frame, ...], list[int]] = {}
        for rank, book in books.items():
            frames = tuple(frame for frame in book[number][0].frames if frame.user) if number in book else ()
            if frames:
                paths.setdefault(frames, []).append(rank)
        if len(paths) < 2:
            break
        found = Parting(number, tuple(Path(tuple(sorted(ranks)), frames) for frames, ranks in list(paths.items())[:PATHS]))
    return found


PATHS = 8
"""Different ways to one call that are told."""


def _differing(present: Mapping[int, Sequence[Call]], group: Group) -> tuple[Kind, tuple[int, ...]] | None:
    """Tell in what the ranks that are there differ, and which of them are fewer."""
    # Inside a coalesced collective the operations are compared one by one; its end mark has no sizes.
    steps = {rank: [call for call in found if call.operation != "coalesced"] or list(found) for rank, found in present.items()}
    kinds = {rank: tuple(call.operation for call in found) for rank, found in steps.items()}
    if len(set(kinds.values())) > 1:
        return "type", _majority(kinds)[1]
    for at in range(len(next(iter(steps.values()), []))):
        row = {rank: found[at] for rank, found in steps.items()}
        sizes = {rank: _sizes(call) for rank, call in row.items()}
        if len(set(sizes.values())) > 1:
            return "size", _majority(sizes)[1]
        wrong = tuple(rank for rank, call in row.items() if not _sizes_fit(call, len(group.members)))
        if wrong:
            return "size", wrong if len(wrong) < len(row) else ()
        if not group.missing and len(row) == len(group.members) and not _exchange_fits(list(row.values())):
            return "size", ()
        types = {rank: kinds_of for rank, call in row.items() if (kinds_of := _types(call))}
        if len(set(types.values())) > 1:
            return "dtype", _majority(types)[1]
        mixed = tuple(rank for rank, call in row.items() if _mixes_types(call))
        if mixed:
            return "dtype", mixed if len(mixed) < len(row) else ()
    return None


def _sizes(call: Call) -> Hashable:
    """Give the sizes in which all ranks must agree: the root of a scatter or gather alone has those of the other side."""
    if call.operation in UNEVEN or call.operation.startswith("all_to_all") or call.operation.startswith("alltoall"):
        return ()
    if call.operation == "scatter":
        return (call.outputs,)
    if call.operation == "gather":
        return (call.inputs,)
    return (call.inputs, call.outputs)


def _sizes_fit(call: Call, size: int) -> bool:
    """Tell whether a call's own sizes fit each other."""
    if not call.inputs or not call.outputs:
        return True
    taken, given = math.prod(call.inputs[0]), math.prod(call.outputs[0])
    if call.operation in {"all_reduce", "allreduce_coalesced"}:
        return call.inputs == call.outputs
    if call.operation in GATHERS and len(call.outputs) == 1:
        return given == taken * size
    if call.operation in SCATTERS and len(call.inputs) == 1:
        return taken == given * size
    return True


def _exchange_fits(calls: Sequence[Call]) -> bool:
    """Tell whether an all-to-all gives out as much as it takes in, over all ranks."""
    if not calls[0].operation.startswith("all_to_all") or any(not call.inputs or not call.outputs for call in calls):
        return True
    return sum(math.prod(call.inputs[0]) for call in calls) == sum(math.prod(call.outputs[0]) for call in calls)


def _types(call: Call) -> frozenset[str]:
    if call.operation in {"scatter", "broadcast"}:
        return frozenset(call.output_types if any(call.outputs) else ())
    return frozenset(call.input_types if any(call.inputs) else ())


def _mixes_types(call: Call) -> bool:
    if call.operation in {"scatter", "gather", "broadcast"} or not any(call.inputs) or not any(call.outputs):
        return False
    return bool(call.input_types and call.output_types) and set(call.input_types) != set(call.output_types)


def _majority(values: Mapping[int, Hashable]) -> tuple[Hashable, tuple[int, ...]]:
    """Give the value that most ranks have, and the ranks that have another; none of them when no value has more than the next."""
    counted = Counter(values.values()).most_common(2)
    if not counted:
        return "", ()
    if len(counted) > 1 and counted[0][1] == counted[1][1]:
        return values[min(values)], ()
    return counted[0][0], tuple(sorted(rank for rank, value in values.items() if value != counted[0][0]))


def _unfinished(
    group: Group, books: Mapping[int, Book], numbers: Sequence[int], first: int, sides: Callable[[int], tuple[Side, ...]]
) -> Finding | None:
    """Find the first collective that all entered and not all finished."""
    for number in numbers:
        calls = {rank: book[number][-1] for rank, book in books.items() if number in book}
        if number < first or not all(call.known for call in calls.values()):
            continue
        open_ranks = tuple(sorted(rank for rank, call in calls.items() if call.state != "completed"))
        if not open_ranks:
            continue
        operation = next(iter(calls.values())).operation
        if group.missing:
            return Finding("no-dump", group, number, operation, group.missing, sides(number))
        states = {rank: call.state for rank, call in calls.items()}
        if len(set(states.values())) > 1:
            return Finding(
                "state", group, number, operation, _majority(states)[1] if "completed" not in states.values() else open_ranks, sides(number)
            )
        gave_up = any(call.retired or _overdue(call, group.newest) for call in calls.values())
        return Finding("stuck", group, number, operation, (), sides(number), failed=gave_up)
    last = numbers[-1]
    unknown = not all(call.known for book in books.values() for calls in book.values() for call in calls)
    if group.missing and unknown:
        operation = next(book[last][0].operation for book in books.values() if last in book)
        return Finding("no-dump", group, last, operation, group.missing, sides(last))
    return None


def _overdue(call: Call, now: int) -> bool:
    return call.created is not None and call.timeout is not None and now - call.created > call.timeout * 1_000_000
