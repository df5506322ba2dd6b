from __future__ import annotations

from tests.histories import home, store

__all__ = ["home", "store"]
