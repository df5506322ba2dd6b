"""Python tracebacks: plain, chained, grouped, remote, boxed by rich, printed by IPython, cut off, interleaved.

A small machine walks over the lines of one stream (a rank, an actor, or the whole log) and collects frames until the line
that names the exception. Nothing here raises on odd input: a line that fits nowhere is passed over.
"""

from aifix.intake.tracebacks.chain import chains, location, uttered
from aifix.intake.tracebacks.owner import foremost, is_user
from aifix.intake.tracebacks.parsing import parse

__all__ = ["chains", "foremost", "is_user", "location", "parse", "uttered"]
