"""How our pipeline was written: read from the command line (or script) of the shell above us, for writers that were gone before anyone could look."""

from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple

from aifix.probes.producer import parent

SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "fish"}
GENERATIONS = 4
LARGEST = 1 << 16
"""Bytes of a script that are read."""
SEPARATORS = {";", "&&", "||", "&", "(", ")", "{", "}", "then", "do", "else", "!", ";;"}
PIPES = {"|", "|&"}
WRAPPERS = {"env": 0, "time": 0, "nohup": 0, "exec": 0, "command": 0, "unbuffer": 0, "stdbuf": 0, "nice": 0, "ionice": 0, "setsid": 0, "sudo": 0,
            "numactl": 0, "taskset": 1, "timeout": 1, "srun": 0, "mpirun": 0, "mpiexec": 0, "strace": 0, "catchsegv": 0}  # fmt: skip
"""Programs that run another one: how many words of their own stand before it, options aside."""
VALUED = {"-n", "-c", "-o", "-e", "-i", "-N", "-np", "--ntasks", "-u", "-s", "-k", "-p", "-C", "-S"}
"""Options of these wrappers that take the next word."""
_ACTIVATE = re.compile(r"(?:^|[;&|\s])(?:source|\.)\s+(['\"]?)([^\s;&|'\"]+)[/\\]bin[/\\]activate\1")
_SHEBANG = re.compile(rb"^#!\s*(\S+)(?:\s+(\S+))?")


class Written(NamedTuple):
    """The first command of our pipeline, as it was written."""

    pid: int
    words: tuple[str, ...]
    settings: dict[str, str]
    activated: str = ""
    """The environment that was activated before, in the same text."""

    @property
    def program(self) -> str:
        """The program's name."""
        return os.path.basename(self.words[0]) if self.words else ""


def above(pid: int | None = None) -> Written | None:
    """Look for our pipeline in the command lines of the processes above us; None where none holds it."""
    at = os.getppid() if pid is None else pid
    for _ in range(GENERATIONS):
        if at <= 1:
            return None
        found = read(_text(at))
        if found is not None:
            return found._replace(pid=at)
        at = parent(at)
    return None


def read(text: str) -> Written | None:
    """Find `COMMAND | … | aifix` in a shell's text; the last one where there are several."""
    text = re.sub(r"\\\n", " ", text)
    for line in reversed(text.splitlines()):
        if "aifix" in line and "|" in line:
            found = _line(line)
            if found is not None:
                activated = _ACTIVATE.search(text[: text.rfind(line) + len(line)])
                return found._replace(activated=activated[2] if activated else "")
    return None


def _line(line: str) -> Written | None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:
        return None
    for end in range(len(tokens) - 1, 0, -1):
        if tokens[end] in PIPES and any(os.path.basename(word) == "aifix" for word in _until(tokens[end + 1 :])):
            start = end
            while start and tokens[start - 1] not in SEPARATORS:
                start -= 1
            words = tokens[start:end]
            head = next((at for at, word in enumerate(words) if word in PIPES), len(words))
            return _command(words[:head])
    return None


def _until(tokens: list[str]) -> list[str]:
    """Give the words of one command."""
    stop = next((at for at, word in enumerate(tokens) if word in SEPARATORS | PIPES), len(tokens))
    return tokens[:stop][:4]


def _command(words: list[str]) -> Written | None:
    """Take settings and wrappers off a command, and what redirects its output."""
    settings: dict[str, str] = {}
    at = 0
    while at < len(words):
        word = words[at]
        setting = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", word, re.DOTALL)
        if setting:
            settings[setting[1]] = setting[2]
            at += 1
        elif os.path.basename(word) in WRAPPERS:
            own = WRAPPERS[os.path.basename(word)]
            at += 1
            while at < len(words) and (words[at].startswith("-") or own):
                own -= 0 if words[at].startswith("-") else 1
                at += 2 if words[at] in VALUED else 1
        else:
            break
    found = words[at:]
    for place, word in enumerate(found):
        if re.fullmatch(r"[<>&]+", word):
            cut = place - 1 if place and found[place - 1].isdigit() else place
            found = found[:cut]
            break
    return Written(0, tuple(found), settings) if found else None


def interpreter_of_script(path: str) -> tuple[str, str]:
    """Give the interpreter that a script names in its first line, and its argument (`/usr/bin/env`, `python3`)."""
    try:
        with open(path, "rb") as stream:
            found = _SHEBANG.match(stream.read(512))
    except OSError:
        return "", ""
    return (found[1].decode("utf-8", "replace"), (found[2] or b"").decode("utf-8", "replace")) if found else ("", "")


def _text(pid: int) -> str:
    """Give what a shell was told to run: the text after -c, or the script that it was called with; '' for what is no shell."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as stream:
            words = [word.decode("utf-8", "replace") for word in stream.read(1 << 18).split(b"\0")][:-1]
    except OSError:
        return ""
    if not words or os.path.basename(words[0]).lstrip("-") not in SHELLS:
        return ""
    for at, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-\w*c", word) and at + 1 < len(words):
            return words[at + 1]
        if not word.startswith(("-", "+")):
            return _script(pid, word)
    return ""


def _script(pid: int, name: str) -> str:
    try:
        path = os.path.join(os.readlink(f"/proc/{pid}/cwd"), name)
        with open(path if os.path.exists(path) else name, encoding="utf-8", errors="replace") as stream:
            return stream.read(LARGEST)
    except (OSError, ValueError):
        return ""
