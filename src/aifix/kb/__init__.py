"""What aifix remembers, and the articles that people read.

The history, for programs:

    from aifix import kb
    with kb.open_store() as store:                        # the user's own; kb.open_store("team.db") another
        for incident in kb.recent(store, 20): ...         # newest first, without facts, evidence and fixes
        kb.find(store, "nccl timeout node7")              # the same, of those that hold all words
        incident = kb.get(store, 12)                      # one with everything
        kb.record_outcome(store, incident, "smaller-batch", worked=True, note="batch 16")
        kb.statistics(store)                              # what fails most, where, what it cost
    memory = kb.Memory(say=print)                         # for aifix.diagnose(..., memory=memory): learned order, "you met this"

Every function raises `kb.StoreError`, whose text is one line for a person, when the file cannot be used. Names are imported when they are used:
the pipe pays for none of them before something failed.
"""

TYPE_CHECKING = False  # see aifix/__init__.py
if TYPE_CHECKING:
    from typing import Any

    from aifix.kb.answers import OWN, record_outcome, unanswered
    from aifix.kb.errors import StoreError
    from aifix.kb.exchange import export, merge
    from aifix.kb.figures import Statistics, statistics
    from aifix.kb.incidents import add, alike, find, get, outcomes, recent, remove, remove_all
    from aifix.kb.memory import Memory
    from aifix.kb.nouns import Environment, Incident, Outcome
    from aifix.kb.store import Store, open_for_reading, open_store

_HOMES = {
    "answers": ("OWN", "record_outcome", "unanswered"),
    "exchange": ("export", "merge"),
    "incidents": ("add", "alike", "find", "get", "outcomes", "recent", "remove", "remove_all"),
    "memory": ("Memory",),
    "nouns": ("Environment", "Incident", "Outcome"),
    "figures": ("Statistics", "statistics"),
    "errors": ("StoreError",),
    "store": ("Store", "open_for_reading", "open_store"),
}
__all__ = [
    "OWN", "Environment", "Incident", "Memory", "Outcome", "Statistics", "Store", "StoreError", "add", "alike", "export", "find",
    "get", "merge", "open_for_reading", "open_store", "outcomes", "recent", "record_outcome", "remove", "remove_all", "statistics", "unanswered",
]  # fmt: skip


def __getattr__(name: str) -> "Any":
    """Import a name of the history late (PEP 562)."""
    for module, names in _HOMES.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(f"aifix.kb.{module}"), name)
    message = f"module 'aifix.kb' has no attribute {name!r}"
    raise AttributeError(message)
