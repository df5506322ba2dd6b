"""When a failure was met before, and what ended it, in one sentence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from aifix.kb import incidents, record, surroundings
from aifix.kb.answers import OWN
from aifix.model import Met

if TYPE_CHECKING:
    from collections.abc import Collection

    from aifix.kb.nouns import Incident, Outcome
    from aifix.kb.store import Store
    from aifix.model import Report

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")


def met(store: Store, report: Report, *, folder: str = "", again: bool = False, before: float | None = None, own: Collection[int] = ()) -> Met | None:
    """Look up a report's first diagnosis (or its unknown failure).

    The same failure at the same place counts; where there is none, another place of the same project counts if something ended it there.

    Args:
        store: the history.
        report: what was found.
        folder: the working folder of the failed run.
        again: the same log may have been read before: an incident with the very same lines is not counted.
        before: incidents of that time and later are not counted, in seconds since 1970; now by default.
        own: numbers of incidents that this very run wrote; they are not counted whatever their time.

    """
    lead = report.diagnoses[0] if report.diagnoses else None
    if lead is None and report.unknown is None:
        return None
    now = time.time() if before is None else before
    same = [one for one in incidents.alike(store, record.fingerprint_of(report, folder)) if is_earlier(one, now, own)]
    if again and same and _cites_the_same(store, same[0], report):
        same = same[1:]
    if same:
        return _met(store, report, same, now=now)
    if lead is None:
        return None
    project = surroundings.project(folder)
    row = store.rows(
        "SELECT incident, fix FROM outcomes WHERE diagnosis = ? AND project = ? AND worked = 1 ORDER BY at DESC LIMIT 1", (lead.id, project)
    )
    found = incidents.by_uid(store, row[0]["incident"]) if row else None
    return _met(store, report, [found], now=now, elsewhere=True) if found is not None else None


def is_earlier(incident: Incident, since: float, own: Collection[int] = ()) -> bool:
    """Tell whether an incident was there before a run began, though a clock may have been set back since it was written.

    Args:
        incident: one of the history.
        since: when the run began, in seconds since 1970.
        own: numbers of incidents that the run wrote itself.

    """
    return incident.number not in own and (incident.at < since or incident.at > time.time())


def _cites_the_same(store: Store, incident: Incident, report: Report) -> bool:
    whole = incidents.get(store, incident.number)
    lines = [item.line for item in record.evidence_of(report)]
    return whole is not None and [item.line for item in whole.evidence] == lines


def _met(store: Store, report: Report, found: list[Incident], *, now: float | None, elsewhere: bool = False) -> Met:
    last = found[0]
    tried = [one for incident in found for one in incidents.outcomes(store, incident.uid)]
    tried.sort(key=lambda one: one.at)
    worked = next((one for one in reversed(tried) if one.worked), None)
    ending = _ending(store, report, found, tried, worked)
    this = "the same failure elsewhere in this project" if elsewhere else "this"
    often = f"{len(found)} times, last " if len(found) > 1 else ""
    return Met(
        diagnosis=last.diagnosis,
        incident=last.number,
        at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(last.at)),
        host=last.host,
        here=_here(last),
        times=len(found),
        ended_by=worked.fix if worked else None,
        text=f"You met {this} {often}{day(last.at, now)}{_where(last)}{ending}.",
    )


def _here(incident: Incident) -> bool:
    return incident.host == record.host() and incident.origin == "here"


def _where(incident: Incident) -> str:
    if _here(incident):
        return " on this machine"
    return f" on {incident.host}" if incident.origin == "here" and incident.host else ""


def _ending(store: Store, report: Report, found: list[Incident], tried: list[Outcome], worked: Outcome | None) -> str:
    if worked is not None:
        return f"; “{_title(store, report, found, worked.fix, tried[::-1])}” ended it"
    failed = list(dict.fromkeys(one.fix for one in tried if not one.worked))
    ended = next((one for one in found if one.ended_at is not None and one.ended), None)
    said = ""
    if failed:
        said = "; " + " and ".join(f"“{_title(store, report, found, fix, tried)}”" for fix in failed[:2]) + " did not help"
    if ended is not None:
        said += "; it went away after " + ", ".join(ended.ended[:3])
    return said


def _title(store: Store, report: Report, found: list[Incident], fix: str, tried: list[Outcome]) -> str:
    own = next((one.note for one in tried if one.fix == fix == OWN and one.note), "")
    if own:
        return own
    offered = {one.id: one.title for diagnosis in report.diagnoses[:1] for one in diagnosis.fixes}
    if fix in offered:
        return offered[fix]
    for incident in found:
        whole = incidents.get(store, incident.number)
        for one in whole.fixes if whole else ():
            if one.id == fix:
                return one.title
    return fix


def day(at: float, now: float | None = None) -> str:
    """Say when, as briefly as is clear: 'today at 14:02', 'on 12 May', 'on 12 May 2024'."""
    then, today = time.localtime(at), time.localtime(time.time() if now is None else now)
    if then[:3] == today[:3]:
        return f"today at {then.tm_hour:02}:{then.tm_min:02}"
    year = f" {then.tm_year}" if then.tm_year != today.tm_year else ""
    return f"on {then.tm_mday} {MONTHS[then.tm_mon - 1]}{year}"
