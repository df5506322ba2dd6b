"""The target: the interpreter whose packages the failed run used, found without running anything."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aifix.probes.producer import Producer

Place = Literal["here", "unsure", "elsewhere"]
WINDOWS = sys.platform == "win32"
_PYTHON = re.compile(r"python[\d.]*(?:t|d)?(?:\.exe)?$|pypy3?[\d.]*$")
_SITE = re.compile(r"^(?P<prefix>.*?)[/\\](?:[Ll]ib[/\\]python(?P<version>\d\.\d+)t?[/\\]|[Ll]ib[/\\])(?:site|dist)-packages[/\\]")
READERS = {
    "cat",
    "zcat",
    "bzcat",
    "xzcat",
    "zstdcat",
    "tail",
    "head",
    "less",
    "more",
    "pv",
    "grep",
    "rg",
    "sed",
    "awk",
    "gawk",
    "tac",
    "cut",
    "sort",
    "jq",
}
"""Programs that give back what was written at another time."""
ELSEWHERE = {
    "ssh",
    "kubectl",
    "oc",
    "docker",
    "podman",
    "nerdctl",
    "curl",
    "wget",
    "gh",
    "aws",
    "gcloud",
    "sky",
    "modal",
    "journalctl",
    "stern",
    "scp",
}
"""Programs that bring the output of another machine, or of a container that sees another file system."""


class Target(msgspec.Struct, frozen=True):
    """The interpreter, how it was found, and what is known of the process that ran it."""

    python: str = ""
    how: str = "no Python was found"
    pid: int | None = None
    argv: tuple[str, ...] = ()
    cwd: str = ""
    environ: dict[str, str] | None = None
    place: Place = "here"
    writer: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interpreter at all."""
        return bool(self.python)

    @property
    def guessed(self) -> bool:
        """Whether the interpreter is merely the likeliest one, and may not be the failed run's."""
        return self.pid is None and (self.how.endswith("on PATH") or self.how in {"VIRTUAL_ENV", "CONDA_PREFIX"})

    @property
    def name(self) -> str:
        """Say which interpreter it is and how it was found."""
        return f"{self.python} ({self.how})" if self.python else self.how


def find(
    *,
    python: str = "",
    producers: Iterable[Producer] = (),
    files: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
    local: bool = True,
) -> Target:
    """Find the target interpreter.

    Args:
        python: what `--python` gave: an interpreter, or the folder of an environment.
        producers: the processes that wrote into our pipe, nearest first.
        files: the files of the log's tracebacks.
        environ: our own environment, by default the process's.
        local: whether the output comes from a run on this machine, as far as the caller knows.

    """
    environ = os.environ if environ is None else environ
    producers = list(producers)
    place = _place(producers, files := list(files), local=local)
    writer = next((_program(item) for item in producers[:1]), "")
    process = next((item for item in producers if _interpreter_of(item)), None)
    known: dict[str, object] = {}
    if process is not None:
        known = {
            "pid": process.pid,
            "argv": tuple(part.decode("utf-8", "replace") for part in process.argv.split(b"\0") if part),
            "cwd": process.cwd,
            "environ": _environ_of(process),
        }
    python, how = _choose(python, process, files, environ)
    return msgspec.convert({"python": python, "how": how, "place": place, "writer": writer, **known}, Target)


def _choose(given: str, process: Producer | None, files: list[str], environ: Mapping[str, str]) -> tuple[str, str]:
    if given:
        return _given(given, environ)
    if process is not None:
        return _interpreter_of(process), f"the process {process.pid} that wrote into the pipe"
    for file in reversed(files):
        found = _SITE.match(file)
        if found and (python := _in_prefix(found["prefix"], found["version"] or "")):
            return python, "its site-packages stand in the traceback"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = environ.get(variable, "")
        if folder and (python := _in_prefix(folder)):
            return python, variable
    for name in ("python", "python3"):
        found_path = _which(name, environ)
        if found_path:
            return _behind_shim(found_path, environ), f"{name} on PATH"
    return "", "no Python was found: name one with --python"


