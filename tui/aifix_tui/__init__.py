"""The terminal interface of aifix: a case with its proof in the log, fixes, the handbook of all rules, and the wizard.

from aifix_tui import run
run("train.log")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.probes.probing import Probing
    from aifix_tui.past import Past


def run(log: Path | None = None, *, name: str = "", probing: Probing | None = None, past: Past | None = None) -> int:
    """Open the interface on this terminal.

    Args:
        log: the log to open; without one it asks.
        name: what to call the log, where its path says nothing (the pipe).
        probing: how this machine is to be looked at, where it is known who wrote the log.
        past: what the log's run has to do with the history, where that is known.

    Returns:
        1 when the last log that was looked at had failed, else 0.

    """
    from aifix_tui.app import AifixApp

    app = AifixApp(log, name=name, probing=probing, past=past)
    app.run()
    return 1 if app.case is not None and app.case.failed else app.return_code or 0
