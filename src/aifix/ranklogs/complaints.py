"""What a rank's last error is about: itself, a peer that went away, one that did not come, or one that calls another collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.match.parted import OPERATIONS
from aifix.ranklogs.nouns import Collective

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Line, Traceback
    from aifix.ranklogs.nouns import Complaint

FOLLOWERS = frozenset(
    (
        *("dist.gloo", "dist.nccl-remote", "dist.nccl-timeout", "dist.stale-store", "dist.nccl-system", "dist.nccl-internal", "dist.rendezvous"),
        *("dist.child-failed", "dist.worker-died", "dist.nccl-ib", "dist.mpi", "host.interrupted"),
    )
)
"""Diagnoses of a rank that another rank, the network or the launcher brings about."""
MISMATCHES = frozenset(("dist.desync", "dist.ddp-unused"))
ENDED = frozenset(("host.interrupted",))
_ENDED = lazy_re(r"SignalException|got signal: 15|SIGTERM|DUE TO (?:TIME LIMIT|PREEMPTION)|Received signal 15|KeyboardInterrupt")
_WAITED = lazy_re(
    r"(?i)timed out waiting|(?:caught )?collective operation timeout|failed to pass monitoredbarrier|timed out in monitoredbarrier|"
    r"wait timeout|timed out after|watchdog got stuck|heartbeat monitor timed out|timeout waiting|timeout at nccl work|Timeout\(ms\)|"
    r"StoreTimeout|timed? ?out.{0,40}(?:barrier|store|key)"
)
_LOST = lazy_re(
    r"(?i)connection (?:closed|reset|refused|was likely closed|aborted)|broken pipe|read error|write error|remote (?:process|error)|ncclremote|"
    r"socket (?:unexpectedly )?closed|pair closure|recvvalue failed|failed to recv|peer (?:closed|went away|is dead)|end of file|no route to host"
)
_MISMATCH = lazy_re(
    r"mismatch between collectives|op\.preamble\.length <= op\.nbytes|collective mismatch error|message truncated|Mismatched collective|"
    r"expects same model across all ranks|unexpected (?:opcode|slot)|Invalid (?:slot|opcode)"
)
_FINGERPRINT = lazy_re(
    r"Rank (?P<rank>\d+) is running (?:inconsistent )?collective: CollectiveFingerPrint\("
    r"(?:SequenceNumber=(?P<sequence>\d+)(?:, )?)?OpType=(?P<operation>\w+)"
    r"(?:, TensorShape=(?P<shape>\[[^\]]*\]))?"
)
_WORK = lazy_re(
    r"WorkNCCL\((?:SeqNum=(?P<sequence>\d+), )?OpType=(?P<operation>\w+)(?:, (?:TensorShape|Shape)=\[[^\]]*\])?(?:, NumelIn=(?P<elements>\d+))?"
)
_STATUS = lazy_re(r"last enqueued (?:NCCL )?work: (?P<enqueued>-?\d+), last completed (?:NCCL )?work: (?P<completed>-?\d+)")
_ABSENT = lazy_re(
    r"Ranks? (?P<many>\d+(?:, ?\d+)*) failed to pass monitoredBarrier|Rank (?P<one>\d+) timed out in monitoredBarrier|"
    r"Missing ranks?:? \[?(?P<missing>\d+(?:, ?\d+)*)"
)


def complaint_of(identity: str, text: str, *, symptom: bool) -> Complaint:
    """Say what an error is about.

    Args:
        identity: the diagnosis' id, or the exception where no rule knows it.
        text: the lines that prove it.
        symptom: whether the rule says that it only ever follows from something.

    """
    if _MISMATCH.search(text) or identity in MISMATCHES:
        return "waited" if identity == "dist.desync" and _ABSENT.search(text) else "mismatch"
    if identity not in FOLLOWERS and not symptom and not identity.rpartition(".")[2].startswith("Dist"):
        return "own"
    if identity in ENDED or _ENDED.search(text):
        return "ended"
    if _WAITED.search(text):
        return "waited"
    if _LOST.search(text):
        return "lost"
    return "lost" if identity.startswith("dist.") and identity not in {"dist.child-failed", "dist.rendezvous"} else "waited"


def collective_of(lines: Sequence[Line], tracebacks: Sequence[Traceback]) -> Collective | None:
    """Say in which collective a rank was: from NCCL's watchdog, or from the frames of the traceback with which it ended."""
    work = status = None
    for line in lines:
        if "WorkNCCL(" in line.text:
            work = _WORK.search(line.text) or work
        if "last enqueued" in line.text:
            status = _STATUS.search(line.text) or status
    if work is not None:
        return Collective(work["operation"], _number(work["sequence"]), _number(work["elements"]))
    for traceback in reversed(tracebacks):
        place = next((f"{_base(frame.file)}:{frame.line}" for frame in reversed(traceback.frames) if frame.user), "")
        for frame in reversed(traceback.frames):
            if frame.function in OPERATIONS and "torch/distributed/" in frame.file.replace("\\", "/"):
                return Collective(frame.function, int(status["enqueued"]) if status else None, None, place)
    return None


def fingerprints_of(lines: Sequence[Line]) -> tuple[tuple[int, str], ...]:
    """Read which rank ran which collective, as TORCH_DISTRIBUTED_DEBUG=DETAIL says of the ranks that disagree."""
    found: dict[int, str] = {}
    for line in lines:
        if "CollectiveFingerPrint" in line.text:
            for match in _FINGERPRINT.finditer(line.text):
                parts = (match["operation"], match["shape"] or "", match["sequence"] or "")
                found.setdefault(int(match["rank"]), " ".join(part for part in parts if part))
    return tuple(sorted(found.items()))


def absent_in(lines: Sequence[Line]) -> tuple[int, ...]:
    """Read which ranks a barrier says did not come."""
    found: set[int] = set()
    for line in lines:
        if "onitoredBarrier" in line.text or "issing rank" in line.text:
            for match in _ABSENT.finditer(line.text):
                found.update(int(part) for part in (match["many"] or match["one"] or match["missing"]).split(","))
    return tuple(sorted(found))


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _number(text: str | None) -> int | None:
    return int(text) if text else None
