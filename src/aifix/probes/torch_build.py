"""torch.build: the target's torch, read from its files: version, CUDA, architectures, companions, and whether they fit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.probes import nvml, packages, symbols
from aifix.probes.cuda import kernel_module
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.machine import Machine

_LINE = re.compile(r"^(?P<name>__version__|cuda|hip|xpu|debug)(?:: [^=]+)? = (?P<value>.+)$", re.MULTILINE)


class Build(msgspec.Struct, frozen=True):
    """The installed torch."""

    version: str
    cuda: str
    hip: str
    folder: str
    python: str
    companions: dict[str, str]

    @property
    def kind(self) -> str:
        """What it was built for."""
        return f"CUDA {self.cuda}" if self.cuda else f"ROCm {self.hip}" if self.hip else "the CPU only"


def of(machine: Machine) -> Build | None:
    """Read the target's torch once; None when it has none."""
    return machine.once("torch", lambda: read(machine))


def read(machine: Machine) -> Build | None:
    """Read the target's torch from torch/version.py and the metadata, without importing it."""
    installed = packages.of(machine)
    if installed is None:
        return None
    folder = packages.find_module(installed.interpreter, "torch")
    package = installed.packages.get("torch")
    text = ""
    try:
        with open(f"{folder}/version.py", encoding="utf-8", errors="replace") as stream:
            text = stream.read(8192)
    except OSError:
        if package is None:
            return None
    values = {found["name"]: found["value"].strip().strip("'\"") for found in _LINE.finditer(text)}
    values = {name: "" if value == "None" else value for name, value in values.items()}
    version = values.get("__version__") or (package.version if package else "")
    companions = {
        package.key: package.version
        for package in installed.packages.values()
        if package.key in {"torchvision", "torchaudio", "triton", "xformers", "flash-attn", "bitsandbytes", "torchtext"}
        or package.key.startswith(("nvidia-c", "nvidia-nccl", "nvidia-nvjitlink"))
    }
    return Build(version, values.get("cuda", ""), values.get("hip", ""), folder, installed.interpreter.version, companions)


def build(case: Case) -> Finding:
    """Look at torch and what has to fit it."""
    machine = case.machine
    if not machine.target.known:
        return absent(machine.target.how)
    found = of(machine)
    where = machine.target.python
    if found is None:
        return (confirmed if case.suspicion else absent)(f"torch is not installed in {where}", {"installed": False})
    data: dict[str, Any] = {"installed": True, "version": found.version, "cuda": found.cuda, "hip": found.hip, "python": found.python}
    data |= {"folder": found.folder, "companions": found.companions}
    evidence = [", ".join(f"{name} {version}" for name, version in sorted(found.companions.items()))] if found.companions else []
    evidence.append(f"in {where}")
    symbol = case.text("symbol")
    if symbol and case.about("deps.torch-abi", "deps.torchvision-mismatch", "deps.flash-attn", "deps.xformers", "build."):
        return _symbol(found, symbol, data, evidence)
    catalogues = machine.catalogues()
    problems = _companions(found, catalogues.get("torch_pairs", {})) + _driver(machine, found, catalogues, data) + _libraries(found)
    summary = f"torch {found.version} for {found.kind}"
    relevant = _relevant(case, found, data, problems)
    if relevant:
        return confirmed(relevant, data, [summary, *(text for text in problems if text != relevant), *evidence])
    if case.about("cuda.not-compiled", "cuda.deserialize-no-cuda"):
        return refuted(f"{summary}: this build has CUDA", data, evidence)
    if case.about("cuda.no-kernel-image") and data.get("fits") is None:
        return unclear(f"{summary}; there is no card here to compare it with", data, evidence)
    if case.suspicion and case.about("cuda.cudnn", "cuda.cublas-failed", "cuda.cudnn-failed", "cuda.cudnn-version"):
        return unclear(f"{summary}, and what belongs to it fits", data, evidence)
    return refuted(f"{summary}; its companions fit", data, evidence)


def _symbol(found: Build, symbol: str, data: dict[str, Any], evidence: list[str]) -> Finding:
    """Look for the symbol that an extension misses."""
    known = symbols.provided(found.folder, symbol)
    data["symbol_found"] = known
    if known is None:
        return unclear(f"torch {found.version} has no libraries to look into", data, evidence)
    if known:
        return refuted(f"torch {found.version} has the symbol {symbol}: another torch is loaded in the failed run", data, evidence)
    return confirmed(f"torch {found.version} has no symbol {symbol}: the extension was built for another torch", data, evidence)


