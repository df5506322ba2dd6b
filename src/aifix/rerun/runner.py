"""Prepare the second run, make it, and read it together with the first."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aifix import injected
from aifix.rerun import instruments as known
from aifix.rerun.reading import Sharpened, together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from aifix.rerun.first import First
    from aifix.rerun.instruments import Instrument
    from aifix.supervise.plan import Outcome

FLIGHT = "nccl_trace_rank_"
MEMORY = "memory-"


@dataclass(frozen=True)
class Prepared:
    """A second run that is yet to be made."""

    command: tuple[str, ...]
    instruments: tuple[Instrument, ...]
    reasons: Mapping[str, Sequence[str]]
    """By the instrument's name, the diagnoses that ask for it."""
    folder: str
    changed: Mapping[str, str]
    """The environment variables that are set, without those of our own."""
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Again:
    """How the second run ended, and what both come to."""

    outcome: Outcome
    sharpened: Sharpened | None
    """None where it did not fail."""
    reached: bool = False
    """Whether a Python of the run started the instruments inside."""
    written: tuple[str, ...] = ()
    """Dumps that it left, by path."""
    events: tuple[dict[str, Any], ...] = field(default=())


def prepare(
    command: Sequence[str],
    first: First | None,
    *,
    folder: str,
    environ: Mapping[str, str] | None = None,
    add: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> Prepared:
    """Choose the instruments for a command.

    Args:
        command: the program and its arguments.
        first: what is known of the run that failed.
        folder: for what the instruments write.
        environ: the environment; our own by default.
        add: instruments to use besides, by name.
        leave_out: instruments not to use.

    """
    chosen, reasons = known.asked_for(first.ids[:3] if first is not None else (), first.lines if first is not None else ())
    chosen += [known.INSTRUMENTS[name] for name in add if name not in reasons]
    chosen = [instrument for instrument in chosen if instrument.name not in leave_out]
    base = dict(os.environ if environ is None else environ)
    changed = known.variables(chosen, folder)
    full = {**base, **changed}
    inside = [instrument for instrument in chosen if instrument.inside]
    if inside:
        full = injected.inside(full, folder, dict.fromkeys(instrument.inside for instrument in inside))
        full["AIFIX_INSTRUMENTS"] = ",".join(instrument.name for instrument in inside)
    changed = {name: value for name, value in changed.items() if base.get(name) != value}
    return Prepared(tuple(command), tuple(chosen), reasons, folder, changed, full)


def rerun(prepared: Prepared, first: First | None = None, *, say: Callable[[str], None] | None = None, **options: Any) -> Again:
    """Make the second run.

    Args:
        prepared: what to run, and how.
        first: what is known of the first run.
        say: takes what the supervisor has to say.
        options: those of `supervise.run`; `log` is where the output goes.

    Raises:
        OSError: the log cannot be written.

    """
    from aifix import api
    from aifix.supervise import run

    log = str(options.pop("log", "") or os.path.join(prepared.folder, "output.log"))
    outcome = run(prepared.command, log=log, environ=prepared.environ, say=say, **options)
    events = tuple(injected.Events(prepared.folder).read())
    written = tuple(os.path.join(prepared.folder, name) for name in sorted(os.listdir(prepared.folder)) if name.startswith((FLIGHT, MEMORY)))
    reached = any(event["kind"] == "alive" for event in events)
    sharpened = None
    if outcome.status and outcome.report is not None:
        sharpened = together(first, outcome.report, api.read_file(log), events, prepared.folder)
    return Again(outcome, sharpened, reached, written, events)


def readers(written: Sequence[str]) -> list[str]:
    """Name the commands that read what instruments wrote."""
    found = [f"aifix flight {os.path.dirname(file)}" for file in written if os.path.basename(file).startswith(FLIGHT)]
    found += [f"aifix snapshot {file}" for file in written if os.path.basename(file).startswith(MEMORY)]
    return list(dict.fromkeys(found))


def new_folder(path: str = "") -> str:
    """Make the folder of a run, or the one that is named.

    Raises:
        OSError: it cannot be made.

    """
    if not path:
        return tempfile.mkdtemp(prefix="aifix-rerun-")
    os.makedirs(path, exist_ok=True)
    return os.path.abspath(path)


def clear(folder: str) -> None:
    """Take the folder of a run away."""
    shutil.rmtree(folder, ignore_errors=True)
