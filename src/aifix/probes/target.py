"""The target: the interpreter whose packages the failed run used, found without running anything."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import msgspec

from aifix.model import Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aifix.probes.pipeline import Written
    from aifix.probes.producer import Producer

WINDOWS = sys.platform == "win32"
_PYTHON = re.compile(r"python[\d.]*(?:t|d)?(?:\.exe)?$|pypy3?[\d.]*$")
_SITE = re.compile(r"^(?P<prefix>.*?)[/\\](?:[Ll]ib[/\\]python(?P<version>\d\.\d+)t?[/\\]|[Ll]ib[/\\])(?:site|dist)-packages[/\\]")
_LIBRARY = re.compile(r"^(?P<prefix>.*?)[/\\][Ll]ib[/\\]python(?P<version>\d\.\d+)t?[/\\](?!(?:site|dist)-packages)")
"""A file of the standard library: the interpreter's version, and the installation that an environment is based on."""
LAUNCHERS = {
    "torchrun",
    "accelerate",
    "deepspeed",
    "lightning",
    "fabric",
    "pytest",
    "ipython",
    "jupyter",
    "streamlit",
    "uvicorn",
    "gunicorn",
    "vllm",
    "ray",
}
"""Scripts that pip installs beside their interpreter, which their first line names."""
FOLDERS = (".venv", "venv", ".env", "env")
"""Names that people give the environment in their project's folder."""
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
    origin: Origin = "here"
    writer: str = ""

    @property
    def known(self) -> bool:
        """Whether there is an interpreter at all."""
        return bool(self.python)

    @property
    def guessed(self) -> bool:
        """Whether the interpreter is merely the likeliest one, and may not be the failed run's."""
        sure = ("--python", "the process", "the command line", "its site-packages")
        return self.pid is None and not self.how.startswith(sure)

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
    written: Written | None = None,
) -> Target:
    """Find the target interpreter.

    Args:
        python: what `--python` gave: an interpreter, or the folder of an environment.
        producers: the processes that wrote into our pipe, nearest first.
        files: the files of the log's tracebacks.
        environ: our own environment, by default the process's.
        local: whether the output comes from a run on this machine, as far as the caller knows.
        written: how the shell was told to run our pipeline, where nobody saw the process itself.

    """
    environ = os.environ if environ is None else environ
    producers = list(producers)
    names = [_program(item) for item in producers] or ([written.program] if written is not None else [])
    origin = _origin(names, files := list(files), local=local)
    writer = next(iter(names), "")
    process = next((item for item in producers if _interpreter_of(item)), None)
    known: dict[str, object] = {}
    if process is not None:
        known = {
            "pid": process.pid,
            "argv": tuple(part.decode("utf-8", "replace") for part in process.argv.split(b"\0") if part),
            "cwd": process.cwd,
            "environ": _environ_of(process),
        }
    elif written is not None:
        known = {"argv": written.words, "environ": {**environ, **written.settings} if written.settings else None}
    python, how = _choose(python, process, files, environ, written)
    return msgspec.convert({"python": python, "how": how, "origin": origin, "writer": writer, **known}, Target)


def _choose(given: str, process: Producer | None, files: list[str], environ: Mapping[str, str], written: Written | None) -> tuple[str, str]:
    """Choose the interpreter; one whose version is not that of the traceback's own files is not believed."""
    if given:
        return _given(given, environ)
    if process is not None:
        return _interpreter_of(process), f"the process {process.pid} that wrote into the pipe"
    for file in reversed(files):
        found = _SITE.match(file)
        if found and (python := _in_prefix(found["prefix"], found["version"] or "")):
            return python, "its site-packages stand in the traceback"
    library = next((found for file in reversed(files) if (found := _LIBRARY.match(file))), None)
    version = library["version"] if library else ""
    if written is not None and (python := _as_written(written, environ)) and _fits(python, version):
        return python, f"the command line of the shell {written.pid} that started the pipeline"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        folder = environ.get(variable, "")
        if folder and (python := _in_prefix(folder)) and _fits(python, version):
            return python, variable
    for folder in (*dict.fromkeys(os.path.dirname(file) for file in reversed(files) if os.path.isabs(file) and "-packages" not in file), os.curdir):
        for name in FOLDERS:
            prefix = os.path.join(folder, name)
            if os.path.isfile(f"{prefix}/pyvenv.cfg") and (python := _in_prefix(os.path.abspath(prefix))) and _fits(python, version):
                return python, f"the environment {name} beside {'the failing file' if folder != os.curdir else 'here'}"
    for name in ("python", "python3"):
        found_path = _which(name, environ)
        if found_path and _fits(_behind_shim(found_path, environ), version):
            return _behind_shim(found_path, environ), f"{name} on PATH"
    if library and (python := _in_prefix(library["prefix"], version)):
        return python, "its standard library stands in the traceback; an environment based on it may have been used"
    return "", "no Python was found: name one with --python"


def _as_written(written: Written, environ: Mapping[str, str]) -> str:
    """Give the interpreter that a command line calls: by name or path, by an activated environment, or through a script's first line."""
    environ = {**environ, **written.settings}
    if written.activated and (python := _in_prefix(os.path.abspath(os.path.expanduser(written.activated)))):
        return python
    word = os.path.expanduser(written.words[0])
    if written.program in {"uv", "poetry", "pdm", "hatch", "pipenv"}:
        return next((python for name in FOLDERS if (python := _in_prefix(os.path.abspath(name)))), "")
    path = os.path.abspath(word) if os.sep in word else _which(word, environ)
    if not path or not os.path.isfile(path):
        return ""
    if _PYTHON.search(os.path.basename(path)):
        return _behind_shim(path, environ)
    if written.program in LAUNCHERS or path.endswith(".py"):
        from aifix.probes.pipeline import interpreter_of_script

        program, argument = interpreter_of_script(path)
        named = _which(argument, environ) if os.path.basename(program) == "env" and argument else program
        return named if _PYTHON.search(os.path.basename(named)) and os.path.isfile(named) else ""
    return ""


def _fits(python: str, version: str) -> bool:
    """Tell whether an interpreter is of the version that the traceback shows; true where either is unknown."""
    if not version:
        return True
    from aifix.probes import interpreter

    mine = interpreter.read(python).version
    return not mine or mine == version


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


def _origin(names: list[str], files: list[str], *, local: bool) -> Origin:
    """Judge whether the output comes from a run on this machine, by the programs that wrote it and the files that it names."""
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
