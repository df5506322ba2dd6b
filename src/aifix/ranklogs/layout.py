"""Whose log a file is, by where it lies and what it is called: torchrun's folders, Slurm's, Kubernetes', and anything numbered by rank."""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from aifix.lazy import lazy_re
from aifix.ranklogs.nouns import Named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aifix.ranklogs.nouns import Stream

_TORCHRUN = lazy_re(r"(?:^|/)(?P<run>[^/]+)/attempt_(?P<attempt>\d+)/(?P<local>\d+)/(?P<what>stdout\.log|stderr\.log|error\.json)$")
_RANK = lazy_re(r"(?i)(?:^|[^a-z])(?:global[_-]?)?(?:rank|task|procid|proc|trainer)[_.=-]?(?P<rank>\d{1,5})(?![\da-z])")
_LOCAL = lazy_re(r"(?i)(?:^|[^a-z])local[_-]?rank[_.=-]?(?P<local>\d{1,3})(?!\d)")
_NODE = lazy_re(r"(?i)(?:^|[^a-z])(?P<node>(?:node|host|nid|gpu|worker-node|ip)[_-]?\w*\d[\w-]*?)(?=[/_.]|$)")
_POD = lazy_re(r"(?:^|/|_)(?P<job>[a-z0-9][a-z0-9.-]*?)-(?P<replica>master|chief|launcher|worker|ps|evaluator)-(?P<index>\d+)(?=[._/-]|$)")
_JOBSET = lazy_re(r"(?:^|/)(?P<job>[a-z0-9][a-z0-9.-]*?)-(?P<number>\d+)-(?P<index>\d+)-(?P<suffix>[bcdfghjklmnpqrstvwxz2456789]{5})(?=[._/]|$)")
_STREAM = lazy_re(r"(?i)(?:^|[^a-z])(std)?(?P<what>out|err)(?:or)?(?:\.(?:log|txt))?$|\.(?P<short>[oe])\d+$")
_RAY = lazy_re(r"(?:^|/)worker-[0-9a-f]{20,}-[0-9a-f]{8}-(?P<pid>\d+)\.(?:out|err)$")
_DIGITS = lazy_re(r"\d+")
_SKIPPED = (
    *(".gz", ".xz", ".bz2", ".zst", ".zip", ".tar"),
    *(".pt", ".pth", ".bin", ".safetensors", ".ckpt", ".npy", ".npz", ".pkl", ".pickle", ".db", ".sqlite"),
    *(".png", ".svg", ".html", ".py", ".pyc", ".sh", ".yaml", ".yml", ".toml", ".cfg", ".so"),
)
_PACKED = (".gz", ".xz", ".bz2", ".zst", ".zstd")
_LOGS = (".log", ".out", ".err", ".txt")
"""What stands before it in the name of a compressed log; a compressed file of another name is mostly data."""
_EVENTS = "tfevents"
MOST = 200_000
"""Files beyond which a folder is taken for a mistake."""


def files_of(paths: Iterable[str]) -> list[str]:
    """List the log files under some folders and files, in order.

    Raises:
        OSError: one of them does not exist, or cannot be read.
        ValueError: too many files.

    """
    found: list[str] = []
    for path in paths:
        if not os.path.isdir(path):  # a plain name is enough here
            os.stat(path)
            found.append(path)
            continue
        os.listdir(path)  # `os.walk` is silent about a folder that cannot be read
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [os.path.join(folder, name) for name in sorted(names) if _is_log(name)]
            if len(found) > MOST:
                message = f"more than {MOST:,} files in {path}: name the job's own folder"
                raise ValueError(message)
    return [path for path in dict.fromkeys(found) if os.path.isfile(path)]


def _plain(name: str) -> str:
    """Give the name that a compressed log had; other names, in lower case, as they are."""
    low = name.lower()
    stem = next((low.removesuffix(ending) for ending in _PACKED if low.endswith(ending)), low)
    return stem if stem.endswith(_LOGS) else low


def _is_log(name: str) -> bool:
    low = _plain(name)
    if low.endswith(".json"):
        return low == "error.json"
    return not (name.startswith(".") or low.endswith(_SKIPPED) or _EVENTS in low)


def name_files(paths: Sequence[str]) -> list[Named]:
    """Say whose log each file is; of what tells nothing by itself the set of names decides (`job_0.out` to `job_7.out`)."""
    slashed = [path[: len(_plain(path))].replace(os.sep, "/") for path in paths]
    named = [_name(path, text) for path, text in zip(paths, slashed, strict=True)]
    named = _pods_to_ranks(named, slashed)
    return _counted(_torchrun_to_ranks(named))


def _name(path: str, text: str) -> Named:
    base = text.rpartition("/")[2]
    stream = _STREAM.search(base)
    what = stream and (stream["what"] or stream["short"] or "").lower()[:1]
    kind: Stream = "stderr" if what == "e" else "stdout" if what == "o" and "std" in base.lower() else "both"
    tail = "/".join(text.split("/")[-3:])
    node = _NODE.search(tail)
    host = node["node"] if node else ""
    torchrun = _TORCHRUN.search(text)
    if torchrun:
        what = torchrun["what"]
        return Named(
            path,
            local=int(torchrun["local"]),
            attempt=int(torchrun["attempt"]),
            stream="record" if what == "error.json" else "stderr" if what == "stderr.log" else "stdout",
            group=text[: torchrun.end("run")],
            node=host,
            layout="torchrun",
        )
    local = _LOCAL.search(tail)
    rank = next((match for match in reversed(list(_RANK.finditer(tail))) if not (local and local.start() <= match.start() < local.end())), None)
    if rank:
        return Named(path, rank=int(rank["rank"]), stream=kind, node=host)
    if local:
        return Named(path, local=int(local["local"]), stream=kind, node=host, group=host)
    pod = _POD.search(tail)
    if pod:
        return Named(path, stream=kind, node=f"{pod['job']}-{pod['replica']}-{pod['index']}", layout="kubernetes")
    jobset = _JOBSET.search(tail)
    if jobset:
        return Named(path, stream=kind, node=f"{jobset['job']}-{jobset['number']}-{jobset['index']}", layout="kubernetes")
    ray = _RAY.search(text)
    if ray:
        return Named(path, stream=kind, group=f"ray {ray['pid']}", layout="ray")
    return Named(path, stream=kind, node=host)


