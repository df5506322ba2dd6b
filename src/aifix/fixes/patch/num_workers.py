"""`num_workers=0`: loading in the main process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.fixes.patch import Refused, loaders, loops
from aifix.fixes.patch.edit import code_of, keyword

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

NEEDS_WORKERS = ("persistent_workers", "prefetch_factor", "multiprocessing_context", "timeout", "worker_init_fn")
"""Arguments that a DataLoader refuses, or has no use for, without workers."""


def patch(code: Code, case: Case) -> list[str]:
    """Set num_workers to 0, and take out what needs workers."""
    arguments = loops.training_arguments(code)
    for call in arguments:
        code.without(call, "dataloader_prefetch_factor", "dataloader_persistent_workers")
        code.argument(call, "dataloader_num_workers", "0")
    if arguments:
        return []
    chosen = []
    for call in loaders.meant(code, case):
        known = keyword(call, "num_workers")
        if known is None and loaders.given(call, "num_workers", 5) is not None:
            raise Refused("num_workers is given by position: set the sixth argument of DataLoader to 0")
        if known is not None and code_of(known.value) != "0":
            chosen.append(call)
    if not chosen:
        raise Refused("its DataLoader has no workers already")
    for call in chosen:
        code.without(call, *NEEDS_WORKERS)
        code.argument(call, "num_workers", "0")
    return ["Loading becomes slower. Where it now fails with another message, that is the true one."]
