"""PyTorch's flight recorder: what each rank's collectives were when a job hung, and in which of them the ranks disagree."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.flight_recorder.verdict import Flight
    from aifix.rulebase.base import Base

__all__ = ["flight"]


def flight(*paths: str | Path, prefix: str | None = None, base: Base | None = None) -> Flight:
    """Read a job's flight-recorder dumps and say in which collective its ranks disagree.

    Args:
        paths: the folder of the dumps, or the files, one a rank, named `<prefix><rank>`; pickles or JSON of any version of torch.
        prefix: what stands before the rank in the files' names; by default what most of them share.
        base: the rules for explanations and fixes; the built-in and the user's by default.

    Raises:
        aifix.flight_recorder.load.NoDumpsError: there is no dump, or none could be read.
        OSError: a path cannot be read.

    """
    from aifix import api
    from aifix.flight_recorder.load import load
    from aifix.flight_recorder.verdict import judge

    collecting = gc.isenabled()
    gc.disable()  # many new objects and no garbage: the collector would look at all of them again and again
    try:
        return judge(load(paths, prefix=prefix), base or api.rule_base(), source=", ".join(str(path) for path in paths))
    finally:
        if collecting:
            gc.enable()
