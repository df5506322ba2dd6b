"""This machine as probes see it: files below a root, the target interpreter, and readings that several probes share."""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aifix.probes.target import Target

T = TypeVar("T")
_SECRET = re.compile(
    r"((?:token|secret|passw(?:or)?d|api[_-]?key|auth|credential)s?[\w-]*[= :]+|(?<=://)[^/@\s]*:(?=[^/@\s]+@)|\b(?:hf_|sk-|ghp_|glpat-|xox[bp]-))[^\s@]+",
    re.IGNORECASE,
)
"""Secrets on a command line: after a telling name, in an address, or by the mark that their makers put before them."""


class Machine:
    """Reads this machine. Each shared reading is taken once, whichever probe's thread asks first."""

    def __init__(
        self,
        target: Target,
        *,
        root: str | os.PathLike[str] = "/",
        catalogues: Callable[[], Mapping[str, Mapping[str, Any]]] = dict,
        nvml: Any = None,
    ) -> None:
        """Look at a machine.

        Args:
            target: the interpreter whose packages count.
            root: where /proc, /sys, /etc and /dev lie; another folder in tests.
            catalogues: gives the vendor tables.
            nvml: a module like `pynvml`; imported when needed by default.

        """
        self.target = target
        self.root = os.fspath(root)
        self.catalogues = catalogues
        self.nvml = nvml
        self._readings: dict[str, Any] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def cwd(self) -> str:
        """The working folder of the failed process, or ours."""
        try:
            return self.target.cwd or os.getcwd()
        except OSError:  # it was removed under us: the name that it had
            return os.environ.get("PWD") or os.sep

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the failed process, or ours."""
        return self.target.environ if self.target.environ is not None else os.environ

    def once(self, key: str, read: Callable[[], T]) -> T:
        """Take a reading once and share it."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._readings:
                self._readings[key] = read()
            found: T = self._readings[key]
            return found

    def path(self, path: str) -> str:
        """Give a system path below the root."""
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str, limit: int = 1 << 20) -> str:
        """Read a system file as text; '' when it cannot be read."""
        try:
            with open(self.path(path), "rb") as stream:
                return stream.read(limit).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""

    def number(self, path: str) -> int | None:
        """Read a system file that holds one number."""
        text = self.read(path, 64).strip()
        return int(text) if text.lstrip("-").isdigit() else None

    def names(self, path: str) -> list[str]:
        """List a system folder, sorted; nothing when it cannot be read."""
        try:
            return sorted(os.listdir(self.path(path)))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Tell whether a system path exists."""
        return os.path.exists(self.path(path))

    def process(self, pid: int) -> str:
        """Name a process by its command line, shortened and without secrets; '' when it is not ours to see."""
        line = self.read(f"/proc/{pid}/cmdline", 4096).replace("\0", " ").strip() or self.read(f"/proc/{pid}/comm", 64).strip()
        line = _SECRET.sub(r"\1***", line)
        return line if len(line) <= 90 else line[:87] + "..."
