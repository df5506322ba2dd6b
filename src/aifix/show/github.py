"""Annotations of GitHub Actions: one workflow command a diagnosis, placed at the user's line of code where it is known."""

from __future__ import annotations

import os
from pathlib import PurePath
from typing import TYPE_CHECKING

from aifix.show.layout import name_ranks, sure
from aifix.show.safe import sanitise, sanitise_block

if TYPE_CHECKING:
    from aifix.model import Diagnosis, Evidence, Location, Report

COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def annotate(report: Report, *, workspace: str | None = None) -> str:
    """Write the report as workflow commands.

    Args:
        report: What to say.
        workspace: The checkout that file names are made relative to; by default GITHUB_WORKSPACE.
    """
    if workspace is None:
        workspace = os.environ.get("GITHUB_WORKSPACE", "")
    ids = {diagnosis.id for diagnosis in report.diagnoses}
    lines = []
    for diagnosis in report.diagnoses:
        follows = diagnosis.caused_by in ids and diagnosis.caused_by != diagnosis.id
        lines.append(_command("notice" if follows else COMMANDS[diagnosis.severity], diagnosis, workspace))
    if report.unknown is not None:
        unknown = report.unknown
        title = sanitise(f"{unknown.kind}: {unknown.message}" if unknown.kind else unknown.message)
        text = "\n".join(["aifix knows no rule for this failure.", *_proof(unknown.evidence)])
        lines.append(_format("error", unknown.location, title, text, workspace))
    elif report.failed and not report.diagnoses:
        lines.append(_format("error", None, "The run failed", "aifix found no error text in its output.", workspace))
    lines += [_command("notice", hint, workspace) for hint in report.hints]
    return "".join(f"{line}\n" for line in lines)


def _command(command: str, diagnosis: Diagnosis, workspace: str) -> str:
    about = [diagnosis.id, sure(diagnosis.confidence), name_ranks(diagnosis.ranks)]
    parts = [", ".join(part for part in about if part)]
    if diagnosis.caused_by:
        parts.append(f"A consequence of {diagnosis.caused_by}.")
    parts += _proof(diagnosis.evidence)
    if diagnosis.explanation.strip():
        parts += ["", diagnosis.explanation.strip()]
    for number, fix in enumerate(diagnosis.fixes, start=1):
        parts += [""] if number == 1 else []
        parts.append(f"{number}. {fix.title}")
        parts += [f"   {line}" for action in fix.do if action.kind != "patch" for line in action.text.strip("\n").split("\n")]
    return _format(command, diagnosis.location, diagnosis.title or diagnosis.id, "\n".join(parts), workspace)


def _proof(evidence: tuple[Evidence, ...]) -> list[str]:
    return [f"line {item.line}: {item.text}" for item in evidence]


def _format(command: str, location: Location | None, title: str, text: str, workspace: str) -> str:
    properties = []
    if location is not None:
        properties += [f"file={_property(_relative(location.file, workspace))}", f"line={location.line}"]
    properties.append(f"title={_property(sanitise(title))}")
    return f"::{command} {','.join(properties)}::{_data(sanitise_block(text))}"


def _relative(name: str, workspace: str) -> str:
    if workspace:
        try:
            return PurePath(name).relative_to(workspace).as_posix()
        except ValueError:
            pass
    return name


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(sanitise(text)).replace(":", "%3A").replace(",", "%2C")