def _relevant(case: Case, found: Build, data: dict[str, Any], problems: list[str]) -> str:
    """Choose the problem that bears on the suspicion; without one, the first."""
    if case.about("cuda.not-compiled", "cuda.deserialize-no-cuda"):
        return f"torch {found.version} was built for {found.kind}" if not found.cuda and not found.hip else ""
    if case.about("cuda.no-kernel-image"):
        return next((text for text in problems if "code for" in text), "")
    if case.about("deps.torchvision-mismatch"):
        return next((text for text in problems if "torchvision" in text or "torchaudio" in text), "")
    if not case.suspicion and not found.cuda and not found.hip and data.get("cards"):
        return f"torch {found.version} was built for the CPU only, and {data['cards']} NVIDIA card{'s are' if data['cards'] > 1 else ' is'} here"
    return problems[0] if problems else ""


def _companions(found: Build, pairs: Mapping[str, Any]) -> list[str]:
    """Check torchvision and torchaudio against the table of releases."""
    problems = []
    entry = pairs.get(_minor(found.version, 3)) or pairs.get(_minor(found.version, 2))
    local = found.version.partition("+")[2]
    for name in ("torchvision", "torchaudio"):
        version = found.companions.get(name)
        if not version:
            continue
        wanted = entry.get(name) if entry else None
        if wanted and not _fits(version, str(wanted)):
            problems.append(f"{name} {version} is installed, and torch {found.version} goes with {name} {wanted}")
        other = version.partition("+")[2]
        if local and other and local != other and local.startswith(("cu", "cpu", "rocm")) and other.startswith(("cu", "cpu", "rocm")):
            problems.append(f"{name} {version} was built for {other}, torch {found.version} for {local}")
    pythons = str(entry.get("python", "")) if entry and found.python else ""
    bounds = re.search(r"(\d\.\d+) to (\d\.\d+)", pythons)
    if bounds and not packages.numbers(bounds[1]) <= packages.numbers(found.python) <= packages.numbers(bounds[2]):
        problems.append(f"torch {found.version} was released for Python {pythons}, and this is {found.python}")
    return problems


def _driver(machine: Machine, found: Build, catalogues: Mapping[str, Mapping[str, Any]], data: dict[str, Any]) -> list[str]:
    """Check the CUDA that torch was built for against the driver, and its kernels against the cards."""
    reading = nvml.of(machine)
    data["cards"] = len(reading.gpus)
    problems: list[str] = []
    if not found.cuda:
        return problems
    driver = reading.driver or kernel_module(machine)
    entry = catalogues.get("cuda_driver", {}).get(found.cuda, {})
    minimum = str(entry.get("minimum_linux") or entry.get("linux") or "")
    if driver and minimum and packages.numbers(driver) < packages.numbers(minimum):
        problems.append(f"torch {found.version} needs driver {minimum} or later for CUDA {found.cuda}, and {driver} is loaded")
        data["driver_wanted"] = minimum
    archs = _architectures(found)
    for gpu in reading.gpus:
        if gpu.capability is None:
            continue
        sm = gpu.capability[0] * 10 + gpu.capability[1]
        if archs:
            data["architectures"] = sorted(archs)
            fits = any(number // 10 == sm // 10 and number <= sm for number in archs)
            data["fits"] = data.get("fits", True) and fits
            if not fits:
                listed = ", ".join(f"sm_{number}" for number in sorted(archs))
                problems.append(f"torch {found.version} has no code for {gpu.name} (sm_{sm}); it has {listed}")
            continue
        known = catalogues.get("gpu_arch", {}).get(str(sm), {})
        first = str(known.get("first_cuda", ""))
        if first and packages.numbers(found.cuda) < packages.numbers(first):
            data["fits"] = False
            problems.append(f"torch {found.version} has no code for {gpu.name} (sm_{sm}): it takes CUDA {first} or later, and this is {found.cuda}")
    return problems


def _architectures(found: Build) -> set[int]:
    """Read the architectures that torch's kernels were compiled for, out of the names in its small CUDA library."""
    path = f"{found.folder}/lib/libtorch_cuda_linalg.so"
    try:
        length = os.path.getsize(path)
        with open(path, "rb") as stream:
            data = stream.read(min(length, 4 << 20))
    except OSError:
        return set()
    return {int(number) for number in re.findall(rb"\bsm_(\d{2,3})\b", data)}


def _libraries(found: Build) -> list[str]:
    """Check that NVIDIA's packages are of one CUDA: two majors side by side load each other's libraries."""
    majors: dict[str, list[str]] = {}
    for name in found.companions:
        suffix = re.search(r"-cu(\d\d)$", name)
        if suffix:
            majors.setdefault(suffix[1], []).append(name)
    wanted = found.cuda.split(".")[0]
    strangers = [name for major, names in majors.items() for name in names if wanted and major != wanted]
    return [f"{', '.join(sorted(strangers)[:4])} belong to another CUDA than torch's {found.cuda}"] if strangers else []


def _fits(version: str, wanted: str) -> bool:
    parts = len(wanted.split("."))
    return packages.numbers(version)[:parts] == packages.numbers(wanted)[:parts]


def _minor(version: str, parts: int) -> str:
    return ".".join(re.findall(r"\d+", version.partition("+")[0])[:parts])
