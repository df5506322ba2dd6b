"""Install commands in the words of the package manager in use: found from the log, the paths in it and the lock files beside the sources."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.fixes import torch_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.model import Document, Fact

LINES = 400
"""Lines at the start and at the end of a log that are looked at."""
_PREFIX = re.compile(
    r"(?:^|[\s\"'(=])(?P<prefix>(?:[A-Za-z]:)?[/\\~][^\s\"'()=:]*?)[/\\](?:lib[/\\]python\d\.\d+t?|[Ll]ib)[/\\](?:site|dist)-packages[/\\]"
)
_CONDA = re.compile(
    r"[/\\](?:ana|mini|mamba|micromamba|miniforge|mini-?forge)?(?:conda|forge|mamba)\d?[/\\]?(?:envs[/\\](?P<name>[^/\\]+))?$", re.IGNORECASE
)
_WORD = re.compile(r"""(?:"[^"]*"|'[^']*'|<[^<>]*>|[^\s"'])+""")
_PROMPT = re.compile(r"^\((?P<name>[\w.-]+)\) \S+@\S+|^\((?P<windows>[\w.-]+)\) [A-Z]:\\")
_SPOKEN = (
    ("poetry", re.compile(r"pypoetry[/\\]virtualenvs|(?:^|[$#>] )poetry (?:run|install|add|lock|update)\b")),
    ("pdm", re.compile(r"__pypackages__|(?:^|[$#>] )pdm (?:run|install|add|sync)\b")),
    ("uv", re.compile(
        r"(?:^|[$#>] |\()uv (?:run|pip|sync|add|venv)\b|[/\\]uv[/\\](?:tools|archive-v\d|builds-v\d)[/\\]"
        r"|^(?:Resolved|Prepared|Audited) \d+ packages? in \d"
    )),
    ("notebook", re.compile(r"<ipython-input-|ipykernel_\d+[/\\]|^(?:Cell )?In ?\[\d+\]")),
)  # fmt: skip
_NODE = (
    ("pnpm", re.compile(r"\bERR_PNPM_|node_modules[/\\]\.pnpm[/\\]|(?:^|[$#>] )pnpm \w|\u2009ELIFECYCLE\u2009")),
    ("berry", re.compile(r"➤ YN\d{4}|\.yarn[/\\](?:cache|releases|berry)|\.pnp\.c?js|-npm-\d[\w.]*-[0-9a-f]{10}")),
    ("yarn", re.compile(r"^yarn (?:run|install|add) v1\.|(?:^|[$#>] )yarn(?: \w|$)|info Visit https://(?:classic\.)?yarnpkg\.com")),
)
_LOCKS = (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"))
_NODE_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("package-lock.json", "npm"))


class Manager(msgspec.Struct, frozen=True):
    """The managers of an environment.

    `python` is pip, uv, conda, mamba, poetry, pdm or notebook; `project` says that a lock file of it lies beside the sources;
    `environment` names a conda environment; `interpreter` is the failed run's own, where it stands on this machine.
    """

    python: str = "pip"
    node: str = "npm"
    project: bool = False
    environment: str = ""
    interpreter: str = ""
    torch: str = ""
    pairs: dict[str, dict[str, Any]] = {}

    def translate(self, text: str) -> str:
        """Write a command for these managers, line by line; what they do not know differently stays as it is."""
        return "\n".join(self._line(line) for line in text.split("\n"))

    def configure(self, text: str) -> str:
        """Write a setting of package.json for the manager in use."""
        from aifix.fixes import node_managers

        return node_managers.overrides(text, self.node)

    def _line(self, line: str) -> str:
        command, mark, comment = _uncommented(line)
        parts = re.split(r"(\s*(?:&&|;|\|)\s*)", command)
        parts[::2] = [self._command(part) for part in parts[::2]]
        return "".join(parts) + mark + comment

    def _command(self, text: str) -> str:
        words = _WORD.findall(text)
        head = len(text) - len(text.lstrip())
        tail = text[len(text.rstrip()) :]
        if not words:
            return text
        if words[0] in {"npm", "npx"}:
            return text[:head] + _node(words, self.node) + tail if self.node != "npm" else text
        if self.node != "npm" and "package-lock.json" in text and words[0] in {"rm", "git", "cat"}:
            return text.replace("package-lock.json", "pnpm-lock.yaml" if self.node == "pnpm" else "yarn.lock")
        at = _pip(words)
        if at is None:
            return text
        if self.pairs and words[at] == "install":
            words = torch_pairs.pinned(words, at + 1, self.torch, self.pairs)
        return text[:head] + self._python(words, at) + tail

    def _python(self, words: list[str], at: int) -> str:
        """Write `pip VERB ARGUMENTS`, whose verb stands at `at`."""
        from aifix.fixes import python_managers

        return python_managers.spell(words, at, self)


