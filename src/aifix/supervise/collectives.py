"""In which collective each rank of a silent run stands: read off the Python stacks, the ranks' environment, and what they have dumped.

Nothing is sent to the ranks: a dump that they would write on request is named, not asked for.
"""

from __future__ import annotations

import glob
import os
import re
from collections import defaultdict
from typing import NamedTuple

from aifix.intake.tracebacks import is_user
from aifix.supervise.processes import read_file

_FRAME = re.compile(r"\s+(\S.*) \(([^():]+)(?::(\d+))?\)$")
_THREAD = re.compile(r"Thread (?:0x)?[0-9a-fA-F]+ .*?\"(.*)\"|Thread (?:0x)?[0-9a-fA-F]+")
_C10D = "torch/distributed/distributed_c10d.py"
_OPERATIONS = {
    "all_reduce", "all_reduce_coalesced", "all_gather", "all_gather_coalesced", "all_gather_into_tensor", "all_gather_object", "all_to_all",
    "all_to_all_single", "barrier", "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group", "gather", "gather_object",
    "init_process_group", "irecv", "isend", "monitored_barrier", "new_group", "recv", "recv_object_list", "reduce", "reduce_scatter",
    "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "send_object_list", "split_group",
}  # fmt: skip
_ELSEWHERE = (
    ("torch/autograd/graph.py", "_engine_run_backward", "backward (it computes, or waits for the gradients of the other ranks)"),
    ("torch/nn/parallel/distributed.py", "_sync_buffers", "the broadcast of DDP's buffers"),
    ("torch/nn/parallel/distributed.py", "__init__", "the start of DDP, which compares parameters between the ranks"),
    ("torch/distributed/fsdp", "", "FSDP"),
    ("torch/distributed/rendezvous.py", "", "the rendezvous"),
    ("torch/distributed/elastic/rendezvous", "", "the rendezvous of torchrun"),
)
"""Other places in which a rank waits for its peers: part of the file, function, what it is."""
DUMPS = ("TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE")
PIPE = "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"
SIZES = ("TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE")
DEFAULT_DUMP = "/tmp/nccl_trace_rank_"  # noqa: S108 - where torch writes by default; it is only looked at
SHOWN = 16
"""Ranks named one by one."""


class Frame(NamedTuple):
    """One frame of a dumped stack."""

    function: str
    file: str
    line: int


class Standing(NamedTuple):
    """Where a rank stands."""

    pid: int
    rank: int | None
    world: int | None
    operation: str
    """The collective, or what it is else in; empty for the user's own code."""
    collective: bool
    place: str


def frames(dump: list[str]) -> list[Frame]:
    """Read the frames of the main thread out of a py-spy dump, the innermost first."""
    found: list[Frame] = []
    inside = False
    for line in dump:
        thread = _THREAD.match(line)
        if thread:
            if found:
                break
            inside = True
            continue
        frame = _FRAME.match(line) if inside else None
        if frame:
            found.append(Frame(frame[1], frame[2], int(frame[3] or 0)))
    return found


def environment(pid: int) -> dict[str, str]:
    """Give the environment with which a process was started."""
    pairs = (item.partition(b"=") for item in read_file(f"/proc/{pid}/environ").split(b"\0"))
    return {name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, found, value in pairs if found}


def standing(pid: int, stack: list[Frame], environ: dict[str, str]) -> Standing | None:
    """Say where a process stands; None where it is no rank that is known as one."""
    rank, world = (int(environ[name]) if environ.get(name, "").isdigit() else None for name in ("RANK", "WORLD_SIZE"))
    operation, collective = "", False
    for frame in stack:  # the outermost call into torch.distributed is the one that the user wrote
        if frame.file.endswith(_C10D) and frame.function in _OPERATIONS:
            operation, collective = frame.function, True
    if not operation:
        operation = next(
            (what for part, function, what in _ELSEWHERE for frame in stack if part in frame.file and (not function or frame.function == function)),
            "",
        )
    if rank is None and not collective:
        return None
    user = next((frame for frame in stack if is_user(frame.file, frame.function)), None)
    place = f"{user.function}, {user.file}:{user.line}" if user is not None else ""
    return Standing(pid, rank, world, operation, collective, place)


def describe(found: list[Standing]) -> list[str]:
    """Say in which collective each rank stands, and for whom the others wait."""
    ranks = sorted(found, key=lambda one: (one.rank is None, one.rank or 0, one.pid))
    waiting = [one for one in ranks if one.collective]
    if not waiting:
        return []
    lines = [f"{_name(one)} is in {one.operation or 'its own code'}{f' ({one.place})' if one.place else ''}" for one in ranks[:SHOWN]]
    if len(ranks) > SHOWN:
        lines.append(f"and {len(ranks) - SHOWN} ranks more")
    lines.append(_verdict(ranks, waiting))
    world = max((one.world for one in ranks if one.world is not None), default=0)
    if world > len(ranks):
        lines.append(f"{world} ranks belong to the job, {len(ranks)} of them were seen here: the missing ones may be on other nodes, or gone")
    return [f"collectives: {lines[0]}", *[f"             {line}" for line in lines[1:]]]


def _verdict(ranks: list[Standing], waiting: list[Standing]) -> str:
    others = [one for one in ranks if not one.collective]
    if others:
        who, they = (", ".join(map(_name, group[:SHOWN])) for group in (waiting, others))
        waits, has = "waits" if len(waiting) == 1 else "wait", "has" if len(others) == 1 else "have"
        return f"so {who} {waits} for {they}, which {has} not come to the collective"
    by: dict[tuple[str, str], list[Standing]] = defaultdict(list)
    for one in waiting:
        by[one.operation, one.place].append(one)
    if len(by) > 1:
        apart = "; ".join(f"{', '.join(map(_name, group[:SHOWN]))} in {operation} ({place})" for (operation, place), group in by.items())
        return f"so the ranks have parted: {apart}"
    return "so all of them are in the same one: a rank that is not seen here is missing, or the network does not answer"


def _name(one: Standing) -> str:
    return f"rank {one.rank}" if one.rank is not None else f"process {one.pid}"


# ---------------------------------------------------------------- the flight recorder


def recorders(pids: list[int], since: float = 0.0) -> list[str]:
    """Say what the ranks' flight recorders hold or have written.

    Args:
        pids: the run's processes.
        since: files that are older than this moment (seconds since 1970) belong to another run.

    """
    lines: list[str] = []
    folders: dict[str, int] = {}
    pipes: list[str] = []
    for pid in pids:
        environ = environment(pid)
        rank = environ.get("RANK", "")
        if not rank.isdigit():
            continue
        prefix = next((environ[name] for name in DUMPS if environ.get(name)), DEFAULT_DUMP)
        for file in glob.glob(f"{glob.escape(prefix)}{rank}"):
            try:
                if os.path.getmtime(file) >= since:
                    folders[os.path.dirname(file) or "."] = folders.get(os.path.dirname(file) or ".", 0) + 1
            except OSError:
                continue
        pipe = f"{environ[PIPE]}{rank}.pipe" if environ.get(PIPE) else ""
        if pipe and os.path.exists(pipe) and any(environ.get(name, "0") not in {"", "0"} for name in SIZES):
            pipes.append(pipe)
    for folder, count in folders.items():
        lines.append(
            f"flight recorder: {count} {'rank has' if count == 1 else 'ranks have'} written to {folder}; read it with: aifix flight {folder}"
        )
    if pipes and not folders:
        lines.append(f"flight recorder: it is on; each rank writes its last collectives when asked: echo 1 > {pipes[0]}; then: aifix flight DIR")
    return lines
