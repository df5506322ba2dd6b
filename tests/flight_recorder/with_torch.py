# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ICN001, S301, TC003 - a script for another interpreter, of its own dumps
"""Run by an interpreter with torch: let real gloo ranks write dumps, and torch's own analyzer read dumps.

    python with_torch.py FOLDER ANSWER

FOLDER/raw gets a folder of real dumps a case, FOLDER/named the same with the names and members of the groups put in: torch 2.13 writes gloo's
groups without names, on which its own analyzer stops with a KeyError. ANSWER gets, as JSON, what torch's analyzer says of every folder in
FOLDER/named and FOLDER/made.
"""

import argparse
import datetime
import json
import os
import pickle
import signal
import sys
import time
from pathlib import Path

import torch
import torch._inductor.codecache  # what turns stacks into text imports it: once here, not in each of the ranks
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json
from torch.distributed.flight_recorder.components.builder import build_db
from torch.distributed.flight_recorder.components.config_manager import JobConfig
from torch.distributed.flight_recorder.components.loader import read_dir
from torch.distributed.flight_recorder.components.types import Collective

WORLD = 3


def step(tensor, **more):
    dist.all_reduce(tensor, **more)


def late(operation, *arguments, **more):
    """Enqueue without waiting: the recorder notes it at once, and nobody needs to time out."""
    return operation(*arguments, async_op=True, **more)


def behind(rank):
    if rank != 1:
        late(dist.all_reduce, torch.ones(4))


def other_type(rank):
    if rank == 1:
        late(dist.broadcast, torch.ones(4), src=0)
    else:
        late(dist.all_reduce, torch.ones(4))


def size(rank):
    late(dist.broadcast, torch.ones(6 if rank == 1 else 4), src=0)  # a longer buffer: gloo ends the program where it is shorter


def dtype(rank):
    late(dist.all_reduce, torch.ones(4, dtype=torch.int32 if rank == 1 else torch.float32))


def groups(rank):
    pair = dist.new_group([0, 2])
    if rank in (0, 2):
        dist.all_reduce(torch.ones(2), group=pair)
    if rank == 0:
        late(dist.all_reduce, torch.ones(2), group=pair)


def kinds(rank):
    dist.all_to_all_single(torch.empty(WORLD), torch.ones(WORLD))
    dist.scatter(torch.ones(2), [torch.ones(2)] * WORLD if rank == 0 else None)
    dist.gather(torch.ones(2), [torch.ones(2) for _ in range(WORLD)] if rank == 0 else None)
    dist.reduce(torch.ones(2), 0)
    dist.all_gather_object([None] * WORLD, rank)
    dist.barrier()


def healthy(_rank):
    step(torch.ones(8))


CASES = {case.__name__: case for case in (healthy, behind, other_type, size, dtype, groups, kinds)}


def rank_of(case, rank, folder, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=WORLD, timeout=datetime.timedelta(seconds=60))
    for _ in range(2):
        step(torch.ones(4))
    CASES[case](rank)
    (folder / f"fr_rank_{rank}").write_bytes(_dump_fr_trace(True, True, False))
    (folder.parent / f"{case}-json").mkdir(exist_ok=True)
    (folder.parent / f"{case}-json" / f"fr_rank_{rank}").write_bytes(_dump_fr_trace_json(True, False))
    (folder / f"done-{rank}").touch()
    deadline = time.monotonic() + 60
    while len(list(folder.glob("done-*"))) < WORLD and time.monotonic() < deadline:  # nobody leaves while another still writes
        time.sleep(0.01)


def record(case, folder, attempt):
    """Let the ranks run; a mismatch may end one before it has written, so there are several tries."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder.parent / f"store-{case}-{attempt}"
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                rank_of(case, rank, folder, store)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    while children:
        child, status = os.wait()
        children.remove(child)
        if status:
            for other in children:
                os.kill(other, signal.SIGKILL)
    for mark in folder.glob("done-*"):
        mark.unlink()
    return len(list(folder.glob("fr_rank_*"))) == WORLD


def name_groups(raw, named):
    """Put in what the program knows about its groups."""
    named.mkdir(parents=True, exist_ok=True)
    for file in raw.iterdir():
        dump = pickle.loads(file.read_bytes())
        names = {tuple(entry["process_group"]) for entry in dump["entries"]}
        dump["pg_config"] = {
            name: {"name": name, "desc": description, "ranks": str(list(range(WORLD)) if description == "default_pg" else [0, 2])}
            for name, description in names | {("0", "default_pg")}
        }
        (named / file.name).write_bytes(pickle.dumps(dump, protocol=2))


def told(collective: Collective):
    wrong = collective.mismatch_collectives or {}
    return {
        "group": collective.group_id,
        "sequence": collective.collective_seq_id,
        "passed": collective.pass_check,
        "missing": sorted(collective.missing_ranks or ()),
        "wrong": {rank: one.type_of_mismatch.state.name for rank, one in wrong.items()},
    }


def analyse(folder):
    arguments: argparse.Namespace = JobConfig().parse_args([str(folder), "--allow-incomplete-ranks"])
    try:
        details, version = read_dir(arguments)
        return {"collectives": [told(one) for one in build_db(details, arguments, version).collectives]}
    except Exception as error:  # noqa: BLE001 - that it stops is its answer
        return {"stopped": f"{type(error).__name__}: {error}"}


def main():
    folder, answer = Path(sys.argv[1]), Path(sys.argv[2])
    torch.set_num_threads(1)
    for case in CASES:
        raw = folder / "raw" / case
        if not any(record(case, raw, attempt) for attempt in range(5)):
            sys.exit(f"the ranks of {case} wrote no dumps")
        name_groups(raw, folder / "named" / case)
    found = {
        f"{kind}/{one.name}": analyse(one)
        for kind in ("raw", "named", "made")
        for one in (folder / kind).iterdir()
        if not one.name.endswith("-json") and one.is_dir()
    }
    answer.write_text(json.dumps(found, indent=1))


main()
