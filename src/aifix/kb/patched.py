"""Which fix of a failure was applied as a patch since: the likeliest answer to what ended it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aifix.kb.nouns import Incident


def applied_since(incident: Incident) -> str:
    """Give the id of the fix that `aifix fix --apply` wrote into a file below the incident's folder since; '' where there is none."""
    from aifix import api
    from aifix.fixes import backup

    names = {
        applied.name
        for applied in backup.listed()
        if applied.time >= incident.at and any(entry.path.startswith(incident.folder.rstrip("/") + "/") for entry in applied.files)
    }
    rules = api.rule_base() if names else {}
    if incident.diagnosis not in rules:
        return ""
    fixes = rules[incident.diagnosis].fixes
    return next((fix.id for fix in fixes if any(action.kind == "patch" and action.text in names for action in fix.do)), "")
