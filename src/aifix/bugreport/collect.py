"""What a bug report says: collected, and cleaned of secrets and of whose machine it is, before anything else sees it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from aifix import __version__, redact
from aifix.bugreport.excerpt import excerpt
from aifix.kb import fingerprint, surroundings
from aifix.kb.cleaner import Cleaner
from aifix.kb.nouns import Environment, Probed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.kb.nouns import Incident
    from aifix.model import Document, Report
    from aifix.probes.machine import Machine
    from aifix.probes.target import Target

LIMIT = 1.0
"""Seconds for all passive probes."""
ACTIVE = 120.0
"""Seconds for `torch.utils.collect_env`."""
LOCKED = 40
"""Packages of a lock file that are named."""


class Bug(msgspec.Struct, frozen=True, kw_only=True):
    """A bug report's contents, clean. `report` is `aifix.report/1` as plain data, where a log was diagnosed."""

    title: str
    diagnosis: str
    sure: float
    explanation: str
    place: str
    log: str
    total: int
    command: str = ""
    answers: tuple[Probed, ...] = ()
    environment: Environment = Environment()
    found: str = ""
    """How the interpreter was found."""
    elsewhere: bool = False
    """Whether the log may come from another machine than the environment."""
    locked: tuple[str, ...] = ()
    collected: str = ""
    fixes: tuple[str, ...] = ()
    report: dict[str, Any] | None = None
    version: str = __version__
    then: str = ""
    """When it was, where the report is about an incident of the history."""


def collect(
    document: Document, report: Report, target: Target, *, active: bool = False, person: redact.Person | None = None, folder: str = ""
) -> Bug:
    """Collect a report about a log.

    Args:
        document: the log.
        report: its diagnosis.
        target: the interpreter of the failed run.
        active: let the target run `torch.utils.collect_env`, which imports torch.
        person: whose names are taken out; this machine's user by default.
        folder: the working folder of the run; the process' own by default.

    """
    person = _with_hosts(redact.person_here() if person is None else person, report)
    environ = target.environ if target.environ is not None else os.environ
    cleaner = _cleaner("\n".join(line.text for line in document.lines), environ, person)
    lead = report.diagnoses[0] if report.diagnoses else None
    unknown = report.unknown
    location = lead.location if lead else unknown.location if unknown else None
    machine = _machine(target)
    return Bug(
        title=cleaner.text(
            lead.title if lead else f"{unknown.kind}: {unknown.message}".strip(": ").partition("\n")[0] if unknown else "the run failed"
        ),
        diagnosis=lead.id if lead else "",
        sure=lead.confidence if lead else 0.0,
        explanation=cleaner.text(lead.explanation.strip()) if lead else "",
        place=cleaner.text(f"{fingerprint.place(location, folder)}, line {location.line}") if location else "",
        log=cleaner.text(excerpt(document, report)),
        total=document.total_lines or len(document.lines),
        command=cleaner.text(" ".join(redact.redact_command(target.argv))),
        answers=tuple(Probed(one.id, one.status, _without_host(cleaner.text(one.summary))) for one in _answers(machine)),
        environment=_clean(surroundings.environment(target), cleaner),
        found=cleaner.text(target.how),
        elsewhere=target.origin != "here",
        locked=tuple(map(cleaner.text, locked(report, folder or os.curdir))),
        collected=cleaner.text(_collect_env(machine)) if active else "",
        fixes=tuple(cleaner.text(fix.title) for fix in lead.fixes) if lead else (),
        report=_plain(report, cleaner),
    )


def remembered(incident: Incident, *, person: redact.Person | None = None) -> Bug:
    """Make a report of an incident of the history: its own lines, answers and environment, as they were then."""
    from aifix.kb.exchange import anonymous
    from aifix.kb.recall import day

    person = redact.person_here() if person is None else person
    known = anonymous(incident, person._replace(hosts=(*person.hosts, incident.host)))
    return Bug(
        title=known.title,
        diagnosis="" if known.diagnosis == "unknown" else known.diagnosis,
        sure=known.confidence,
        explanation="",
        place=known.location,
        log="\n".join(item.text for item in known.evidence),
        total=len(known.evidence),
        command=known.command,
        answers=known.probes,
        environment=known.environment,
        fixes=tuple(fix.title for fix in known.fixes),
        then=day(known.at),
    )


