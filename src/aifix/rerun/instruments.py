"""The instruments of a second run, and which diagnosis asks for which. One table each; nothing else decides.

An instrument is environment variables, code inside the program (`injected/inside/instruments.py`), or both.
Variables: docs.pytorch.org/docs/stable/torch_environment_variables.html, docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html,
docs.python.org/3/using/cmdline.html, the manual page ld.so(8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Instrument:
    """Something that makes a failure tell more."""

    name: str
    tells: str
    """What it adds, for the announcement."""
    costs: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables; {folder} stands for the folder of this run."""
    inside: str = ""
    """The module of `injected/inside/` that belongs to it."""


INSTRUMENTS = {
    instrument.name: instrument
    for instrument in (
        Instrument("faulthandler", "a crash in native code prints the Python stack of every thread", environ={"PYTHONFAULTHANDLER": "1"}),
        Instrument("imports", "the import that was under way at a crash, and the line that asked for it", inside="instruments"),
        Instrument(
            "synchronous",
            "each CUDA kernel is waited for, so the traceback stands at the call that failed, with its C++ stack",
            costs="slower, often by half",
            environ={"CUDA_LAUNCH_BLOCKING": "1", "TORCH_SHOW_CPP_STACKTRACES": "1"},
        ),
        Instrument(
            "synchronous-rocm",
            "each HIP kernel and copy is waited for",
            costs="slower, often by half",
            environ={"HIP_LAUNCH_BLOCKING": "1", "AMD_SERIALIZE_KERNEL": "3", "AMD_SERIALIZE_COPY": "3", "TORCH_SHOW_CPP_STACKTRACES": "1"},
        ),
        Instrument("cpp-stacks", "errors of torch's C++ side carry their stack", environ={"TORCH_SHOW_CPP_STACKTRACES": "1"}),
        Instrument(
            "anomaly",
            "an error in backward names its line in forward, and the first nan gradient is one",
            costs="several times slower",
            inside="instruments",
        ),
        Instrument(
            "inplace",
            "every change of a tensor in place is written down with its line",
            costs="several times slower, torch.compile off",
            environ={"TORCHDYNAMO_DISABLE": "1"},
            inside="ledger",
        ),
        Instrument(
            "nan",
            "the first call of torch that makes nan out of numbers names its line",
            costs="several times slower, torch.compile off",
            environ={"TORCHDYNAMO_DISABLE": "1"},
            inside="ledger",
        ),
        Instrument("memory-history", "a snapshot of the CUDA allocator, with stacks, is written at the first out-of-memory", inside="instruments"),
        Instrument("samples", "the sample of the dataset at which loading fails is named", inside="instruments"),
        Instrument(
            "single-process",
            "data is loaded in the main process (num_workers=0), so that its error is the program's own",
            "slower loading",
            inside="instruments",
        ),
        Instrument(
            "flight-recorder",
            "each rank writes its last collectives at a timeout, for aifix flight",
            environ={
                "TORCH_NCCL_TRACE_BUFFER_SIZE": "20000",  # torch 2.2 to 2.8
                "TORCH_FR_BUFFER_SIZE": "20000",  # torch 2.9 and later
                "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
                "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": "{folder}/nccl_trace_rank_",
                "TORCH_FR_DUMP_TEMP_FILE": "{folder}/nccl_trace_rank_",
                "TORCH_NCCL_DESYNC_DEBUG": "1",
            },
        ),
        Instrument(
            "distributed-detail",
            "each collective is compared between the ranks before it runs: kind, shape and type",
            costs="slower collectives",
            environ={"TORCH_DISTRIBUTED_DEBUG": "DETAIL"},
        ),
        Instrument("nccl-debug", "NCCL says how it connects and what fails", environ={"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,ENV"}),
        Instrument(
            "loader",
            "the dynamic loader writes which library it looked for, for whom and where, and binds every symbol at load",
            environ={"LD_DEBUG": "libs,files", "LD_DEBUG_OUTPUT": "{folder}/loader", "LD_BIND_NOW": "1"},
        ),
    )
}

ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("cuda.oom*", ("memory-history",)),
    ("cuda.lib-*", ("loader", "imports")),
    ("cuda.fork-reinit", ("samples", "faulthandler")),
    ("cuda.*", ("synchronous", "faulthandler")),
    ("gpu.*", ("synchronous", "faulthandler")),
    ("rocm.*", ("synchronous-rocm", "faulthandler")),
    ("autograd.nan-backward", ("anomaly", "nan")),
    ("autograd.inplace", ("anomaly", "inplace")),
    ("autograd.*", ("anomaly",)),
    ("train.nan-loss", ("nan",)),
    ("train.grad-nonfinite", ("anomaly", "nan")),
    ("train.loss-scale", ("nan",)),
    ("tensor.*", ("synchronous",)),
    ("data.worker-*", ("single-process", "samples", "faulthandler")),
    ("data.*", ("single-process", "samples")),
    ("host.shm", ("single-process", "faulthandler")),
    ("host.segfault", ("faulthandler", "imports", "samples")),
    ("host.illegal-instruction", ("faulthandler", "imports")),
    ("host.omp-duplicate", ("faulthandler", "imports", "loader")),
    ("host.lib-missing", ("loader", "imports")),
    ("host.glibc", ("loader", "imports")),
    ("deps.module-missing", ("imports",)),
    ("deps.*", ("loader", "imports", "faulthandler")),
    ("xpu.unavailable", ("loader", "imports")),
    ("dist.nccl-timeout", ("flight-recorder", "distributed-detail", "nccl-debug", "faulthandler")),
    ("dist.desync", ("flight-recorder", "distributed-detail", "faulthandler")),
    ("dist.nccl-*", ("nccl-debug", "flight-recorder", "faulthandler")),
    ("dist.ddp-*", ("distributed-detail",)),
    ("dist.*", ("distributed-detail", "flight-recorder", "faulthandler")),
    ("compile.*", ("cpp-stacks", "faulthandler")),
)
"""The first row that fits an id counts."""

