"""What the probes' tests share: a machine to look at, packages to install, and NVML's answers as recorded."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aifix.model import Fact
from aifix.probes.finding import Case
from aifix.probes.machine import Machine
from aifix.probes.target import Target

RECORDED = Path(__file__).parent / "nvml"


def here(*, root: Path = Path("/"), python: str = sys.executable, cwd: str = "", environ: dict[str, str] | None = None, **more: Any) -> Machine:
    """This machine, with what a test gives it."""
    return Machine(Target(python, "--python", cwd=cwd, environ=environ if environ is not None else {}), root=root, **more)


def case(machine: Machine, suspicion: str = "", lines: tuple[str, ...] = (), options: dict[str, Any] | None = None, **facts: Any) -> Case:
    """A suspicion with its facts, each given as text or number."""
    known = {name: Fact(str(value), value if isinstance(value, int) else None) for name, value in facts.items()}
    return Case(machine, suspicion, known, options or {}, lines)


def tree(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a root."""
    for name, content in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def wheel(folder: Path, name: str, version: str, *, requires: tuple[str, ...] = (), python: str = "", files: dict[str, str] | None = None) -> Path:
    """Build a small real wheel by hand."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {item}\n" for item in requires) + (f"Requires-Python: {python}\n" if python else "")
    content = {
        f"{module}/__init__.py": f"__version__ = {version!r}\n",
        **(files or {}),
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()},{len(text)}\n"
        for path, text in content.items()
    )
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**content, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(file, text)
    return path


class NvmlError(Exception):
    """NVML's exception, with its code."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


class Nvml:
    """Answers NVML's calls from a JSON file: what `pynvml` gives on that machine, call by call."""

    def __init__(self, name: str, folder: Path = RECORDED) -> None:
        self._answers = json.loads((folder / f"{name}.json").read_text("utf-8"))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("nvml"):
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            table = self._answers
            if arguments and isinstance(arguments[0], int) and name != "nvmlDeviceGetHandleByIndex":
                table = self._answers["devices"][arguments[0]]
                arguments = arguments[1:]
            if name == "nvmlDeviceGetHandleByIndex":
                if "lost" in self._answers["devices"][arguments[0]]:
                    raise NvmlError(15)
                return arguments[0]
            answer = table.get(name + "".join(f"/{item}" for item in arguments), {"error": 3})
            return _value(answer)

        return call


def _value(answer: Any) -> Any:
    if isinstance(answer, dict) and "error" in answer:
        raise NvmlError(answer["error"])
    if isinstance(answer, dict):
        return SimpleNamespace(**answer)
    return [_value(item) if isinstance(item, dict) else item for item in answer] if isinstance(answer, list) else answer
