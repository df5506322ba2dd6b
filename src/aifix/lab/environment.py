"""What the target interpreter and this machine have, and what a specimen would need beyond that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aifix.lab.specimen import requirement_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.lab.specimen import Specimen

SCRIPTS = Path(__file__).parent / "scripts"
LEFT_OUT = ("PYTHON", "PYTEST", "AIFIX", "COVERAGE", "MASTER_", "TORCHELASTIC")
"""Beginnings of variables that would let the caller's own surroundings into a specimen."""
LEFT_OUT_EXACTLY = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "VIRTUAL_ENV",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
}
SET = {
    "LC_ALL": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
}
"""One thread for each process, since several specimens run at a time; package managers that do not look for news of themselves."""


class Target(msgspec.Struct, frozen=True):
    """The interpreter that runs Python specimens."""

    python: str
    version: str = ""
    modules: dict[str, str | None] = {}
    """Version of each module that was asked about; None where it is not installed, empty where it tells none."""
    torch_build: str = ""
    gpus: int = 0

    @property
    def name(self) -> str:
        """Say in a few words what it is."""
        torch = self.modules.get("torch")
        return f"Python {self.version}" + (f", torch {torch}" if torch else ", no torch")


class NoTargetError(OSError):
    """The interpreter does not run."""


def describe(python: str, specimens: Iterable[Specimen]) -> Target:
    """Ask an interpreter what it has of what specimens need.

    Raises:
        NoTargetError: it does not run.

    """
    specimens = list(specimens)
    wanted = sorted({"torch", *(requirement_name(text) for one in specimens for text in (*one.modules, *one.form.absent))})
    gpu = ["--gpu"] if any(one.form.gpu for one in specimens) else []
    try:
        done = subprocess.run(
            [python, str(SCRIPTS / "describe.py"), *gpu, *wanted], capture_output=True, env=variables(python), timeout=120, check=False
        )
        said = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoTargetError(f"{python} does not run as a Python interpreter: {getattr(error, 'strerror', None) or error}") from error
    return Target(python, said["python"], said["modules"], said["torch_build"], said["gpus"])


def variables(python: str, extra: dict[str, str] | None = None) -> dict[str, str]:
    """Give the environment of a specimen: the caller's without what would leak in, the target's programs first on PATH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LEFT_OUT) and name not in LEFT_OUT_EXACTLY}
    folder = str(Path(python).parent) if os.sep in python else ""
    path = os.pathsep.join(filter(None, [folder, kept.get("PATH", os.defpath)]))
    return {**kept, **SET, "PATH": path, **(extra or {})}


def missing(specimen: Specimen, target: Target) -> str:
    """Say what a specimen needs and does not find; nothing when it can run."""
    form = specimen.form
    if form.system and form.system != sys.platform:
        return f"the system {form.system}"
    for program in specimen.programs:
        if shutil.which(program, path=variables(target.python)["PATH"]) is None:
            return f"the program {program}"
    if form.root and (not hasattr(os, "geteuid") or os.geteuid() != 0):
        return "root"
    if form.requires and not _succeeds(form.requires, target.python):
        return f"`{form.requires}` to succeed"
    return _missing_modules(specimen, target)


@cache
def _succeeds(command: str, python: str) -> bool:
    try:
        done = subprocess.run(["bash", "-c", command], env=variables(python), stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _missing_modules(specimen: Specimen, target: Target) -> str:
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    form = specimen.form
    if form.python and not SpecifierSet(form.python).contains(target.version, prereleases=True):
        return f"Python {form.python}"
    for text in specimen.modules:
        found = target.modules.get(requirement_name(text))
        if found is None:
            return f"the module {requirement_name(text)}"
        if found and not Requirement(text).specifier.contains(found, prereleases=True):
            return f"{text} (here is {found})"
    for name in form.absent:
        if target.modules.get(name) is not None:
            return f"an interpreter without {name}"
    if form.build and form.build != target.torch_build:
        return f"a {'CPU' if form.build == 'cpu' else 'CUDA'} build of torch"
    return "a GPU" if form.gpu and not target.gpus else ""