def _pods_to_ranks(named: list[Named], texts: Sequence[str]) -> list[Named]:
    """Number pods as their operators do: a PyTorchJob's master is rank 0 and worker i rank i + 1; a JobSet counts jobs, then pods.

    The number is the rank where each pod holds one; a pod of several ranks names them inside, and this is then merely its node's.
    """
    pods: dict[str, tuple[int, int, int]] = {}
    for one, text in zip(named, texts, strict=True):
        if one.layout != "kubernetes":
            continue
        tail = "/".join(text.split("/")[-3:])
        pod, jobset = _POD.search(tail), _JOBSET.search(tail)
        if pod:
            pods[one.node] = (pod["replica"] not in {"master", "chief"}, int(pod["index"]), 0)
        elif jobset:
            pods[one.node] = (1, int(jobset["number"]), int(jobset["index"]))
    if not pods:
        return named
    launchers = {node for node in pods if "-launcher-" in node or "-evaluator-" in node}
    place = pod_ranks([node for node in pods if node not in launchers], pods)
    return [msgspec.structs.replace(one, rank=place.get(one.node)) if one.layout == "kubernetes" else one for one in named]


def pod_ranks(nodes: Sequence[str], keys: dict[str, tuple[int, int, int]]) -> dict[str, int]:
    """Give each pod its rank by its key; gaps in the counting stay gaps."""
    masters = any(keys[node][0] == 0 for node in nodes)
    per_job = 1 + max((keys[node][2] for node in nodes), default=0)
    found = {}
    for node in nodes:
        worker, index, inner = keys[node]
        found[node] = index * per_job + inner + (1 if masters and worker else 0)
    return found


def key_of_pod(name: str) -> tuple[str, tuple[int, int, int]] | None:
    """Read a pod's name; None where it carries no number."""
    pod, jobset = _POD.search(name), _JOBSET.search(name + ".")
    if pod:
        return f"{pod['job']}-{pod['replica']}-{pod['index']}", (pod["replica"] not in {"master", "chief"}, int(pod["index"]), 0)
    if jobset:
        return f"{jobset['job']}-{jobset['number']}-{jobset['index']}", (1, int(jobset["number"]), int(jobset["index"]))
    return None


def _torchrun_to_ranks(named: list[Named]) -> list[Named]:
    """Of torchrun's folders take the last run (its nodes share the part of the name before the random ending), and count ranks over nodes."""
    runs = {one.group for one in named if one.layout == "torchrun"}
    if not runs:
        return named
    jobs: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        jobs[run.rpartition("/")[2].rpartition("_")[0]].append(run)
    latest = max(jobs.values(), key=lambda nodes: max(_changed(node) for node in nodes))
    nodes = sorted(latest)
    locals_of = {run: {one.local or 0 for one in named if one.group == run} for run in nodes}
    offsets: dict[str, int] = {}
    at = 0
    for run in nodes:
        offsets[run] = at
        at += 1 + max(locals_of[run], default=-1)
    kept = []
    for one in named:
        if one.layout != "torchrun":
            kept.append(one)
        elif one.group in offsets:
            node = one.node or (f"node {nodes.index(one.group)}" if len(nodes) > 1 else "")
            rank = one.local if len(nodes) == 1 else None  # which node came first is for the logs to say
            kept.append(msgspec.structs.replace(one, rank=rank, node=node))
    return kept


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _counted(named: list[Named]) -> list[Named]:
    """Where names differ in numbers alone, the number that counts from 0 (or 1) without gaps is the rank."""
    open_ones = [one for one in named if one.rank is None and one.local is None and one.layout == "files"]
    families: dict[str, list[tuple[Named, list[int]]]] = defaultdict(list)
    for one in open_ones:
        base = os.path.basename(one.path)
        shape = _STREAM.sub("", base)
        if one.node:
            shape = shape.replace(one.node, "@")  # the node's own number counts something else
        families[_DIGITS.sub("#", shape)].append((one, [int(number) for number in _DIGITS.findall(shape)]))
    ranks: dict[str, int] = {}
    for family in families.values():
        column = _counting([numbers for _, numbers in family])
        if column is not None:
            ranks |= {one.path: numbers[column] for one, numbers in family}
    return [msgspec.structs.replace(one, rank=ranks[one.path]) if one.path in ranks else one for one in named]


def _counting(rows: list[list[int]]) -> int | None:
    """Find the column that counts: distinct (but for stdout and stderr), from 0 or 1 nearly without gaps, or without any; the last such one."""
    if len(rows) < 2:
        return None
    for column in range(len(rows[0]) - 1, -1, -1):
        values = {row[column] for row in rows}
        others = {tuple(row[:column] + row[column + 1 :]) for row in rows}
        from_start = min(values) <= 1 and max(values) < 2 * len(values) + 2
        in_a_row = max(values) - min(values) + 1 == len(values) > 2  # some of the ranks
        if len(others) == 1 and len(values) > 1 and (from_start or in_a_row):
            return column
    return None
