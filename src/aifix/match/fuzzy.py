"""The fuzzy stage: lines that read like an error and that no signature took."""

from __future__ import annotations

from collections.abc import Sequence

from aifix.match.exact import Hit
from aifix.model import Document
from aifix.rulebase.base import Base


def find(document: Document, base: Base, hits: Sequence[Hit]) -> list[Hit]:
    """Compare error-like lines with the signatures' wordings."""
    return []
