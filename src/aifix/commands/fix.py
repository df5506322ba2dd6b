"""`aifix fix`: show a fix of a log as a patch of the user's code, apply it on request, undo it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeVar

import click

from aifix.commands import options
from aifix.commands.remember import given_input, kept_output, memory_of
from aifix.commands.report import note, rule_base
from aifix.show.commands import LAST

if TYPE_CHECKING:
    from collections.abc import Callable

    from aifix.fixes.patch import Patch
    from aifix.fixes.proposal import Proposal
    from aifix.kb.kept import Kept
    from aifix.kb.memory import Memory
    from aifix.model import Diagnosis, Document, Fix, Report

_Change = TypeVar("_Change")


@click.command()
@click.argument("number", required=False, default="")
@click.argument("log", required=False, default="")
@click.option("--apply", "applied", is_flag=True, help="Write the patch; what was there is kept.")
@click.option("--undo", "undone", is_flag=True, help="Put back what the last patch changed.")
@click.option("--for", "other", metavar="ID", default="", help="A diagnosis other than the report's first.")
@click.option("--file", "files", metavar="PATH", multiple=True, help="The file to patch, where the log does not name it.")
@click.option("--force", is_flag=True, help="Apply although the file was saved after the log was made.")
@options.COLOUR
@options.history("Number the fixes as earlier failures order them, as the report does.")
@click.pass_context
def fix(
    context: click.Context,
    /,
    number: str,
    log: str,
    *,
    applied: bool,
    undone: bool,
    other: str,
    files: tuple[str, ...],
    force: bool,
    colour: bool | None,
    history: bool,
    kb: str,
) -> None:
    """Show fix N of a log as a patch of your code; apply it with --apply.

    NUMBER is the fix's number in the report, or its id; without it the fixes are listed. LOG is the log that was diagnosed ('-' reads
    standard input); without it the last failure that the history remembers is meant. Commands and settings are shown to copy: aifix runs
    none of them.
    """
    if undone:
        context.exit(_undo())
    number, log = _told(number, log)
    memory = memory_of({"history": history, "kb": kb}, again=True)
    kept = None
    piped = b"" if log else given_input()
    if not log and not piped:
        kept = kept_output(memory)
        if kept is None:
            note("no failure is remembered: name the log, as `aifix fix 1 train.log`, or pipe it in")
            context.exit(2)
    read = _read(log or ("-" if piped else LAST), piped, kept, memory)
    if read is None:
        context.exit(2)
    document, report = read
    diagnosis = _diagnosis(report, other)
    if diagnosis is None:
        context.exit(1 if report.failed else 0)
    if kept is not None:
        log, diagnosis = LAST, _as_shown(diagnosis, kept)
    page = _Page(report, colour)
    if not number:
        page.listing(diagnosis, log or "-", other)
        context.exit(0)
    chosen = _chosen(diagnosis, number)
    if chosen is None:
        context.exit(2)
    context.exit(_show(page, document, diagnosis, chosen, log or "-", kept=kept, files=files, applied=applied, force=force))


def _told(number: str, log: str) -> tuple[str, str]:
    """Tell the number from the log, where only one was given."""
    if number and not log and not number.isdigit() and (number == "-" or os.path.exists(number)):  # noqa: PTH110 - a path or an id
        number, log = "", number
    return number, log


def _as_shown(diagnosis: Diagnosis, kept: Kept) -> Diagnosis:
    """Number the fixes as the report of a remembered failure did, which knew what this machine answered."""
    import msgspec

    if diagnosis.id != kept.diagnosis:
        return diagnosis
    place = {fix: number for number, fix in enumerate(kept.fixes)}
    return msgspec.structs.replace(diagnosis, fixes=tuple(sorted(diagnosis.fixes, key=lambda fix: place.get(fix.id, len(place)))))


def _read(log: str, piped: bytes, kept: Kept | None, memory: Memory | None) -> tuple[Document, Report] | None:
    from aifix import api
    from aifix.intake import document as intake
    from aifix.intake import packed

    try:
        if kept is not None:
            document = intake.read(kept.blocks)
        else:
            document = intake.read(packed.unpacked(piped or sys.stdin.buffer.read())) if log == "-" else api.read_file(log)
    except OSError as error:
        note(f"{log} cannot be read: {error.strerror or error}")
        return None
    report = api.diagnose_document(document, base=rule_base(), memory=memory)  # with it the fixes have the numbers of the report
    if memory is not None:
        memory.tell()
    return document, report


def _diagnosis(report: Report, other: str) -> Diagnosis | None:
    """Give the diagnosis that is meant; says on standard error why there is none."""
    known = (*report.diagnoses, *report.hints)
    if other:
        found = next((one for one in known if one.id == other), None)
        if found is None:
            note(f"{other} is not diagnosed in it; there {'are' if len(known) > 1 else 'is'} {', '.join(one.id for one in known) or 'nothing'}")
        return found
    if not known:
        note("no rule of aifix knows this failure, so it has no fix for it" if report.failed else "nothing failed in it, so there is nothing to fix")
        return None
    return known[0]


def _chosen(diagnosis: Diagnosis, number: str) -> Fix | None:
    if number.isdigit():
        if 0 < int(number) <= len(diagnosis.fixes):
            return diagnosis.fixes[int(number) - 1]
        note(f"{diagnosis.id} has fixes 1 to {len(diagnosis.fixes)} here")
        return None
    found = next((one for one in diagnosis.fixes if one.id == number), None)
    if found is None:
        note(f"{diagnosis.id} has no fix {number!r} here; it has {', '.join(one.id for one in diagnosis.fixes)}")
    return found


def _show(
    page: _Page,
    document: Document,
    diagnosis: Diagnosis,
    chosen: Fix,
    log: str,
    *,
    kept: Kept | None,
    files: tuple[str, ...],
    applied: bool,
    force: bool,
) -> int:
    from aifix import api
    from aifix.fixes import backup, proposal
    from aifix.fixes.source import digest_of

    folder = kept.folder if kept is not None else "" if log == "-" else os.path.dirname(os.path.abspath(log))  # noqa: PTH100, PTH120
    beside = (folder,) if folder else ()
    made = kept.file if kept is not None else "" if log == "-" else log
    proposed = proposal.propose(document, diagnosis, chosen, api.rule_base(), files=files, folders=beside, log=made)
    page.proposal(diagnosis, proposed)
    patch = proposed.patch
    if patch is None:
        if applied:
            note("there is no patch to apply" + (f": {proposed.refusal}" if proposed.refusal else "; the fix is to be done by hand"))
        return 1 if applied or proposed.refusal else 0
    key = f"{digest_of(chr(10).join(line.text for line in document.lines).encode())}:{diagnosis.id}:{chosen.id}"
    digests = {change.path: digest_of(change.before.encode()) for change in patch.changes}
    moved = backup.changed_since_shown(key, digests) if applied else []
    backup.remember_shown(key, digests)
    if not applied:
        page.how_to_apply(patch, stale=proposed.stale)
        return 0
    if moved:
        note(f"{moved[0]} has changed since the diff was shown; above is the new one: say --apply again")
        return 1
    if proposed.stale and not force:
        note(f"{proposed.stale}: run it again, or say --force if you know the change")
        return 1
    done = _attempt("applied", lambda: backup.apply(patch.name, patch.changes))
    if done is None:
        return 1
    page.say(f"applied to {', '.join(entry.path for entry in done.files)}; undo with: aifix fix --undo")
    return 0


def _attempt(what: str, change: Callable[[], _Change]) -> _Change | None:
    """Change files; says on standard error why it could not be done."""
    from aifix.fixes.patch import Refused

    try:
        return change()
    except Refused as refusal:
        note(f"not {what}: {refusal}")
    except OSError as error:
        note(f"not {what}: {error.filename or ''}: {error.strerror or error}")
    return None


def _undo() -> int:
    from aifix.fixes import backup

    last = _attempt("undone", backup.undo)
    if last is None:
        return 1
    click.echo(f"undone: {last.name}; {', '.join(entry.path for entry in last.files)} read as before")
    return 0


class _Page:
    """Prints fixes and diffs on standard output."""

    def __init__(self, report: Report, colour: bool | None) -> None:  # noqa: FBT001 - click's tri-state
        from aifix.show.layout import Paint
        from aifix.show.stream import display_of

        self.report = report
        self.display = display_of(sys.stdout, colour=colour)
        self.paint = Paint(colour=self.display.colour)

    def say(self, *lines: str) -> None:
        from aifix.show.safe import fit_encoding

        for line in lines:
            click.echo(fit_encoding(line, self.display.encoding), color=self.display.colour)

    def prose(self, text: str, indent: str = "  ") -> None:
        from aifix.show.layout import paragraphs
        from aifix.show.safe import sanitise_block

        self.say(*paragraphs(sanitise_block(text), self.display.width, indent))

    def met(self, diagnosis: Diagnosis, fix: str = "") -> None:
        """Say when the failure was met before, and what ended it, as the report does; of one fix, where that was what ended it."""
        from aifix.show.layout import hang
        from aifix.show.safe import sanitise

        for met in (self.report.history or ()) if self.report.diagnoses[:1] == (diagnosis,) else ():
            if not fix or met.ended_by == fix:
                self.say(*[self.paint.warn(line) for line in hang(sanitise(met.text), self.display.width, "  ", "  ")])

    def listing(self, diagnosis: Diagnosis, log: str, other: str) -> None:
        from aifix import api
        from aifix.fixes.proposal import patches_of
        from aifix.show.commands import log_name
        from aifix.show.safe import sanitise

        base = api.rule_base()
        self.say(self.paint.strong(f"{sanitise(diagnosis.title)} ({diagnosis.id})"))
        self.met(diagnosis)
        for number, one in enumerate(diagnosis.fixes, start=1):
            own = "patch" if patches_of(base, diagnosis.id, one.id) else "code" if any(action.kind == "code" for action in one.do) else ""
            kinds = [kind for kind in ("command", "env", "config") if any(action.kind == kind for action in one.do)]
            self.say(f"  {number}. {sanitise(one.title)}  {self.paint.dim(', '.join(filter(None, [one.id, own, *kinds])))}")
        if diagnosis.fixes:
            self.say(self.paint.dim(" ".join(filter(None, ["show one with: aifix fix 1", log_name(log), f"--for {other}" if other else ""]))))

    def proposal(self, diagnosis: Diagnosis, proposed: Proposal) -> None:
        from aifix.fixes.difference import unified
        from aifix.fixes.shell import exports
        from aifix.show.safe import sanitise, sanitise_block

        self.say(self.paint.strong(f"{sanitise(proposed.fix.title)} ({diagnosis.id}, {proposed.fix.id})"))
        self.met(diagnosis, proposed.fix.id)
        if proposed.fix.why:
            self.prose(proposed.fix.why)
        if proposed.patch is not None:
            self.say("", *unified(proposed.patch.changes, self.paint), "")
            for remark in proposed.patch.notes:
                self.prose(remark)
        elif proposed.refusal:
            self.prose(f"No patch: {proposed.refusal}.")
        for action in proposed.actions:
            if action.kind == "note":
                self.prose(action.text)
                continue
            text = exports(action.text) if action.kind == "env" else action.text
            heads = {"command": "to run yourself", "env": "in the shell, before the run", "config": "in the configuration", "code": "in the code"}
            self.say(self.paint.dim(f"  {heads[action.kind]}:"))
            self.say(*[f"    {self.paint.code(line)}" if line.strip() else "" for line in sanitise_block(text.strip(chr(10))).split("\n")])

    def how_to_apply(self, patch: Patch, *, stale: str) -> None:
        names = ", ".join(dict.fromkeys(os.path.basename(change.path) for change in patch.changes))  # noqa: PTH119
        if stale:
            self.say(self.paint.warn(f"  {stale}"))
        self.say(self.paint.dim(f"  nothing is written yet: add --apply to change {names}"))