def _given(given: str, environ: Mapping[str, str]) -> tuple[str, str]:
    path = os.path.expanduser(given)
    if os.path.isdir(path):
        python = _in_prefix(path)
        return (python, "--python") if python else ("", f"--python {given}: there is no interpreter in that folder")
    if os.path.isfile(path):
        return _behind_shim(os.path.abspath(path), environ), "--python"
    found = _which(given, environ)
    return (_behind_shim(found, environ), "--python") if found else ("", f"--python {given}: there is no such interpreter")


def _which(name: str, environ: Mapping[str, str]) -> str:
    """Find a program on PATH; `shutil` would do so, and imports three compressors."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        for ending in ("", ".exe") if WINDOWS else ("",):
            path = os.path.join(folder, name + ending)
            if folder and os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return ""


def _in_prefix(prefix: str, version: str = "") -> str:
    """Give the interpreter of an environment's or installation's folder."""
    names = ("python.exe", "Scripts/python.exe") if WINDOWS else (f"bin/python{version}", "bin/python", "bin/python3")
    for name in names:
        path = os.path.join(prefix, name)
        if os.path.isfile(path):
            return path
    return ""


def _environ_of(process: Producer) -> dict[str, str]:
    pairs = (item.partition(b"=") for item in process.environ.split(b"\0") if b"=" in item)
    return {name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, _, value in pairs}


def _interpreter_of(process: Producer) -> str:
    """Give the interpreter that a process runs, as it was called: a venv's own name for it, not the file behind the link."""
    exe = process.exe.removesuffix(" (deleted)")
    if not _PYTHON.search(os.path.basename(exe)):
        return ""
    called = process.argv.split(b"\0")[0].decode("utf-8", "replace")
    environ = _environ_of(process)
    candidates = []
    if os.path.isabs(called):
        candidates.append(called)
    elif "/" in called:
        candidates += [os.path.join(folder, called) for folder in (environ.get("PWD", ""), process.cwd) if folder]
    elif called:
        candidates += [os.path.join(folder, called) for folder in environ.get("PATH", "").split(os.pathsep) if folder]
    if environ.get("VIRTUAL_ENV"):
        candidates.append(os.path.join(environ["VIRTUAL_ENV"], "bin", "python"))
    for path in candidates:
        if os.path.realpath(path) == exe:
            return path
    return exe


def _behind_shim(path: str, environ: Mapping[str, str]) -> str:
    """Give the interpreter behind a pyenv shim, read as pyenv would choose it; other paths as they are."""
    if f"{os.sep}shims{os.sep}" not in path:
        return path
    root = os.path.dirname(os.path.dirname(path))
    wanted = environ.get("PYENV_VERSION", "").split(":")[0]
    folder = os.getcwd()
    files = [f"{folder}/.python-version"]
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        files.append(f"{folder}/.python-version")
    for file in [*files, f"{root}/version"]:
        if wanted:
            break
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                wanted = (stream.read(4096).split() or [""])[0]
        except OSError:
            continue
    try:
        versions = sorted(os.listdir(f"{root}/versions"), key=lambda name: (name != wanted, name))
    except OSError:
        return path
    for version in versions:
        found = f"{root}/versions/{version}/bin/{os.path.basename(path)}"
        if version.startswith(wanted) and os.path.isfile(found):
            return found
    return path


def _program(process: Producer) -> str:
    """Name a process's program as it was called: one file may be many programs (busybox, coreutils)."""
    called = os.path.basename(process.argv.split(b"\0")[0].decode("utf-8", "replace"))
    return called if called in READERS | ELSEWHERE else os.path.basename(process.exe)


def _place(producers: list[Producer], files: list[str], *, local: bool) -> Place:
    """Judge whether the output comes from a run on this machine."""
    names = [_program(item) for item in producers]
    if any(name in ELSEWHERE for name in names):
        return "elsewhere"
    absolute = [file for file in dict.fromkeys(files) if os.path.isabs(file)][:12]
    if absolute:
        present = sum(os.path.exists(file) for file in absolute)
        if not present:
            return "elsewhere"
        if present * 2 >= len(absolute):
            return "here"
    if not local or (names and all(name in READERS for name in names)):
        return "unsure"
    return "here"