def _uncommented(line: str) -> tuple[str, str, str]:
    """Part a shell line from its comment: `a  # b` is `a`, `  # `, `b`."""
    found = re.search(r"(^|\s+)# ?(?!egg)", line)
    return (line[: found.start()], found[0], line[found.end() :]) if found else (line, "", "")


def _pip(words: Sequence[str]) -> int | None:
    """Tell where pip's verb stands in a command that calls pip."""
    program = words[0].rsplit("/", 1)[-1]
    if re.fullmatch(r"pip[\d.]*", program) and len(words) > 1:
        return 1
    if re.fullmatch(r"python[\d.]*", program) and list(words[1:3]) == ["-m", "pip"] and len(words) > 3:
        return 3
    return None


def _node(words: Sequence[str], manager: str) -> str:
    from aifix.fixes import node_managers

    return node_managers.spell(list(words), manager)


def detect(
    document: Document, facts: Mapping[str, Fact], folders: Sequence[str] = (), pairs: Mapping[str, Any] | None = None, program: str = ""
) -> Manager:
    """Find the managers in use.

    Args:
        document: the log.
        facts: the case's facts, in which torch's version may stand.
        folders: where lock files may lie: the folders of the failing sources.
        pairs: the catalogue of torch's pairs.
        program: the interpreter as it was called, where the pipe saw it; one that was called by its path is named by it.

    """
    lines = [line.text for line in (document.lines if len(document.lines) <= 2 * LINES else document.lines[:LINES] + document.lines[-LINES:])]
    lines += [frame.file for item in document.tracebacks[-20:] for frame in item.frames]
    prefix = _environment(lines)
    python, environment = _conda(prefix, lines)
    project = False
    lock = _beside(folders, _LOCKS)
    if lock:
        python, project = lock, True
    elif not python:
        python = next((name for name, expression in _SPOKEN if any(expression.search(line) for line in lines)), "pip")
    node = _beside(folders, _NODE_LOCKS) or next((name for name, expression in _NODE if any(expression.search(line) for line in lines)), "npm")
    interpreter = ""
    if prefix and not prefix.startswith(("/usr", "~")):
        interpreter = next((path for path in (f"{prefix}/bin/python", f"{prefix}/Scripts/python.exe") if os.path.exists(path)), "")
    if not interpreter and os.path.isabs(program) and os.path.isfile(program):
        interpreter = program
    return Manager(python, node, project, environment, interpreter, torch_pairs.installed(lines, facts, prefix), dict(pairs or {}))


def _environment(lines: Sequence[str]) -> str:
    """Give the folder of the environment whose packages the log shows last."""
    for line in reversed(lines):
        if "-packages" in line:
            found = _PREFIX.search(line)
            if found:
                return found["prefix"]
    return ""


def _conda(prefix: str, lines: Sequence[str]) -> tuple[str, str]:
    """Tell conda from mamba and name the environment; empty where it is neither."""
    found = _CONDA.search(prefix)
    if found:
        return "mamba" if re.search(r"mamba", found[0], re.IGNORECASE) else "conda", found["name"] or "base"
    if prefix:
        return "", ""
    for line in lines:
        if line.startswith("("):
            prompt = _PROMPT.match(line)
            name = (prompt["name"] or prompt["windows"]) if prompt else ""
            if name and name not in {"venv", ".venv", "env"} and any("conda" in text for text in lines):
                return "conda", name
    return "", ""


def _beside(folders: Sequence[str], locks: Sequence[tuple[str, str]]) -> str:
    """Look for lock files in some folders and the three above each."""
    for folder in dict.fromkeys(folders):
        here = os.path.abspath(folder)
        for _ in range(4):
            for name, manager in locks:
                if os.path.isfile(os.path.join(here, name)):
                    return "berry" if manager == "yarn" and os.path.isfile(os.path.join(here, ".yarnrc.yml")) else manager
            above = os.path.dirname(here)
            if above == here or os.path.isdir(os.path.join(here, ".git")):
                break
            here = above
    return ""