def locked(report: Report, folder: str) -> list[str]:
    """Give what the lock file of a JavaScript project says of the packages that a report names."""
    if not any(one.id.startswith("npm.") for one in report.diagnoses):
        return []
    from aifix.probes import node_lock

    try:
        lock = node_lock.read(folder)
    except (OSError, ValueError):
        return []
    if lock is None:
        return []
    text = "\n".join(
        [item.text for one in report.diagnoses for item in one.evidence] + [fact.text for one in report.diagnoses for fact in one.facts.values()]
    )
    named = {name: versions for name, versions in sorted(lock.versions.items()) if name in text}
    return [f"{name} {', '.join(sorted(versions))}" for name, versions in named.items()][:LOCKED]


# ---------------------------------------------------------------- parts


def _cleaner(text: str, environ: Mapping[str, str], person: redact.Person) -> Cleaner:
    cleaner = Cleaner([text], leaving=person)
    hidden = (value for name, value in environ.items() if len(value) > 7 and surroundings.is_secret(name))
    cleaner.learn(value for value in hidden if not os.path.isabs(value))  # noqa: PTH117
    return cleaner


def _with_hosts(person: redact.Person, report: Report) -> redact.Person:
    """Add the machines that the log names."""
    facts = (fact for one in report.diagnoses for name, fact in one.facts.items() if "host" in name.split("_"))
    return person._replace(hosts=(*person.hosts, *dict.fromkeys(fact.text for fact in facts)))


def _without_host(text: str) -> str:
    """Take this machine's name out of what a probe says, however short it is: a probe means it."""
    name = surroundings.machine()[0]
    return re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", "<host>", text) if name else text


def _machine(target: Target) -> Machine:
    from aifix.probes.machine import Machine

    def catalogues() -> dict[str, dict[str, Any]]:
        from aifix import api

        return api.rule_base().catalogues

    return Machine(target, catalogues=catalogues)


def _answers(machine: Machine) -> list[Probed]:
    """Let this machine answer all passive probes; those that cannot look here say nothing."""
    from aifix.probes import registry, run
    from aifix.probes.finding import Case

    chosen = registry.select(())
    findings = run.passive([(one, Case(machine)) for one in chosen], LIMIT)
    told: dict[str, str] = {}
    found = []
    for one, finding in zip(chosen, findings, strict=True):
        if told.setdefault(finding.summary, one.id) == one.id:  # "no driver" is said once
            found.append(Probed(one.id, finding.status, finding.summary))
    return found


def _clean(environment: Environment, cleaner: Cleaner) -> Environment:
    variables = {name: cleaner.text(value) for name, value in environment.variables.items()}
    return msgspec.structs.replace(environment, interpreter=cleaner.text(environment.interpreter), variables=variables)


def _plain(report: Report, cleaner: Cleaner) -> dict[str, Any]:
    from aifix.show import json

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return cleaner.text(value)
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        return value

    found: dict[str, Any] = clean(msgspec.json.decode(json.dump(report)))
    return found


def _collect_env(machine: Machine) -> str:
    """Run torch's own collector in the target interpreter."""
    import subprocess

    if not machine.target.known:
        return f"not run: {machine.target.how}"
    try:
        done = subprocess.run(
            [machine.target.python, "-m", "torch.utils.collect_env"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ACTIVE,
            check=False,
            cwd=machine.cwd if os.path.isdir(machine.cwd) else None,  # noqa: PTH112
            env=dict(machine.environ),
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"not run: {error}"
    text = done.stdout.decode("utf-8", "replace").strip()
    return text or f"torch.utils.collect_env ended with {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[-400:]}"
