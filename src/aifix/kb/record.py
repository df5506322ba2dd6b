"""From a report and the run that it is about to the incident that is stored."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from aifix import redact
from aifix.kb import fingerprint, surroundings
from aifix.kb.cleaner import Cleaner
from aifix.kb.keys import command_key, fresh
from aifix.kb.nouns import UNKNOWN, Cited, Environment, Incident, Noted, Offered, Probed
from aifix.probes import target as targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.kb.nouns import How
    from aifix.model import Diagnosis, Evidence, Origin, Report
    from aifix.probes.producer import Producer
    from aifix.probes.target import Target

LINES = 12
"""Lines of proof that are kept."""
WIDEST = 2000
"""Characters of a line, a command or a title that are kept."""
SECRET = 8
"""Characters from which on a variable's value is looked for in the texts: shorter ones may be words."""


class Run(NamedTuple):
    """The run that a report is about, as far as it is known.

    `arguments` and `folder` are its command and working folder, `status` what a shell would give, `seconds` its duration (0: unknown);
    `producers` are the processes that were seen, `local` tells whether it is known to have run on this machine.
    """

    how: How
    arguments: tuple[str, ...] = ()
    folder: str = ""
    status: int | None = None
    seconds: float = 0.0
    attempt: int = 1
    producers: Sequence[Producer] = ()
    python: str = ""
    local: bool = True
    environ: Mapping[str, str] | None = None


def incident(report: Report, run: Run, *, at: float | None = None) -> Incident:
    """Make an incident of a failure; nothing in it holds a secret that can be told as one.

    Args:
        report: what was found; its first diagnosis names the incident.
        run: the run.
        at: seconds since 1970; now by default.

    """
    lead = report.diagnoses[0] if report.diagnoses else None
    target = targets.find(python=run.python, producers=run.producers, files=_files(report), environ=run.environ, local=run.local)
    environ = target.environ if target.environ is not None else (run.environ if run.environ is not None else os.environ)
    evidence = evidence_of(report)
    cleaner = _cleaner(report, run, environ, evidence)
    location = lead.location if lead else report.unknown.location if report.unknown else None
    diagnosis, title = _named(report, lead)
    folder = run.folder or target.cwd
    return Incident(
        uid=fresh(),
        at=time.time() if at is None else at,
        host=host(),
        how=run.how,
        origin=_origin(run, target),
        attempt=run.attempt,
        command=cleaner.text(" ".join(map(_quoted, redact.redact_command(run.arguments))))[:WIDEST],
        command_key=command_key(run.arguments, folder) if run.arguments else "",
        folder=cleaner.text(folder),
        project=surroundings.project(folder),
        revision=surroundings.revision(folder),
        status=run.status,
        seconds=round(run.seconds, 3),
        environment=_environment(target, cleaner),
        diagnosis=diagnosis,
        title=cleaner.text(title)[:WIDEST],
        confidence=lead.confidence if lead else 0.0,
        fingerprint=fingerprint_of(report, folder),
        location=cleaner.text(f"{fingerprint.place(location, folder)}, line {location.line}") if location else "",
        facts={name: Noted(cleaner.text(fact.text), cleaner.value(fact.value), fact.unit) for name, fact in (lead.facts if lead else {}).items()},
        evidence=tuple(Cited(item.line, text[:WIDEST]) for item, text in zip(evidence, _cleaned(evidence, cleaner), strict=True)),
        probes=tuple(Probed(one.id, one.status, cleaner.text(one.summary)) for one in (lead.probes if lead else ())),
        fixes=tuple(Offered(fix.id, cleaner.text(fix.title), fix.score) for fix in (lead.fixes if lead else ())),
        also=tuple(dict.fromkeys(one.id for one in report.diagnoses[1:] if one.id != diagnosis)),
    )


def cleaner_of(report: Report, run: Run) -> Cleaner:
    """Give what knows the secrets of a failure's output."""
    target = targets.find(python=run.python, producers=run.producers, files=_files(report), environ=run.environ, local=run.local)
    environ = target.environ if target.environ is not None else (run.environ if run.environ is not None else os.environ)
    return _cleaner(report, run, environ, evidence_of(report))


def host() -> str:
    """Name this machine."""
    return surroundings.machine()[0] or "this machine"


def fingerprint_of(report: Report, folder: str) -> str:
    """Give the key under which a report's failure is met again."""
    lead = report.diagnoses[0] if report.diagnoses else None
    if lead is not None:
        return fingerprint.fingerprint(lead.id, lead.location, lead.facts, folder=folder)
    if report.unknown is None:
        return ""
    message = redact.redact(f"{report.unknown.kind}: {report.unknown.message}")
    return fingerprint.fingerprint(UNKNOWN, report.unknown.location, {}, folder=folder, message=message)


def _origin(run: Run, target: Target) -> Origin:
    """Tell whether the run was on this machine: its process was seen, or the log says."""
    program = os.path.basename(run.arguments[0]) if run.arguments else ""  # noqa: PTH119
    if program in targets.ELSEWHERE:
        return "elsewhere"
    if run.how == "run" or (target.pid is not None and run.local):
        return "here"
    return target.origin


def _files(report: Report) -> list[str]:
    places = [one.location for one in report.diagnoses if one.location] + ([report.unknown.location] if report.unknown else [])
    return [place.file for place in places if place]


def evidence_of(report: Report) -> list[Evidence]:
    """Give the lines of proof that are kept of a report."""
    found = report.diagnoses[0].evidence if report.diagnoses else report.unknown.evidence if report.unknown else ()
    return list(found[:LINES])


def _named(report: Report, lead: Diagnosis | None) -> tuple[str, str]:
    if lead is not None:
        return lead.id, lead.title
    if report.unknown is not None:
        return UNKNOWN, f"{report.unknown.kind}: {report.unknown.message}".strip(": ").partition("\n")[0]
    return UNKNOWN, "the run failed, and its output does not say why"


def _cleaner(report: Report, run: Run, environ: Mapping[str, str], evidence: list[Evidence]) -> Cleaner:
    """Learn the secrets of a failure: from its lines, its command line, and the variables whose names say that they hold one."""
    texts = [item.text for item in evidence] + [" ".join(run.arguments)]
    if report.unknown is not None:
        texts.append(report.unknown.message)
    cleaner = Cleaner(texts)
    hidden = (value for name, value in environ.items() if len(value) >= SECRET and surroundings.is_secret(name))
    cleaner.learn(value for value in hidden if not os.path.isabs(value))  # noqa: PTH117 - the path of a key is none
    shown = redact.redact_command(run.arguments)
    cleaner.learn(given.rpartition("=")[2] for given, seen in zip(run.arguments, shown, strict=True) if seen.endswith("<secret>"))
    return cleaner


def _cleaned(evidence: list[Evidence], cleaner: Cleaner) -> list[str]:
    return [cleaner.text(item.text) for item in evidence]


def _environment(target: Target, cleaner: Cleaner) -> Environment:
    found = surroundings.environment(target)
    return msgspec.structs.replace(
        found, interpreter=cleaner.text(found.interpreter), variables={name: cleaner.text(value) for name, value in found.variables.items()}
    )


def _quoted(argument: str) -> str:
    """Quote an argument as a shell wants it; `<secret>` stands in for one that cannot be run again anyway."""
    if argument and all(character.isalnum() or character in "@%+=:,./-_<>" for character in argument):
        return argument
    return "'" + argument.replace("'", "'\"'\"'") + "'"
