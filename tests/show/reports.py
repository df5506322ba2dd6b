"""Reports made by hand, one for each way a run can end."""

from __future__ import annotations

from aifix.model import Action, Diagnosis, Evidence, Fact, Fix, Location, Match, Nearest, ProbeResult, Report, Step, Unknown

OOM = Diagnosis(
    id="cuda.oom",
    title="CUDA out of memory on GPU 0",
    severity="error",
    confidence=0.97,
    symptom=False,
    match=Match("exact", 1.0, r"CUDA out of memory\. Tried to allocate {requested:bytes}"),
    evidence=(
        Evidence(
            1057,
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.24 GiB (GPU 0; 23.69 GiB total capacity; "
            "21.02 GiB already allocated; 605.94 MiB free; 22.50 GiB reserved in total by PyTorch)",
        ),
    ),
    facts={"requested": Fact("1.24 GiB", 1331439861, "bytes"), "world_size": Fact("8", 8)},
    location=Location("/workspace/train.py", 42, "training_step", "loss = model(batch)"),
    ranks=(3,),
    caused_by=None,
    explanation="The card holds 23.69 GiB; this process has allocated 21.02 GiB of it. The step asked for 1.24 GiB more, and only 605.94 MiB were free.",
    probes=(
        ProbeResult("gpu.memory", "confirmed", "GPU 0 holds 23.69 GiB, 0.40 GiB used now", {"gpu": 0}, 4.0),
        ProbeResult("gpu.processes", "not-available", "no NVIDIA driver on this machine"),
        ProbeResult("torch.build", "not-run", ""),
    ),
    fixes=(
        Fix(
            "smaller-batch",
            "Halve the batch and accumulate gradients over two steps",
            0.71,
            "low",
            "none",
            (
                Action(
                    "code",
                    "for step, batch in enumerate(loader):\n    (model(batch) / 2).backward()\n    if step % 2:\n        optimizer.step()\n",
                ),
            ),
            "It is the only term that shrinks linearly with the batch.",
        ),
        Fix(
            "expandable",
            "Let the allocator grow its segments",
            0.5,
            "low",
            "none",
            (Action("env", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"),),
        ),
        Fix(
            "checkpointing",
            "Recompute activations",
            0.3,
            "medium",
            "speed: about 30 % slower",
            (
                Action("note", "Wrap the blocks with the widest activations; what they keep for the backward pass is then computed twice."),
                Action("code", "from torch.utils.checkpoint import checkpoint"),
            ),
        ),
    ),
    references=("https://docs.pytorch.org/docs/stable/notes/cuda.html",),
    derivation=(
        Step("signature", "exact, strength 0.97"),
        Step("refine to cuda.oom-fragmentation", "reserved - allocated >= requested: false"),
    ),
)
TIMEOUT = Diagnosis(
    id="dist.nccl-timeout",
    title="A collective timed out",
    severity="error",
    confidence=0.9,
    symptom=True,
    match=Match("exact", 1.0, "Watchdog caught collective operation timeout"),
    evidence=tuple(Evidence(line, f"[Rank {line - 2000}] Watchdog caught collective operation timeout") for line in range(2000, 2007)),
    facts={"world_size": Fact("8", 8)},
    location=None,
    ranks=(0, 1, 2, 4, 5, 6, 7),
    caused_by="cuda.oom",
    explanation="",
    count=7,
)
LAUNCHER = Diagnosis(
    id="dist.child-failed",
    title="The launcher reports that a worker failed",
    severity="error",
    confidence=0.9,
    symptom=True,
    match=Match("fuzzy", 0.8, "ChildFailedError"),
    evidence=(Evidence(2040, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"),),
    facts={},
    location=None,
    ranks=(),
    caused_by="dist.nccl-timeout",
    explanation="",
)
WARNING = Diagnosis(
    id="data.too-many-workers",
    title="More DataLoader workers than processors",
    severity="warning",
    confidence=0.8,
    symptom=False,
    match=Match("exact", 1.0, "This DataLoader will create"),
    evidence=(Evidence(12, "UserWarning: This DataLoader will create 16 worker processes in total."),),
    facts={},
    location=None,
    ranks=(),
    caused_by=None,
    explanation="The machine has 2 processors.",
    count=4,
)

REPORTS = {
    "cascade": Report(source="train.log", failed=True, diagnoses=(OOM, TIMEOUT, LAUNCHER)),
    "unknown": Report(
        source="-",
        failed=True,
        unknown=Unknown(
            "frob.FrobError",
            "cannot frob 3 widgets",
            (Evidence(7, "frob.FrobError: cannot frob 3 widgets"),),
            Location("train.py", 3, "main", "frob(3)"),
            (0,),
            (Nearest("tensor.shape-mismatch", "Shapes do not fit", 0.61),),
        ),
    ),
    "unexplained": Report(source="job.log", failed=True),
    "healthy": Report(source="-", failed=False),
    "hint": Report(source="-", failed=False, hints=(WARNING,)),
}
