"""Rank a rule's fixes for one case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.model import Action, Fix, FixTemplate, Rule
from aifix.reason import templates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.reason.experience import Chance
    from aifix.reason.scope import Scope

EFFORT = {"low": 1.0, "medium": 0.85, "high": 0.65}
"""What a fix of that effort is worth beside one of low effort and the same chance."""
RISKY = 0.85
"""Factor of a fix that may change results; `speed`, `environment` and `none` leave them as they are."""
INSTALLERS = ("pip", "npm", "npx")
"""Programs whose commands other package managers spell differently."""
MATCHED = 1.15
"""Factor of a fix whose own condition holds here: it was written for this very case."""


def rank(rule: Rule, scope: Scope, learned: Mapping[str, Chance] | None = None) -> tuple[Fix, ...]:
    """Give the fixes that apply, best first, with the log's values filled in.

    A fix whose condition fails, or whose title needs a value that the log does not give, is left out.

    Args:
        rule: the diagnosis' rule.
        scope: the case.
        learned: the chances of fixes that were tried before, by id; they stand in for the rule's priors.

    """
    found: list[tuple[float, Fix]] = []
    for template in rule.fixes:
        if template.when and not scope.holds(template.when):
            continue
        chance = learned[template.id].value if learned and template.id in learned else template.prior
        worth = value(template, given(template, chance, scope))
        fix = _fill(template, scope, worth)
        if fix is not None:
            found.append((worth, fix))
    found.sort(key=lambda item: -item[0])
    return tuple(fix for _, fix in found)


def given(template: FixTemplate, chance: float, scope: Scope) -> float:
    """Move a chance by the conditions that hold here, each by its factor on the odds: what the probes found, for the most part."""
    for item in template.given:
        if scope.holds(item.when):
            odds = min(chance, 0.99) / (1 - min(chance, 0.99)) * item.odds
            chance = odds / (1 + odds)
    return chance


def value(template: FixTemplate, chance: float) -> float:
    """Weigh the chance of a fix against its effort and risk."""
    return chance * EFFORT[template.effort] * (RISKY if _risky(template.risk) else 1.0) * (MATCHED if template.when else 1.0)


def _fill(template: FixTemplate, scope: Scope, worth: float) -> Fix | None:
    try:
        title = templates.line(template.title, scope.show)
    except templates.MissingError:
        return None
    actions = []
    for action in template.do:
        if action.kind == "patch" and not scope.patchable(action.text):
            continue
        try:
            actions.append(_spelled(Action(action.kind, templates.fill(action.text, scope.show)), scope))
        except templates.MissingError:
            continue
    if not actions and template.do:
        return None
    return Fix(
        template.id,
        title,
        round(min(worth, 0.99), 3),
        template.effort,
        template.risk,
        tuple(actions),
        templates.prose(template.why, scope.show) if template.why else "",
    )


def _spelled(action: Action, scope: Scope) -> Action:
    """Write an install command, or an override of package.json, for the package manager in use."""
    if action.kind == "config" and '"overrides":' in action.text:
        manager = scope.manager()
        return Action(action.kind, manager.configure(action.text)) if manager is not None else action
    if action.kind != "command" or not any(word in action.text for word in INSTALLERS):
        return action
    manager = scope.manager()
    return Action(action.kind, manager.translate(action.text)) if manager is not None else action


def _risky(risk: str) -> bool:
    return risk.split(":", maxsplit=1)[0].split(" ", maxsplit=1)[0].strip(",.;").lower() not in {
        "none",
        "speed",
        "environment",
        "disk",
        "memory",
        "",
    }
