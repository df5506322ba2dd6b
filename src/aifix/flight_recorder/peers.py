"""Hold the sends of one rank against the receives of another."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from aifix.flight_recorder.compare import Finding, Side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.flight_recorder.dump import Call
    from aifix.flight_recorder.groups import Group


def compare_peers(group: Group, calls: Mapping[int, Sequence[Call]], lasts: Mapping[int, Call | None]) -> list[Finding]:
    """Find the first send without its receive (or the other way round), or of another size, of each pair of ranks.

    The n-th send from one rank to another meets the n-th receive there. Where a buffer lost its oldest calls the two lists are aligned
    at their ends by what is finished, which cannot be told for sure: there only unfinished calls count.
    """
    lanes: dict[tuple[int, int], tuple[list[Call], list[Call]]] = defaultdict(lambda: ([], []))
    for rank, found in calls.items():
        for call in found:
            pair = _globally(call, group)
            if pair is not None and rank in pair:
                lanes[pair][0 if call.operation == "send" else 1].append(call)
    findings = []
    for pair, (sends, receives) in sorted(lanes.items()):
        finding = _lane(group, pair, sends, receives, lasts)
        if finding is not None:
            findings.append(finding)
    return findings


def _globally(call: Call, group: Group) -> tuple[int, int] | None:
    if call.peers is None or max(call.peers) >= len(group.members):
        return None
    return group.members[call.peers[0]], group.members[call.peers[1]]


def _lane(group: Group, pair: tuple[int, int], sends: list[Call], receives: list[Call], lasts: Mapping[int, Call | None]) -> Finding | None:
    source, target = pair
    whole = not ({source, target} & group.shortened)
    if not whole:
        sends, receives = ([call for call in found if call.state != "completed"] for found in (sends, receives))
    for at in range(max(len(sends), len(receives))):
        send = sends[at] if at < len(sends) else None
        receive = receives[at] if at < len(receives) else None
        lead = send or receive
        if lead is None:
            break
        sides = (Side(source, send, lasts.get(source), len(sends)), Side(target, receive, lasts.get(target), len(receives)))
        if send is None or receive is None:
            silent = source if send is None else target
            if lead.state == "completed":
                continue
            kind = "no-dump" if silent in group.missing else "unmatched"
            return Finding(kind, group, lead.sequence, lead.operation, (silent,), sides, peers=pair)  # type: ignore[arg-type]
        if send.inputs != receive.outputs:
            return Finding("peer-size", group, send.sequence, "send", (), sides, peers=pair)
        types = set(send.input_types), set(receive.output_types)
        if all(types) and types[0] != types[1]:
            return Finding("dtype", group, send.sequence, "send", (), sides, peers=pair)
    return None
