"""Which process groups there are, who belongs to them, and who left no dump."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from aifix.flight_recorder.dump import Call, Dump, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Group(msgspec.Struct, frozen=True):
    """A process group over all dumps.

    `members` are global ranks; `told` is False where no dump names them (gloo writes them without a name, or not at all) and they are
    those that were seen in it. `missing` are members without a dump; `shortened` ranks whose buffer lost the oldest calls or holds only
    unfinished ones.
    """

    name: str
    description: str
    members: tuple[int, ...]
    told: bool
    missing: tuple[int, ...]
    shortened: frozenset[int]
    status: dict[int, Status]
    newest: int
    """The last moment that any dump names, in nanoseconds."""

    @property
    def title(self) -> str:
        """The group's name for people."""
        return f"{self.name} ({self.description})" if self.description and self.description != self.name else self.name or "0"

    def enqueued(self, rank: int) -> int:
        """Give the last number that a rank's status has, -1 where it has none."""
        return self.status[rank].enqueued if rank in self.status else -1

    def had(self, rank: int, number: int, book: Mapping[int, Sequence[Call]]) -> bool:
        """Tell whether a rank had called what its dump does not list: older than its buffer, or finished in a list of unfinished calls."""
        if rank not in self.shortened:
            return False
        if book and number < min(book):
            return True
        return rank in self.status and number <= max(self.status[rank].completed, self.status[rank].enqueued)


def sort(dumps: Sequence[Dump]) -> list[tuple[Group, dict[int, list[Call]]]]:
    """Sort all calls into their groups: each with its dumped members' calls, empty for one that never called anything in it."""
    told = _told(dumps)
    calls: dict[tuple[str, tuple[int, ...]], dict[int, list[Call]]] = {}
    descriptions: dict[tuple[str, tuple[int, ...]], str] = {}
    unknown: dict[str, dict[int, list[Call]]] = defaultdict(lambda: defaultdict(list))
    for dump in dumps:
        for call in dump.calls:
            members = next((members for members in told.get(call.group, ()) if dump.rank in members), None)
            if members is None:
                unknown[call.group][dump.rank].append(call)
            else:
                calls.setdefault((call.group, members), {}).setdefault(dump.rank, []).append(call)
            descriptions.setdefault((call.group, members or ()), call.description)
    present = {dump.rank: dump for dump in dumps}
    newest = max((moment for dump in dumps for call in dump.calls for moment in (call.created, call.completed) if moment), default=0)
    found = []
    for (name, members), by_rank in calls.items():
        found.append(_group((name, descriptions[name, members]), members, by_rank, present, newest=newest, told=True))
    for name, by_rank in unknown.items():
        description = descriptions[name, ()]
        members = tuple(sorted({*present, *_unnamed(dumps)} if description == "default_pg" else by_rank))
        found.append(_group((name, description), members, dict(by_rank), present, newest=newest, told=False))
    return sorted(found, key=lambda pair: (len(pair[0].name), pair[0].name, pair[0].members))


def _told(dumps: Sequence[Dump]) -> dict[str, list[tuple[int, ...]]]:
    """Collect the groups' members by name; groups made by splitting share a name and not their members."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for dump in dumps:
        for group in dump.groups:
            members = tuple(sorted(set(group.ranks)))
            if members and group.name and members not in found.setdefault(group.name, []):
                found[group.name].append(members)
    return found


def _unnamed(dumps: Sequence[Dump]) -> tuple[int, ...]:
    """Give the members of the group without a name: gloo writes its first one so, until another one takes its place."""
    return next((group.ranks for dump in dumps for group in dump.groups if not group.name and dump.rank in group.ranks), ())


def _group(
    names: tuple[str, str],
    members: tuple[int, ...],
    by_rank: dict[int, list[Call]],
    present: Mapping[int, Dump],
    *,
    newest: int,
    told: bool,
) -> tuple[Group, dict[int, list[Call]]]:
    dumped = [rank for rank in members if rank in present]
    for rank in dumped:
        by_rank.setdefault(rank, [])
    status = {}
    for rank, calls in by_rank.items():
        # gloo counts its sends among the collectives and calls everything completed: its status proves nothing.
        number = calls[0].group_number if calls else None
        if number is not None and number in present[rank].status and calls[0].backend != "gloo":
            status[rank] = present[rank].status[number]
    return (
        Group(
            name=names[0],
            description=names[1],
            members=members,
            told=told,
            missing=tuple(rank for rank in members if rank not in present),
            shortened=frozenset(rank for rank in dumped if present[rank].wrapped or present[rank].partial),
            status=status,
            newest=newest,
        ),
        by_rank,
    )
