"""What can go wrong with the history; apart from the store, since naming the error must not import SQLite."""

from __future__ import annotations


class StoreError(Exception):
    """The history cannot be used; the text says which file, why, and what to do."""
