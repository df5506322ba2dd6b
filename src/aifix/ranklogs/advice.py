"""What to do next, by how it began: for what no rule diagnoses, since the rank in question said nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifix.ranklogs.judge import Judgement
    from aifix.ranklogs.nouns import Kind

_KILLED = (
    "look who sent the signal on that rank's node: dmesg -T | grep -iE 'oom-kill|killed process' (memory), sacct -j JOB -o State,MaxRSS,ReqMem "
    "(Slurm), kubectl describe pod POD (Last State)"
)
_HANGS = (
    "while it hangs, on that rank's node: py-spy dump --pid PID (where Python stands), cat /proc/PID/wchan and /proc/PID/status "
    "(State: T is stopped, D waits for a disk)"
)
_NEXT_TIME = (
    "a flight recorder tells next time: TORCH_FR_BUFFER_SIZE=20000 (before torch 2.9 TORCH_NCCL_TRACE_BUFFER_SIZE=20000) and "
    "TORCH_NCCL_DUMP_ON_TIMEOUT=1, then aifix flight DIR"
)
_NEXT_TIME_GLOO = "aifix run --stall 5m -- torchrun ... says next time where each rank of a node stands while it hangs"
_BY_KIND: dict[Kind, tuple[str, ...]] = {
    "killed": (_KILLED,),
    "vanished": (
        _KILLED,
        "let a crash in native code print its stack: PYTHONFAULTHANDLER=1; and the launcher say how each rank ended: give its log to aifix ranks too",
    ),
    "frozen": (
        _HANGS,
        "the usual reasons are a data loader or a file system that hangs, a checkpoint or evaluation on one rank only, and a faulty GPU or link",
        _NEXT_TIME,
    ),
    "diverged": (
        "look for a branch that only this rank takes: if rank == 0, an early continue or return, a condition on its own data or loss",
        "TORCH_DISTRIBUTED_DEBUG=DETAIL names the first call that differs; aifix rules show dist.desync",
    ),
    "left-early": (
        "give every rank the same number of steps: DistributedSampler(dataset, drop_last=True), or torch.distributed.algorithms.join.Join([model])",
        "decide on one rank whether to stop early, and broadcast the decision; aifix rules show dist.desync",
    ),
    "missing": ("fetch the log of that rank, and the launcher's: kubectl logs, sacct and scontrol show job, torchrun --log-dir DIR --redirects 3",),
    "open": ("let lines carry times and ranks (torchrun --log-dir DIR --redirects 3, srun --label), and give the launcher's log as well",),
}


def advice(found: Judgement, *, diagnosed: bool, gloo: bool = False) -> tuple[str, ...]:
    """Say what to do next; nothing where the rank's own log was diagnosed, since that has its fixes.

    Args:
        found: how it began.
        diagnosed: whether the log of the rank in question was diagnosed.
        gloo: whether the ranks speak of gloo, to which NCCL's variables mean nothing.

    """
    said = () if diagnosed else _BY_KIND.get(found.kind, ())
    return tuple(_NEXT_TIME_GLOO if gloo and one == _NEXT_TIME else one for one in said)
