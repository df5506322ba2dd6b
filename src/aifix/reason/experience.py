"""What earlier incidents taught about a rule's fixes, as the reasoning needs it; where it is kept is the knowledge base's business."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.model import Rule


class Chance(NamedTuple):
    """The chance that a fix ends a failure, and how it came about, in words."""

    value: float
    told: str


class Experience(Protocol):
    """Gives what is known of a rule's fixes beyond the rule."""

    def chances(self, rule: Rule) -> Mapping[str, Chance]:
        """Give the chances of those fixes that were tried before, by id."""
