"""pip's commands as uv, conda, mamba, poetry and pdm spell them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.fixes.manager import Manager

DROPPED = frozenset({"-U", "--upgrade", "-y", "--yes", "-q", "--quiet"})
"""Flags that a lock file's manager has no need of."""
ENVIRONMENT_CALLS = {"conda": "conda run -n {environment} python -m pip", "mamba": "mamba run -n {environment} python -m pip",
                     "poetry": "poetry run python -m pip", "pdm": "pdm run python -m pip", "notebook": "%pip"}  # fmt: skip


def spell(words: list[str], at: int, manager: Manager) -> str:
    """Write a pip command for a manager.

    Args:
        words: the command's words.
        at: where pip's verb stands.
        manager: the manager in use.

    """
    verb, rest = words[at], words[at + 1 :]
    if manager.python == "uv":
        return _uv(verb, rest, manager)
    if manager.python in {"poetry", "pdm"} and manager.project and not _peculiar(rest):
        packages = [word for word in rest if word not in DROPPED]
        if verb == "install" and packages:
            return " ".join([manager.python, "add", *map(_latest if _upgrades(rest) and manager.python == "poetry" else str, packages)])
        if verb == "uninstall":
            return " ".join([manager.python, "remove", *packages])
    if manager.python in ENVIRONMENT_CALLS:
        return " ".join([ENVIRONMENT_CALLS[manager.python].format(environment=manager.environment or "base"), verb, *rest])
    if manager.interpreter:
        return " ".join([_quoted(manager.interpreter), "-m", "pip", verb, *rest])
    return " ".join(words)


def _uv(verb: str, rest: Sequence[str], manager: Manager) -> str:
    packages = [word for word in rest if word not in DROPPED]
    if manager.project and not _peculiar(rest):
        if verb == "install" and packages:
            return " ".join(["uv", "add", *packages, *(part for word in packages for part in ("--upgrade-package", _name(word)) if _upgrades(rest))])
        if verb == "uninstall":
            return " ".join(["uv", "remove", *packages])
    known = [word for word in rest if word not in {"-y", "--yes", "--no-cache-dir", "--user", "-I", "--ignore-installed"}]
    known = ["--reinstall" if word == "--force-reinstall" else word for word in known]
    if verb not in {"install", "uninstall", "list", "show", "freeze", "check"}:
        return " ".join(["uvx", "pip", verb, *rest])
    target = [] if manager.project or not manager.interpreter else ["--python", _quoted(manager.interpreter)]
    return " ".join(["uv", "pip", verb, *target, *known])


def _peculiar(rest: Sequence[str]) -> bool:
    """Tell whether a command says what a project file cannot: flags beyond an upgrade, files, addresses."""
    return any((word.startswith("-") and word not in DROPPED) or "/" in word or "<" in word.strip("'\"")[:1] for word in rest)


def _upgrades(rest: Sequence[str]) -> bool:
    return "-U" in rest or "--upgrade" in rest


def _latest(word: str) -> str:
    return word if re.search(r"[=<>~!@]", word) else f"{word}@latest"


def _name(word: str) -> str:
    return re.split(r"[=<>~!@\[]", word.strip("'\""))[0]


def _quoted(path: str) -> str:
    return path if re.fullmatch(r"[\w./~:\\-]+", path) else "'" + path.replace("'", "'\\''") + "'"
