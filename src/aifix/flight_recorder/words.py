"""What the dumps say, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.show.layout import name_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.flight_recorder.compare import Finding, Side
    from aifix.flight_recorder.dump import Call, Frame


def place(call: Call | None) -> str:
    """Name where a call stands: `train.py:12 in step, from train.py:40`."""
    if call is None or call.place is None:
        return ""
    return path([frame for frame in call.frames if frame.user] or [call.place])


def path(frames: Sequence[Frame]) -> str:
    """Name a stack by its innermost frame, and by the one that called it where that is another place."""
    inner = frames[0]
    text = f"{inner.file}:{inner.line}" + (f" in {inner.function}" if inner.function else "")
    return text + (f", from {frames[1].file.rpartition('/')[2]}:{frames[1].line}" if len(frames) > 1 else "")


def shape(call: Call) -> str:
    """Name the tensors of a call: `[1024] Float`, in and out where they differ."""
    taken, given = _tensors(call.inputs, call.input_types), _tensors(call.outputs, call.output_types)
    if taken == given or not given:
        return taken
    return f"{taken} to {given}" if taken else given


def _tensors(shapes: Sequence[Sequence[int]], types: Sequence[str]) -> str:
    shown = " ".join(str(list(one)) for one in shapes[:3]) + (f" and {len(shapes) - 3} more" if len(shapes) > 3 else "")
    kinds = ", ".join(dict.fromkeys(types))
    return f"{shown} {kinds}".strip()


def call_words(call: Call) -> str:
    """Name a call: `all_reduce 417 of group 0 (default_pg), [1024] Float`."""
    tensors = shape(call)
    return f"{call.operation} {call.sequence}" + (f" of {tensors}" if tensors else "")


def state_words(call: Call) -> str:
    """Say how far a call had come."""
    if not call.known:
        return "entered (gloo does not record the end)"
    return {"scheduled": "waiting to start", "started": "running, not finished", "completed": "finished"}.get(call.state, call.state)


def side_words(side: Side) -> str:
    """Say what one rank did."""
    if side.call is not None:
        return f"{call_words(side.call)}, {state_words(side.call)}"
    last = side.last
    if last is None:
        return "recorded nothing"
    if last.peer_to_peer:
        return f"never came; last: {call_words(last)}, {state_words(last)}"
    return f"never came; last: {call_words(last)} of group {last.group}, {state_words(last)}"


def title(finding: Finding) -> str:
    """Say in one line what is wrong."""
    what = f"{finding.operation} number {finding.sequence} of group {finding.group.title}"
    who = _capital(name_ranks(finding.culprits))
    if finding.kind == "not-joined":
        return f"{who} never came to {what}"
    if finding.kind == "type":
        return (
            f"{who or 'The ranks'} {'call' if len(finding.culprits) != 1 else 'calls'} something else than {what}"
            if finding.culprits
            else (f"The ranks call different operations as number {finding.sequence} of group {finding.group.title}")
        )
    if finding.kind in {"size", "dtype"}:
        noun = "sizes" if finding.kind == "size" else "types"
        return (
            f"{who} {'brings' if len(finding.culprits) == 1 else 'bring'} other {noun} to {what}"
            if finding.culprits
            else f"The ranks bring different {noun} to {what}"
        )
    if finding.kind == "peer-size":
        return f"Send and receive number {finding.sequence} differ in size, from rank {_pair(finding)[0]} to rank {_pair(finding)[1]}"
    if finding.kind == "unmatched":
        source, target = _pair(finding)
        if finding.operation == "send":
            return f"Rank {source} sends to rank {target}, which does not receive"
        return f"Rank {target} waits for a message that rank {source} never sends"
    if finding.kind == "state":
        return f"{who} did not finish {what}, others did"
    if finding.kind == "no-dump":
        return (
            f"{who} left no dump, and {what} was not seen to finish"
            if finding.sides and _unknown(finding)
            else f"{who} left no dump, and the others wait in {what}"
        )
    return f"All ranks wait in {what}" if finding.failed else f"All ranks were in {what} when the dumps were written"


def explanation(finding: Finding) -> str:
    """Say what it means, and what each side did."""
    parts = [_meaning(finding)]
    parts += [parting(finding), lateness(finding)]
    return " ".join(part for part in parts if part)


def _meaning(finding: Finding) -> str:
    there = [side.rank for side in finding.sides if side.call is not None]
    if finding.kind == "not-joined":
        elsewhere = [side for side in finding.sides if side.call is None and side.last is not None and _waits(side.last, finding)]
        if elsewhere:
            side = elsewhere[0]
            last = side.last
            where = f"{call_words(last)} of group {last.group}" if last is not None else ""
            return f"{_capital(name_ranks(there))} stood in it while rank {side.rank} waited in {where}."
        behind = {side.reached for side in finding.sides if side.call is None}
        after = f" after number {min(behind)}" if len(behind) == 1 and min(behind) >= 0 else ""
        who = _capital(name_ranks(finding.culprits))
        return f"{_capital(name_ranks(there))} stood in it. {who} called nothing more in this group{after}: slow, hung, ended, or on another path."
    if finding.kind == "no-dump":
        return "A rank without a dump crashed, was killed before it could write, wrote to another node's disk, or hung so that it could not."
    if finding.kind == "stuck":
        return "Every rank entered the same call with the same sizes and none finished it: the links or the GPUs stopped, not the program's logic."
    if finding.kind == "state":
        return "All entered the same call. A rank that did not finish waits for its GPU or for its links, or died inside it."
    if finding.kind == "size":
        return "A collective of different sizes hangs, crashes or silently mixes up data."
    if finding.kind == "dtype":
        return "Bytes of one type are read as another: a hang, a crash or wrong numbers."
    return ""


def _waits(last: Call, finding: Finding) -> bool:
    return last.known and last.state != "completed" and (last.group, last.sequence) != (finding.group.name, finding.sequence)


def parting(finding: Finding) -> str:
    """Say since when the ranks come from different lines of the program."""
    parted = finding.parting
    if parted is None:
        return ""
    told = "; ".join(f"{name_ranks(one.ranks)} from {path(one.frames)}" for one in parted.paths[:4])
    since = "" if parted.sequence == finding.sequence else f" since number {parted.sequence}"
    return f"They come from different lines{since} ({told}): one path has a call more, or less, than the other."


def lateness(finding: Finding) -> str:
    """Say who came late, by the ranks' own clocks."""
    arrived = {side.rank: side.call.created for side in finding.sides if side.call is not None and side.call.created is not None}
    if len(arrived) < 2:
        return ""
    first, last = min(arrived, key=lambda rank: arrived[rank]), max(arrived, key=lambda rank: arrived[rank])
    seconds = (arrived[last] - arrived[first]) / 1e9
    return f"Rank {last} came {seconds:.1f} s after rank {first} (by their own clocks)." if seconds >= LATE else ""


LATE = 2.0
"""Seconds above which a late arrival is told: clocks of nodes with NTP are seldom further apart."""


def _pair(finding: Finding) -> tuple[int, int]:
    return finding.peers or (-1, -1)


def _unknown(finding: Finding) -> bool:
    return any(side.call is not None and not side.call.known for side in finding.sides)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
