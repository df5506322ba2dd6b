"""How this machine is to be looked at after a failure: what the pipe hands on before anything else is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.producer import Producer

PASSIVE_LIMIT = 0.5
"""Seconds for all passive probes of one report."""


@dataclass(frozen=True)
class Probing:
    """How to look at this machine after a failure.

    `python` is what `--python` gave; `producers` the processes that wrote into our pipe; `local` says whether the output is
    known to come from a run on this machine.
    """

    python: str = ""
    producers: Sequence[Producer] = ()
    local: bool = True
    limit: float = PASSIVE_LIMIT
