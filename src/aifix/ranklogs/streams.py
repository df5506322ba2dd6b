"""Which line of a file with many ranks is whose: by the prefixes that launchers, pods, actors and hosts put in front."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from aifix.lazy import lazy_re
from aifix.ranklogs.layout import key_of_pod, pod_ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line

_POD = lazy_re(r"\[pod/([^\]/\s]+)(?:/[^\]\s]+)?\]")
_ACTOR = lazy_re(r"\((?P<actor>[^()\s]{1,100}(?:\([^()]{0,80}\))?)?(?: rank=(?P<rank>\d+))? ?pid=(?P<pid>\d+)(?:, ip=(?P<ip>[^)\s]{1,60}))?\)")
_REPLICA = lazy_re(r"((?:[A-Za-z][\w.]*-)+\d+) *\|")
_HOST = lazy_re(r"(?:^|\] )(?=[\w.\-]*[\d\-])([A-Za-z][\w.\-]{1,80}): ")
_GLOBAL = lazy_re(r"\[rank(\d+)\]:|\[\d+,(?:mpirank:)?(\d+)")
_LOCAL = lazy_re(r"\[[a-z_]{2,20}(\d+)\]:")
_DECLARED = lazy_re(
    r"GLOBAL_RANK: (\d+), MEMBER|\brank (\d+) nranks \d+|(?:^|[\s\[])[Gg]lobal[ _]?[Rr]ank[ :=]+(\d+)\b"
    r"|\bRANK[=:] ?(\d+)\b|^\[?[Rr]ank[ :=]*(\d+)\b"
)
_ASSIGNED = lazy_re(r"\bpid=(\d+)\) world_rank=(\d+)")
_PROCESS = lazy_re(r"\bpid=(\d+)")
_WORLD = lazy_re(
    r"MEMBER: \d+/(\d+)|\bnranks (\d+)|(?i:world[ _]?size)\"?[ :=]+(\d{1,6})\b|\(rank=\d+, size=(\d+)"
    r"|[Rr]ank \d+ ?(?:/|of) ?(\d+)\b|num_processes[ :=]+(\d+)"
)
_NCCL = lazy_re(r"^([\w.\-]+):\d+:\d+ \[\d+\] NCCL ")


class Owner(NamedTuple):
    """Whose a line is: a source's name (pod, actor, host), the rank that the line names, its rank on its node."""

    source: str = ""
    rank: int | None = None
    local: int | None = None


NOBODY = Owner()


def owner(line: Line) -> Owner:
    """Read whose a line is off its prefix."""
    prefix = line.prefix
    if not prefix:
        return NOBODY if line.rank is None else Owner(rank=line.rank)
    source = ""
    rank = line.rank
    local = None
    if "[pod/" in prefix and (match := _POD.search(prefix)):
        source = match[1]
    elif "pid=" in prefix and (match := _ACTOR.search(prefix)):
        source = f"{match['actor'] or 'worker'} pid={match['pid']}" + (f", ip={match['ip']}" if match["ip"] else "")
        rank = int(match["rank"]) if match["rank"] else rank
    elif ("|" in prefix and (match := _REPLICA.search(prefix))) or (": " in prefix and (match := _HOST.search(prefix))):
        source = match[1]
    named = "[rank" in prefix or "[1," in prefix
    match = _LOCAL.search(prefix) if "]:" in prefix else None
    if match is not None and not _GLOBAL.match(match[0]):
        local = int(match[1])
        rank = rank if named else None  # what was taken for the rank is its number on its node
    return Owner(source, rank, local)


