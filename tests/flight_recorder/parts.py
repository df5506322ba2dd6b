"""Flight-recorder dumps in torch's own layout, made by hand where no GPU is: what NCCL records and gloo does not.

gloo never moves a call's state, records no send or receive, and leaves its groups without names. So the cases with states, point-to-point calls,
coalesced ones and wrapped buffers are written here, field by field as `c10d/FlightRecorderDetail.hpp` of torch 2.13 does, and torch's analyzer reads the same files.
"""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

START = 1_790_000_000_000_000_000
SECOND = 1_000_000_000
LIBRARY = "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"


def call(
    name: str,
    sequence: int,
    *,
    shape: Sequence[int] = (4,),
    out: Sequence[int] | None = None,
    dtype: str = "Float",
    state: str = "completed",
    group: tuple[str, str] = ("0", "default_pg"),
    line: int = 10,
    at: float = 0.0,
    retired: bool | None = None,
    backend: str = "nccl",
    point_to_point: int | None = None,
) -> dict[str, Any]:
    """Write one entry; `at` is seconds after the start."""
    created = START + int((sequence + at) * SECOND)
    return {
        "frames": [
            {"name": name, "filename": LIBRARY, "line": 2800},
            {"name": "step", "filename": "/home/user/train.py", "line": line},
            {"name": "<module>", "filename": "/home/user/train.py", "line": 90},
        ],
        "record_id": 0,
        "pg_id": 0 if group[0] == "0" else int(group[0]),
        "process_group": group,
        "thread_name": "python",
        "thread_id": "1",
        "collective_seq_id": sequence if point_to_point is None else 0,
        "p2p_seq_id": point_to_point or 0,
        "op_id": sequence,
        "profiling_name": f"{backend}:{name}",
        "time_created_ns": created,
        "input_sizes": [list(shape)],
        "input_dtypes": [dtype],
        "output_sizes": [list(out if out is not None else shape)],
        "output_dtypes": [dtype],
        "state": state,
        "time_discovered_started_ns": created + 1000 if state != "scheduled" else None,
        "time_discovered_completed_ns": created + 2000 if state == "completed" else None,
        "retired": state == "completed" if retired is None else retired,
        "timeout_ms": 600_000,
        "is_p2p": point_to_point is not None,
    }


def dump(entries: Sequence[dict[str, Any]], groups: Mapping[tuple[str, str], Sequence[int]], *, first: int = 0) -> dict[str, Any]:
    """Write one rank's dump; `first` is the number of its oldest record, above 0 when the buffer has wrapped."""
    numbered = [{**entry, "record_id": first + at} for at, entry in enumerate(entries)]
    enqueued = max((entry["collective_seq_id"] for entry in entries), default=0)
    completed = max((entry["collective_seq_id"] for entry in entries if entry["state"] == "completed"), default=0)
    return {
        "version": "2.10",
        "comm_lib_version": "2.27.7",
        "pg_config": {name: {"name": name, "desc": description, "ranks": str(list(ranks))} for (name, description), ranks in groups.items()},
        "pg_status": {"0": {"last_enqueued_collective": enqueued, "last_started_collective": enqueued, "last_completed_collective": completed}},
        "entries": numbered,
    }


def older(dump: Mapping[str, Any], version: str) -> Any:
    """Write the same dump as an older torch would have.

    2.7 knew the library as `nccl_version`, 2.2 (torch 2.4) no library, thread or status, 1.4 (torch 2.3) one counter for all and groups
    by number, 1.1 (torch 2.2) no groups at all.
    """
    number = tuple(int(part) for part in version.split("."))
    made = {**dump, "version": version, "nccl_version": dump["comm_lib_version"]}
    del made["comm_lib_version"]
    dropped = {"thread_name", "thread_id"} if number <= (2, 4) else set()
    if number <= (2, 2):
        del made["nccl_version"], made["pg_status"]
    if number < (2, 0):
        dropped |= {"collective_seq_id", "p2p_seq_id", "is_p2p", "process_group", "input_dtypes", "output_dtypes", "timeout_ms"}
        made["pg_config"] = {int(name): json.loads(group["ranks"]) for name, group in made["pg_config"].items()}
    if number < (1, 4):
        dropped |= {"record_id", "op_id"}
        del made["pg_config"]
    entries = []
    for entry in made["entries"]:
        kept = {name: value for name, value in entry.items() if name not in dropped}
        if number < (2, 0):
            kept["seq_id"] = entry["collective_seq_id"]
        entries.append(kept)
    return {**made, "entries": entries}


def write(folder: Path, dumps: Mapping[int, Any], *, as_json: bool = False) -> Path:
    """Write dumps under torch's names."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, one in dumps.items():
        path = folder / f"nccl_trace_rank_{rank}"
        path.write_bytes(json.dumps(one).encode() if as_json else pickle.dumps(one, protocol=2))
    return folder


ALL = {("0", "default_pg"): (0, 1, 2, 3)}
HEALTHY = [call("all_reduce", number) for number in range(1, 4)]
TP, DP = ("1", "tp"), ("2", "dp")
GRID = {**ALL, TP: (0, 1), DP: (0, 2)}
GRID_2 = {**ALL, TP: (2, 3), DP: (1, 3)}


def _open(name: str, sequence: int, **more: Any) -> dict[str, Any]:
    return call(name, sequence, state="started", **more)


def _all(odd: dict[int, list[dict[str, Any]]], others: list[dict[str, Any]]) -> dict[int, Any]:
    return {rank: dump([*HEALTHY, *odd.get(rank, others)], ALL) for rank in range(4)}


CASES: dict[str, dict[int, Any]] = {
    "healthy": _all({}, []),
    "behind": _all({1: []}, [_open("all_reduce", 4)]),
    "type": _all({2: [_open("broadcast", 4, line=30)]}, [_open("all_reduce", 4)]),
    "size": _all({3: [_open("all_reduce", 4, shape=(5,))]}, [_open("all_reduce", 4)]),
    "dtype": _all({3: [_open("all_reduce", 4, dtype="Half")]}, [_open("all_reduce", 4)]),
    "state": _all({3: [_open("all_reduce", 4)]}, [call("all_reduce", 4)]),
    "all-gather-sizes": _all({}, [_open("_all_gather_base", 4, shape=(4,), out=(12,))]),
    "all-to-all": _all({3: [_open("all_to_all", 4, shape=(9,), out=(8,))]}, [_open("all_to_all", 4, shape=(8,), out=(8,))]),
    "wrapped": {
        rank: dump([call("all_reduce", number) for number in range(50 + rank, 60 if rank == 2 else 61)], ALL, first=49 + rank) for rank in range(4)
    },
    "skipped": {
        rank: dump(
            [call("all_reduce", 1), call("all_reduce", 2, line=20), call("all_reduce", 3, line=30), _open("broadcast", 4, line=40)]
            if rank != 2
            else [call("all_reduce", 1), call("all_reduce", 2, line=30), _open("broadcast", 3, line=40)],
            ALL,
        )
        for rank in range(4)
    },
}
"""Cases that torch's analyzer reads too."""
