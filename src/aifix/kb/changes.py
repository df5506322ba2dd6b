"""What changed between a failure and the run that ended well: code, packages, variables, driver."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from aifix.kb.surroundings import git_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.kb.nouns import Environment

SHOWN = 8
"""Files, packages or variables that are named of each kind."""
SCANNED = 4000
"""Files of a folder without git that are looked at."""
PATIENCE = 5
"""Seconds that git may take."""
_CODE = (".py", ".ipynb", ".yaml", ".yml", ".toml", ".json", ".sh", ".cfg", ".ini", ".js", ".ts", ".c", ".cc", ".cpp", ".cu", ".h", ".txt", ".env")
_SKIPPED = {"node_modules", "__pycache__", "site-packages", "wandb", "outputs", "runs", "checkpoints"}


def between(before: Environment, after: Environment, *, folder: str = "", revision: str = "", since: float = 0.0) -> list[str]:
    """Give the changes, a short statement each.

    Args:
        before: the environment of the failed run.
        after: that of the run that ended well.
        folder: the working folder of both.
        revision: the commit that was checked out at the failure.
        since: when the failed run ended, in seconds since 1970.

    """
    found = files(folder, revision, since) if folder else []
    if before.packages and after.packages:  # both interpreters were seen
        found += _differences(before.packages, after.packages, "{name} {old} -> {new}", "{name} {new} installed", "{name} {old} removed")
    found += _differences(before.variables, after.variables, "{name}={new} (was {old})", "{name}={new} (was unset)", "{name} unset (was {old})")
    for what, old, new in (("Python", before.python, after.python), ("driver", before.driver, after.driver)):
        if old != new and old and new:
            found.append(f"{what} {old} -> {new}")
    if before.interpreter and after.interpreter and before.interpreter != after.interpreter:
        found.append(f"interpreter {after.interpreter} (was {before.interpreter})")
    return found


def _differences(old: Mapping[str, str], new: Mapping[str, str], changed: str, added: str, removed: str) -> list[str]:
    found = []
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            form = added if name not in old else removed if name not in new else changed
            found.append(form.format(name=name, old=old.get(name, ""), new=new.get(name, "")))
    return _some(found)


def files(folder: str, revision: str, since: float) -> list[str]:
    """Name the files that changed since: as `git diff --stat` counts them, else by their times alone."""
    if git_folder(folder):
        counted = _by_git(folder, revision, since)
        if counted is not None:
            return _some(counted)
    return _some([f"{name} changed" for name in _by_time(folder, since)])


def _by_git(folder: str, revision: str, since: float) -> list[str] | None:
    """Count by git, against the commit of the failure; files that were edited before it and not since are left out."""
    top = _git(folder, "rev-parse", "--show-toplevel").strip()
    if not top:
        return None
    counts = _git(folder, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", revision or "HEAD", "--")
    found = []
    for entry in counts.split("\0"):
        added, _, rest = entry.partition("\t")
        removed, _, name = rest.partition("\t")
        if name and _changed_since(os.path.join(top, name), since):  # noqa: PTH118
            found.append(f"{name} +{added} -{removed}" if added != "-" else f"{name} changed")
    fresh = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--full-name").split("\0")
    found += [f"{name} new" for name in fresh if name.endswith(_CODE) and _changed_since(os.path.join(top, name), since)]  # noqa: PTH118
    return found


def _git(folder: str, *arguments: str) -> str:
    environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
            env=environ,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "surrogateescape") if not done.returncode else ""


def _by_time(folder: str, since: float) -> list[str]:
    found = []
    seen = 0
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            seen += 1
            path = os.path.join(root, name)  # noqa: PTH118
            if name.endswith(_CODE) and _changed_since(path, since):
                found.append(os.path.relpath(path, folder))
        if seen > SCANNED:
            break
    return found


def _changed_since(path: str, since: float) -> bool:
    """Tell whether a file was written, or removed, after a time."""
    try:
        return os.lstat(path).st_mtime > since
    except OSError:
        return True


def _some(found: list[str]) -> list[str]:
    return [*found[:SHOWN], f"{len(found) - SHOWN} more"] if len(found) > SHOWN + 1 else found