ALSO: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"in DataLoader worker process \d+|DataLoader worker \(pid", ("single-process", "samples")),
    (r"Fatal Python error|Segmentation fault|Aborted \(core", ("faulthandler", "imports")),
    (r"CUDA error|CUDA kernel errors might be asynchronously reported", ("synchronous",)),
    (r"modified by an inplace operation", ("anomaly", "inplace")),
    (r"undefined symbol|cannot open shared object file|symbol lookup error", ("loader", "imports")),
)
"""What words of the first run ask for, whatever its diagnosis."""

GENERAL = ("faulthandler", "cpp-stacks", "samples", "imports")
"""What costs next to nothing and changes nothing: for a failure that is not known."""
EXCLUSIVE = {"inplace": "nan"}
"""Of two that watch every call for different ends, the first."""


def asked_for(ids: Iterable[str], lines: Iterable[str] = ()) -> tuple[list[Instrument], dict[str, list[str]]]:
    """Choose the instruments that diagnoses ask for.

    Args:
        ids: of the first run's root causes; none where the failure is not known.
        lines: of the first run's output, as far as they are known.

    Returns:
        The instruments, and for each by name the ids that asked for it.

    """
    reasons: dict[str, list[str]] = {}
    for identity in ids:
        row = next((names for pattern, names in ASKED if fnmatchcase(identity, pattern)), ())
        for name in row:
            reasons.setdefault(name, []).append(identity)
    listed = list(lines)
    for pattern, names in ALSO:
        if any(re.search(pattern, line) for line in listed):
            for name in names:
                reasons.setdefault(name, [])
    if not reasons:
        reasons = {name: [] for name in GENERAL}
    for first, second in EXCLUSIVE.items():
        if first in reasons:
            reasons.pop(second, None)
    return [INSTRUMENTS[name] for name in reasons], reasons


def variables(instruments: Iterable[Instrument], folder: str) -> dict[str, str]:
    """Give the environment variables of instruments, with the folder filled in."""
    return {name: value.replace("{folder}", folder) for instrument in instruments for name, value in instrument.environ.items()}
