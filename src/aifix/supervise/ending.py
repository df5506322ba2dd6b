"""How a run ended, in words, and the report on it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import msgspec

from aifix.model import Evidence, Report, Unknown
from aifix.supervise.words import duration

if TYPE_CHECKING:
    from aifix.kb.memory import Memory
    from aifix.match.keeper import Keeper
    from aifix.probes.probing import Probing
    from aifix.rulebase.base import Base

INTERRUPTED = "host.interrupted"
LAST_LINES = 3
"""Of an output in which nothing reads like an error, the lines that are shown."""
_SHELL_WORDS = {
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGILL": "Illegal instruction",
}
"""What a shell prints of these ends, and rules know; the supervisor is the shell here."""


def signal_name(number: int) -> str:
    """Name a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def explained(status: int, number: int, base: Base) -> tuple[str, str]:
    """Explain an exit status from the catalogues: (what it is, what it means).

    Args:
        status: as a shell gives it.
        number: the signal that ended the process; 0 where it ended by itself.
        base: the rules, which hold the catalogues.

    """
    codes = base.catalogues.get("exit_code", {}).get("entries", base.catalogues.get("exit_code", {}))
    signals = base.catalogues.get("signal", {}).get("entries", base.catalogues.get("signal", {}))
    if number:
        entry = signals.get(str(number)) or {}
        return f"killed by {entry.get('name') or signal_name(number)} (exit status {status})", str(entry.get("meaning", ""))
    entry = codes.get(str(status)) or {}
    meaning = str(entry.get("meaning", ""))
    name = str(entry.get("name", ""))
    if name.startswith("SIG"):
        meaning = f"a process below it ended by {name}: {meaning}"
    return f"exit status {status}", meaning or "the program's own number; its documentation or source says what it means"


def judge(
    keeper: Keeper,
    status: int,
    *,
    number: int = 0,
    source: str = "-",
    before: int = 0,
    probing: Probing | None = None,
    oom_killed: bool = False,
    stalled: float = 0.0,
    memory: Memory | None = None,
) -> Report:
    """Diagnose a run that failed.

    Args:
        keeper: what it printed.
        status: its exit status.
        number: the signal that ended it.
        source: the log file, where there is one.
        before: lines of earlier attempts in that file.
        probing: how to look at this machine; None: not at all.
        oom_killed: whether the kernel's out-of-memory killer was at work here meanwhile.
        stalled: after how many seconds of silence we killed it; 0: we did not.
        memory: the history of incidents.

    """
    from aifix import api

    base = api.rule_base()
    blocks = [(line + before, data) for line, data in keeper.blocks()]
    if not any(data for _, data in blocks):
        blocks = []
    report = api.diagnose_blocks(blocks, source=source, genre="log", base=base, probe=probing, memory=memory)
    ended_by_us = stalled and all(one.id == INTERRUPTED or one.symptom for one in report.diagnoses)  # what it said of our signal tells nothing
    if report.failed and not (ended_by_us and report.diagnoses):
        return report
    what, meaning = explained(status, number, base)
    if stalled:
        what, meaning = "no output", f"nothing was printed for {duration(stalled)}, and --kill-stalled ended it; {what}"
    else:
        shell = "Killed" if oom_killed and number == signal.SIGKILL.value else _SHELL_WORDS.get(signal_name(number), "") if number else ""
        if shell:
            # The rules know this end by the shell's word for it. The line is ours, and says so.
            said = f"aifix run: the command ended by signal {number}: {shell}\n".encode()
            last = keeper.lines() + before
            blocks = [*blocks[:-1], (blocks[-1][0], _ended(blocks[-1][1]) + said)] if blocks else [(last + 1, said)]
            report = api.diagnose_blocks(blocks, source=source, genre="log", base=base, probe=probing, memory=memory)
            if report.diagnoses:
                return report
    bare = Report(
        source=source,
        failed=True,
        unknown=Unknown(what, meaning, () if report.diagnoses else _last_lines(keeper, before)),
        hints=tuple(msgspec.structs.replace(hint) for hint in report.hints),
    )
    return bare if memory is None else memory.recall(bare)


def _ended(data: bytes) -> bytes:
    return data if not data or data.endswith(b"\n") else data + b"\n"


def _last_lines(keeper: Keeper, before: int) -> tuple[Evidence, ...]:
    """Give the last lines that were printed."""
    from aifix.intake import document as intake

    blocks = keeper.blocks()[-1:]
    if not blocks or not blocks[0][1]:
        return ()
    first, data = blocks[0]
    tail = data[-(64 << 10) :]
    first += data.count(b"\n", 0, len(data) - len(tail))
    lines = [line for line in intake.read([(first + before, tail)], genre="log").lines if line.text.strip()]
    return tuple(Evidence(line.number, line.text[:400]) for line in lines[-LAST_LINES:])
