"""All probes on one page: id, the question it answers, and where its function is. Nothing is imported until a probe runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aifix.probes.finding import Case, Finding


class Probe(NamedTuple):
    """One probe. A passive one reads; an active one runs something, and only when asked for."""

    id: str
    question: str
    function: str
    active: bool = False
    needs: str = ""

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.partition(".")[0]

    def load(self) -> Callable[[Case], Finding]:
        """Import the function."""
        import importlib

        module, _, name = self.function.partition(":")
        found: Callable[[Case], Finding] = getattr(importlib.import_module(f"aifix.probes.{module}"), name)
        return found


PROBES: tuple[Probe, ...] = (
    Probe("gpu.memory", "Is a GPU short of memory, and how much is free?", "gpu:memory"),
    Probe("gpu.processes", "Which processes hold GPU memory, and is one left over from an earlier run?", "gpu:processes"),
    Probe("gpu.health", "Is a GPU broken or throttled: ECC, row remapping, Xid lines, heat, PCIe, NVLink, fabric manager, modes?", "health:health"),
    Probe("cuda.runtime", "Is there a working NVIDIA driver, with devices that this process may see?", "cuda:runtime"),
    Probe("torch.build", "Which torch is installed, for which CUDA, and does it fit the driver, the card and its companions?", "torch_build:build"),
    Probe("deps.python", "Do the installed Python packages fit together: requirements, duplicates, NumPy ABI, shadowing files?", "deps:python"),
    Probe("deps.node", "Does node_modules hold several versions of one package, unmet peers or engines?", "node:tree", needs="--node"),
    Probe("build.toolkit", "Which compilers and build tools are here: nvcc, a host compiler, ninja, cmake, git, Python's headers?", "build:toolkit"),
    Probe(
        "dist.topology",
        "How are the GPUs joined: NVLink, PCIe, peer-to-peer, nearness of the network cards (as nvidia-smi topo)?",
        "topology:topology",
    ),
    Probe("dist.network", "Can ranks find each other: interfaces, host name, MASTER_ADDR and PORT, NCCL settings, InfiniBand?", "network:network"),
    Probe("host.port", "Is the port taken, and by which process?", "network:port", needs="--port"),
    Probe("host.memory", "Is host memory short: RAM, swap, the cgroup's limit, kills by the kernel?", "memory:host"),
    Probe("host.shm", "Is /dev/shm large enough for data loader workers?", "memory:shm"),
    Probe("host.disk", "Is a disk full, by space or inodes?", "disk:disk"),
    Probe("host.files", "Do the files and folders of the log exist here, and may they be read?", "disk:files", needs="--path"),
    Probe("host.limits", "Are the limits on open files, processes and locked memory low?", "limits:limits"),
    Probe(
        "host.container", "What do the container, cgroup, Slurm or Kubernetes allow, and does the job have what it asked for?", "confines:confines"
    ),
    Probe("host.cpu", "Has this CPU the instructions that the build and the installed packages want (AVX2, AVX-512, x86-64-v3)?", "cpu:cpu"),
    Probe("host.clock", "Is the clock right and kept, or has it been set back?", "clock:clock"),
    Probe("host.libc", "Do glibc and libstdc++ have the symbol versions that the extension wants?", "libc:versions"),
    Probe("host.libraries", "Is a shared library that the log misses installed?", "libc:libraries", needs="--library"),
    Probe("data.files", "Does the data file of the log parse, or is the checkpoint whole?", "files:data_file", needs="--path"),
    Probe("data.images", "Is the image of the log whole?", "files:image", needs="--path"),
    Probe("cuda.kernels", "Do a small kernel, a matrix product per dtype and a cuDNN convolution run?", "active:kernels", active=True),
    Probe("dist.allreduce", "Does an all-reduce of two ranks on this machine end, and how fast is it?", "active:allreduce", active=True),
    Probe(
        "data.labels",
        "Which samples of a dataset are bad: labels out of range, unequal shapes, nan, unreadable, unpicklable?",
        "active:samples",
        active=True,
        needs="--dataset",
    ),
    Probe(
        "numerics.layers",
        "Which layer first yields nan or inf, in fp32, fp16 and bf16, and how large are the gradients?",
        "active:layers",
        active=True,
        needs="--model",
    ),
    Probe(
        "memory.model",
        "How does a model's memory divide, and which is the largest batch that fits?",
        "active:model_memory",
        active=True,
        needs="--model",
    ),
)
BY_ID = {probe.id: probe for probe in PROBES}
GROUPS = {
    "cuda": ("cuda.runtime", "torch.build", "gpu.memory", "cuda.kernels"),
    "memory": ("gpu.memory", "gpu.processes", "host.memory", "host.shm", "memory.model"),
    "health": ("gpu.health",),
    "dist": ("dist.network", "dist.topology", "host.port", "host.shm", "host.limits", "dist.allreduce"),
    "deps": ("deps.python", "torch.build", "deps.node"),
    "data": ("data.files", "data.images", "data.labels"),
}
"""Families as people ask for them; other names select by the ids' first part."""


class UnknownProbeError(KeyError):
    """No probe or family has that name."""


def ids() -> frozenset[str]:
    """Give the ids of all probes."""
    return frozenset(BY_ID)


def select(names: Iterable[str], *, active: bool = False, given: Iterable[str] = ()) -> list[Probe]:
    """Choose probes by ids and families.

    Args:
        names: ids or families; none selects all.
        active: take active ones too.
        given: options that were given. A probe that needs one is taken when it was, or when its id is named.

    Raises:
        UnknownProbeError: a name is neither.

    """
    options = set(given)
    names = list(names)
    return [probe for probe in members(names) if probe.id in names or (probe.needs in options if probe.needs else active or not probe.active)]


def members(names: Iterable[str]) -> list[Probe]:
    """Give all probes that ids and families name, in the order of this page; all there are when there is no name.

    Raises:
        UnknownProbeError: a name is neither.

    """
    wanted: set[str] = set()
    names = list(names)
    for name in names:
        chosen = (name,) if name in BY_ID else GROUPS.get(name) or tuple(probe.id for probe in PROBES if probe.family == name)
        if not chosen:
            raise UnknownProbeError(name)
        wanted.update(chosen)
    return [probe for probe in PROBES if not names or probe.id in wanted]


def families() -> list[str]:
    """Name the families."""
    return sorted({probe.family for probe in PROBES} | set(GROUPS))
