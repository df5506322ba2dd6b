"""npm's commands as yarn (1 and later) and pnpm spell them."""

from __future__ import annotations

import json
import re
from typing import Any

_OVERRIDES = re.compile(r'(?:^//[^\n]*\n)?"overrides": (?=\{)', re.MULTILINE)

VERBS = {
    "pnpm": {"install": "pnpm install", "i": "pnpm install", "ci": "pnpm install --frozen-lockfile", "ls": "pnpm why", "list": "pnpm why",
             "explain": "pnpm why", "why": "pnpm why", "dedupe": "pnpm dedupe", "uninstall": "pnpm remove", "remove": "pnpm remove",
             "update": "pnpm update", "rebuild": "pnpm rebuild", "run": "pnpm run", "outdated": "pnpm outdated", "view": "pnpm view",
             "audit": "pnpm audit", "cache": "pnpm store prune", "config": "pnpm config", "test": "pnpm test", "exec": "pnpm exec"},
    "yarn": {"install": "yarn install", "i": "yarn install", "ci": "yarn install --frozen-lockfile", "ls": "yarn why", "list": "yarn why",
             "explain": "yarn why", "why": "yarn why", "dedupe": "npx yarn-deduplicate && yarn install", "uninstall": "yarn remove",
             "remove": "yarn remove", "update": "yarn upgrade", "rebuild": "yarn install --force", "run": "yarn run", "outdated": "yarn outdated",
             "view": "yarn info", "audit": "yarn audit", "cache": "yarn cache clean", "config": "yarn config", "test": "yarn test",
             "exec": "yarn exec"},
    "berry": {"install": "yarn install", "i": "yarn install", "ci": "yarn install --immutable", "ls": "yarn why", "list": "yarn why",
              "explain": "yarn why", "why": "yarn why", "dedupe": "yarn dedupe", "uninstall": "yarn remove", "remove": "yarn remove",
              "update": "yarn up", "rebuild": "yarn rebuild", "run": "yarn run", "view": "yarn npm info", "audit": "yarn npm audit",
              "cache": "yarn cache clean --all", "config": "yarn config", "test": "yarn test", "exec": "yarn exec"},
}  # fmt: skip
ADD = {"pnpm": "pnpm add", "yarn": "yarn add", "berry": "yarn add"}
FLAGS = {
    "pnpm": {"--save-dev": "-D", "--save-exact": "-E", "--save": "", "-S": "", "--legacy-peer-deps": "--config.strict-peer-dependencies=false",
             "--no-save": ""},
    "yarn": {"--save-dev": "-D", "--save-exact": "-E", "--save": "", "-S": "", "--legacy-peer-deps": "", "--no-save": ""},
    "berry": {"--save-dev": "-D", "--save-exact": "-E", "--save": "", "-S": "", "--legacy-peer-deps": "", "--no-save": "", "--force": ""},
}  # fmt: skip
"""What npm's flags are elsewhere; one that is not here is passed on. yarn never makes an unmet peer an error."""


def spell(words: list[str], manager: str) -> str:
    """Write an npm or npx command for yarn, yarn 2 and later ('berry') or pnpm."""
    if words[0] == "npx":
        return " ".join([{"pnpm": "pnpm dlx", "berry": "yarn dlx"}.get(manager, "npx"), *words[1:]])
    if len(words) < 2 or words[1].startswith("-") or words[1] not in VERBS[manager]:
        return " ".join(words)
    verb, rest = words[1], words[2:]
    workspace = ""
    for flag in ("-w", "--workspace"):  # it comes first: yarn workspace NAME add …
        if flag in rest[:-1]:
            at = rest.index(flag)
            workspace = rest[at + 1]
            del rest[at : at + 2]
    rest = [flag for flag in (FLAGS[manager].get(word, word) for word in rest) if flag]
    packages = any(not word.startswith("-") for word in rest)
    if verb == "cache":
        return VERBS[manager]["cache"]
    command = ADD[manager] if verb in {"install", "i"} and packages else VERBS[manager][verb]
    if verb in {"ls", "list", "explain"}:
        rest = [word for word in rest if not word.startswith("-")]
        if not rest:
            command = {"pnpm": "pnpm list", "yarn": "yarn list", "berry": "yarn info --all"}[manager]
    if workspace:
        program, _, tail = command.partition(" ")
        command = f"{program} {'--filter' if manager == 'pnpm' else 'workspace'} {workspace} {tail}"
    return " ".join([command, *rest])


def overrides(text: str, manager: str) -> str:
    """Write npm's `"overrides"` of package.json as the other managers want it: yarn's `resolutions`, pnpm's own `overrides`.

    Source: yarn's selective dependency resolutions (`parent/child`), pnpm's settings (`parent>child`, `$name` for the project's own version).
    """
    found = _OVERRIDES.search(text)
    if found is None:
        return text
    try:
        given, length = json.JSONDecoder().raw_decode(text[found.end() :])
    except ValueError:
        return text
    if manager == "npm":
        key, value = "overrides", given
    elif manager == "pnpm":
        key, value = "pnpm", {"overrides": _flat(given, ">")}
    else:
        own = {
            name: f"<the version of {wanted[1:]} in your dependencies>" if wanted.startswith("$") else wanted
            for name, wanted in _flat(given, "/").items()
        }
        key, value = "resolutions", own
    written = f"// package.json\n{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
    return text[: found.start()] + written + text[found.end() + length :]


def _flat(given: dict[str, Any], mark: str, parents: str = "") -> dict[str, str]:
    """Write nested overrides as paths; `.` is the parent itself."""
    found: dict[str, str] = {}
    for name, value in given.items():
        path = parents if name == "." else f"{parents}{mark}{name}" if parents else name
        found |= _flat(value, mark, path) if isinstance(value, dict) else {path: str(value)}
    return found
