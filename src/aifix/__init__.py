"""aifix: what killed this run, the lines that prove it, and the fixes in the order in which to try them.

    import aifix
    report = aifix.diagnose(path)            # or diagnose_text(text)

Nothing is imported until it is asked for: the pipe's healthy path starts this package too.
"""

TYPE_CHECKING = False  # neither `typing` nor `__future__`: importing them takes longer than all the rest of the healthy pipe
if TYPE_CHECKING:
    from typing import Any

    from aifix.api import diagnose, diagnose_text
    from aifix.flight_recorder import flight
    from aifix.memory_snapshot import snapshot
    from aifix.model import Report
    from aifix.probes.measure import model_memory
    from aifix.ranklogs.report import ranks
    from aifix.watching.here import watch

__version__ = "0.1.0"
__all__ = ["Report", "__version__", "diagnose", "diagnose_text", "flight", "model_memory", "ranks", "snapshot", "watch"]


def __dir__() -> "list[str]":
    """Name the public API, which is imported late."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> "Any":
    """Import the public API late (PEP 562)."""
    if name in {"diagnose", "diagnose_text"}:
        from aifix import api

        return getattr(api, name)
    if name == "flight":
        from aifix.flight_recorder import flight

        return flight
    if name == "snapshot":
        from aifix.memory_snapshot import snapshot

        return snapshot
    if name == "ranks":
        from aifix.ranklogs.report import ranks

        return ranks
    if name == "watch":
        from aifix.watching.here import watch

        return watch
    if name == "model_memory":
        from aifix.probes.measure import model_memory

        return model_memory
    if name == "Report":
        from aifix.model import Report

        return Report
    message = f"module 'aifix' has no attribute {name!r}"
    raise AttributeError(message)