def split(lines: Sequence[Line]) -> dict[Owner, list[Line]]:
    """Part the lines of a file by their owners; a local rank is renamed by the lines of the same source that carry both numbers.

    What nobody owns (the launcher's own words) stays under `NOBODY`.
    """
    owners = [owner(line) for line in lines]
    globals_of: dict[tuple[str, int], set[int]] = defaultdict(set)
    ranks_of: dict[str, set[int]] = defaultdict(set)
    unnamed: dict[str, list[Line]] = defaultdict(list)
    for line, one in zip(lines, owners, strict=True):
        if one.local is not None and one.rank is not None:
            globals_of[one.source, one.local].add(one.rank)
        if one.rank is not None:
            ranks_of[one.source].add(one.rank)
        elif one.source and one.local is None:
            unnamed[one.source].append(line)
    known = _ranks_of_sources(lines, ranks_of, unnamed)
    parts: dict[Owner, list[Line]] = defaultdict(list)
    for line, one in zip(lines, owners, strict=True):
        parts[_resolved(one, globals_of, known)].append(line)
    return dict(parts)


def _ranks_of_sources(lines: Sequence[Line], ranks_of: dict[str, set[int]], unnamed: dict[str, list[Line]]) -> dict[str, int]:
    """Say which rank each pod, actor or host is that holds one: as its lines name it, as it or its driver says, or by its number."""
    known = {source: next(iter(ranks)) for source, ranks in ranks_of.items() if source and len(ranks) == 1}
    assigned = {match[1]: int(match[2]) for line in lines if "world_rank=" in line.text and (match := _ASSIGNED.search(line.text))}
    for source, said in unnamed.items():
        if source in ranks_of:
            continue
        process = _PROCESS.search(source)
        rank = assigned.get(process[1]) if process else None
        if rank is None:
            rank = declared(said)[0]
        if rank is not None:
            known[source] = rank
    sources = {source for source in (*unnamed, *ranks_of) if source}
    numbered = _numbered(sources)
    if all(numbered.get(source, rank) == rank for source, rank in known.items()):  # the operator's counting, where it is this job's
        known = numbered | known
    return known


def _resolved(one: Owner, globals_of: dict[tuple[str, int], set[int]], known: dict[str, int]) -> Owner:
    if one.rank is not None:
        return Owner(one.source, one.rank)
    if one.local is not None:
        named = globals_of.get((one.source, one.local), set())
        return Owner(one.source, next(iter(named)) if len(named) == 1 else one.local)
    return Owner(one.source, known.get(one.source)) if one.source else NOBODY


def _numbered(sources: set[str]) -> dict[str, int]:
    """Number pods that name no rank as their operators do; other sources that end in numbers by these."""
    keys: dict[str, tuple[int, int, int]] = {}
    for source in sources:
        key = key_of_pod(source)
        if key is not None:
            keys[source] = key[1]
    found = pod_ranks(list(keys), keys)
    if found:
        return found
    tails = {source: int(tail) for source in sources if (tail := source.rpartition("-")[2]).isdecimal()}
    if len(tails) == len(sources) > 1 and len(set(tails.values())) == len(tails):
        lowest = min(tails.values())
        return {source: number - lowest for source, number in tails.items()}  # docker compose counts from 1
    return {}


def declared(lines: Sequence[Line]) -> tuple[int | None, int | None, str]:
    """Read from a rank's own lines which rank it is, of how many, and on which node."""
    ranks: dict[int, int] = defaultdict(int)
    world: int | None = None
    node = ""
    for line in lines:
        text = line.text
        if line.rank is not None and ("[rank" in line.prefix or "[rank" in text[:8]):
            ranks[line.rank] += 1
        if "ank" not in text and "RANK" not in text and "orld" not in text and "NCCL" not in text and "num_proc" not in text:
            continue
        match = _DECLARED.search(text[:400])
        if match:
            ranks[int(next(group for group in match.groups() if group))] += 1
        size = _WORLD.search(text[:600])
        if size:
            world = max(world or 0, int(next(group for group in size.groups() if group)))
        host = _NCCL.match(text) if not node else None
        if host:
            node = host[1]
    rank = max(ranks, key=lambda number: ranks[number]) if ranks else None
    return rank, world, node
