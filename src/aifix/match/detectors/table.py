"""All detectors by the names that rules use, with the types of their captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aifix.match.detectors.flat_loss import flat_loss
from aifix.match.detectors.grad_norm import grad_norm
from aifix.match.detectors.nan_loss import nan_loss
from aifix.match.detectors.series import Detection

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aifix.model import Line


class Detector(NamedTuple):
    """A detector, and the types of its captures."""

    find: Callable[[Sequence[Line]], list[Detection]]
    types: dict[str, str]


def parted_ranks(lines: Sequence[Line]) -> list[Detection]:
    """Find the rank that is in another collective than those that wait for it."""
    from aifix.match.parted import parting  # late: few logs are of more than one rank

    found = parting(lines)
    return [Detection(found.parted, found.captures)] if found is not None else []


def waiting_ranks(lines: Sequence[Line]) -> list[Detection]:
    """Find the ranks that wait for one that is in another collective."""
    from aifix.match.parted import parting

    found = parting(lines)
    return [Detection(line, {}) for line in found.waiting] if found is not None else []


DETECTORS: dict[str, Detector] = {
    "flat-loss": Detector(
        flat_loss,
        {
            "loss": "float",
            "loss_name": "text",
            "first_loss": "float",
            "points": "int",
            "classes": "int",
            "accuracy": "float",
            "grad_norm": "float",
        },
    ),
    "grad-norm": Detector(grad_norm, {"grad_norm": "float", "step": "text", "learning_rate": "float", "usual_norm": "float"}),
    "nan-loss": Detector(
        nan_loss,
        {"component": "text", "value": "text", "step": "text", "learning_rate": "float", "last_loss": "float", "least_loss": "float"},
    ),
    "parted-ranks": Detector(
        parted_ranks,
        {
            "first_rank": "int",
            "op_type": "name",
            "waits_at": "text",
            "other_rank": "int",
            "parted_rank": "int",
            "other_op_type": "name",
            "parted_at": "text",
        },
    ),
    "waiting-ranks": Detector(waiting_ranks, {}),
}
"""By the name that rules use."""
