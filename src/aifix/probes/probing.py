"""How this machine is to be looked at after a failure: what the pipe hands on before anything else is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.probes.producer import Producer
    from aifix.probes.run import Follower

PASSIVE_LIMIT = 0.5
"""Seconds for all passive probes of one report."""


class Probing:
    """How to look at this machine after a failure."""

    __slots__ = ("follower", "limit", "local", "piped", "producers", "python")

    def __init__(
        self,
        python: str = "",
        producers: Sequence[Producer] = (),
        *,
        local: bool = True,
        limit: float = PASSIVE_LIMIT,
        piped: bool = False,
        follower: Follower | None = None,
    ) -> None:
        """Say how to look.

        Args:
            python: what `--python` gave.
            producers: the processes that wrote into our pipe.
            local: whether the output is known to come from a run on this machine.
            limit: seconds for all probes together.
            piped: whether the output came through our standard input: the shell above us then knows how it was written.
            follower: is told of each probe as it goes, and may call the others off.

        """
        self.python = python
        self.producers = producers
        self.local = local
        self.limit = limit
        self.piped = piped
        self.follower = follower
