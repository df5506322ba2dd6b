"""Run a failed command again with the instruments that its diagnosis asks for, and read both runs together.

- instruments: what there is, and which diagnosis asks for which
- runner: the second run
- reading: the two runs together; loader: the dynamic loader's own words
"""

from __future__ import annotations

from aifix.rerun.runner import Again, Prepared, prepare, rerun

__all__ = ["Again", "Prepared", "prepare", "rerun"]
