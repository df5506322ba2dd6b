"""What npm itself says of a tree: `npm ls --json --all`, asked only when the tree was named (`--node DIR`), and compared with what was read."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes import runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aifix.probes.finding import Case

LIMIT = 20.0
"""Seconds for npm, which takes one or two for a large tree."""
_PROBLEM = re.compile(r"^(?:invalid|missing|peer dep missing): (@?[^@\s]+)@")


class Said(msgspec.Struct, frozen=True):
    """npm's answer."""

    packages: frozenset[tuple[str, str]] = frozenset()
    problems: tuple[str, ...] = ()
    absent: str = ""
    """Why there is none."""

    @property
    def complained(self) -> set[str]:
        """Name the packages that npm calls missing or invalid."""
        return {found[1] for text in self.problems if (found := _PROBLEM.match(text))}


def ask(case: Case, folder: str) -> Said:
    """Run `npm ls` in a folder; it reads, and changes nothing."""
    environ = dict(case.machine.environ)
    npm = shutil.which("npm", path=environ.get("PATH"))
    if not npm:
        return Said(absent="npm is not here")
    environ |= {"NO_UPDATE_NOTIFIER": "1", "npm_config_update_notifier": "false", "npm_config_loglevel": "silent", "npm_config_logs_max": "0"}
    code, output = runner.run([npm, "ls", "--json", "--all"], environ, folder, LIMIT, tail=64 << 20, apart=True)
    if code is None:
        return Said(absent=f"npm ls gave no answer within {LIMIT:g} s")
    if isinstance(code, str):
        return Said(absent=code)
    try:
        given = json.loads(output)
    except ValueError:
        return Said(absent=f"npm ls failed: {' '.join(output.split())[:120] or f'exit status {code}'}")
    packages: set[tuple[str, str]] = set()
    _collect(given, packages)
    return Said(frozenset(packages), tuple(str(text) for text in given.get("problems") or ()))


def _collect(item: Mapping[str, Any], found: set[tuple[str, str]]) -> None:
    for name, one in (item.get("dependencies") or {}).items():
        if one.get("version"):
            found.add((name, str(one["version"])))
        _collect(one, found)


def compare(said: Said, packages: Iterable[tuple[str, str]], unmet: Iterable[str], *, optional: Iterable[str] = ()) -> list[str]:
    """Say where npm and our own reading differ; nothing when they agree.

    Args:
        said: npm's answer.
        packages: name and version of all packages that were read.
        unmet: our own sentences on what is missing or of another version.
        optional: names that may be absent, of which npm complains in some releases only.

    """
    mine = set(packages)
    found = [f"npm ls lists {name}@{version}, which was not found by reading" for name, version in sorted(said.packages - mine)]
    extraneous = {text.partition(" ")[2].rsplit("@", 1)[0] for text in said.problems if text.startswith("extraneous: ")}
    found += [
        f"{name}@{version} lies in node_modules, and npm ls does not list it"
        for name, version in sorted(mine - said.packages)
        if name not in extraneous
    ]
    told = {match[1] for text in unmet if (match := re.search(r"(?:needs|wants as peer) (@?[^@\s]+)@", text))}
    skipped = set(optional)
    found += [f"npm ls calls {name} missing or invalid" for name in sorted(said.complained - told - skipped)]
    found += [f"npm ls does not complain of {name}" for name in sorted(told - said.complained - skipped)]
    return found
