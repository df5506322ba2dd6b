"""host.cpu: the instructions that this CPU offers, against those that the log, the extension or the installed packages want."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
import sys
from typing import TYPE_CHECKING, Any

from aifix.probes import packages
from aifix.probes.disk import absolute
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.probes.machine import Machine

LEVELS: dict[int, tuple[str, ...]] = {
    2: ("cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"),
    3: ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"),
    4: ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}
"""Flags that each level of the x86-64 psABI adds, as /proc/cpuinfo spells them."""
SAME = {"pni": "sse3", "lzcnt": "abm", "sse4.1": "sse4_1", "sse4.2": "sse4_2", "sse41": "sse4_1", "sse42": "sse4_2", "fma3": "fma"}
WINDOWS = {"sse3": 13, "ssse3": 36, "sse4_1": 37, "sse4_2": 38, "avx": 39, "avx2": 40, "avx512f": 41}
"""PF_... numbers of IsProcessorFeaturePresent."""
_FLAG = re.compile(
    r"\b(?:avx512[a-z0-9_]*|avx_?2|avx|fma3?|f16c|sse4[._]?[12]|ssse3|sse3|bmi[12]|popcnt|movbe|amx[_-]\w+|asimddp|sve2?|neon)\b", re.IGNORECASE
)
_LEVEL = re.compile(r"\bx86[-_](?:64[-_])?v([234])\b", re.IGNORECASE)
_MISSING = re.compile(r"(?:doesn't support|missing|not available|does not support|do(?:es)? not have)(.*)", re.IGNORECASE)
NOTE = b"GNU\0"
ISA_NEEDED = 0xC0008002
"""GNU_PROPERTY_X86_ISA_1_NEEDED of the psABI: bit n asks for level n + 1."""


def cpu(case: Case) -> Finding:
    """Look at the CPU."""
    machine = case.machine
    flags = machine.once("cpu flags", lambda: offered(machine))
    name = model(machine)
    if not flags:
        return absent(f"this system does not tell which instructions its CPU ({name}) offers")
    level = level_of(flags)
    data: dict[str, Any] = {"cpu": name, "level": level, "flags": sorted(flags & _telling()), "emulated": emulated(machine)}
    kind = f"x86-64-v{level}" if level else platform.machine() or "this architecture"
    evidence = [f"{name}: {kind}, with {', '.join(data['flags']) or 'none of the vector extensions'}"]
    if data["emulated"]:
        evidence.append(data["emulated"])
    wanted = wants(case)
    lacking = [flag for flag in wanted if flag not in flags]
    if lacking:
        more = " or hides it (a virtual machine's generic CPU model)" if "hypervisor" in flags else ""
        return confirmed(f"the build wants {', '.join(lacking)}, and {name} has no such instructions{more}", data | {"lacking": lacking}, evidence)
    short = _packages(case, flags) if level else {}
    data["packages"] = short
    if short:
        package, (needs, instead) = next(iter(short.items()))
        more = f" ({instead} runs without)" if instead else ""
        summary = f"{package} needs {', '.join(needs)}, which {name} does not offer{more}"
        return confirmed(summary, data, [*(f"{other} needs {', '.join(listed)}" for other, (listed, _) in list(short.items())[1:]), *evidence])
    if data["emulated"] and case.about("host.illegal-instruction"):
        return confirmed(data["emulated"], data, evidence)
    summary = f"{name} offers {kind}"
    if wanted:
        return refuted(f"{summary}, with the {', '.join(wanted[:4])} that the build wants", data, evidence)
    if case.suspicion:
        return unclear(f"{summary}; which instructions the build wants is not known", data, evidence)
    return refuted(summary, data, evidence)


def wants(case: Case) -> list[str]:
    """Name the flags that the log misses, and those that the extension at hand was marked with when it was linked."""
    found: list[str] = []
    for text in [
        *(fact.text for name, fact in case.facts.items() if name in {"missing", "instruction_set", "instructions", "level"}),
        *_complaints(case),
    ]:
        for number in _LEVEL.findall(text):
            found += up_to(int(number))
        found += [normal(flag) for flag in _FLAG.findall(text)]
    paths = [str(path) for path in case.options.get("paths", ())] or [case.text("library", "extension", "path")]
    for path in paths:
        if re.search(r"\.so(?:\.[\d.]+)?$", path):
            found += up_to(marked(absolute(case, path)))
    return list(dict.fromkeys(found))


def _complaints(case: Case) -> list[str]:
    """Give the parts of the lines that say what is missing: those lines also name what is there."""
    return [found[1] for line in case.lines if (found := _MISSING.search(line))]


def _packages(case: Case, flags: set[str]) -> dict[str, tuple[list[str], str]]:
    """Name the installed packages whose compiled modules need what this CPU lacks."""
    table = case.machine.catalogues().get("cpu_features", {})
    installed = packages.of(case.machine) if table else None
    found = {}
    for name, entry in table.items():
        version = installed.version(name) if installed is not None else ""
        if not version or packages.numbers(version) < packages.numbers(str(entry.get("since", "0"))):
            continue
        lacking = [flag for flag in str(entry.get("needs", "")).split() if flag not in flags]
        if lacking:
            found[f"{name} {version}"] = (lacking, str(entry.get("instead", "")))
    return found


def up_to(level: int) -> list[str]:
    """Give the flags of an x86-64 level and of those below it."""
    return [flag for number, listed in LEVELS.items() if number <= level for flag in listed]


def level_of(flags: Iterable[str]) -> int:
    """Give the x86-64 level that a set of flags reaches; 0 for another architecture."""
    known = set(flags)
    if not known & {"sse2", "sse3", "avx"}:
        return 0
    return max((number for number in LEVELS if known.issuperset(up_to(number))), default=1)


def normal(flag: str) -> str:
    """Spell a flag as /proc/cpuinfo does."""
    text = flag.lower()
    return SAME.get(text) or ("avx2" if text == "avx_2" else text.replace("-", "_"))


def offered(machine: Machine) -> set[str]:
    """Read the flags of the CPU; empty where the system does not tell."""
    found = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", machine.read("/proc/cpuinfo", 1 << 16), re.MULTILINE)
    if found:
        return {normal(flag) for flag in found[1].split()}
    if sys.platform == "win32":
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent  # type: ignore[attr-defined,unused-ignore]
        return {"sse2"} | {flag for flag, number in WINDOWS.items() if present(number)} if platform.machine() in {"AMD64", "x86"} else set()
    if sys.platform == "darwin":
        return _apple()
    return set()


def _apple() -> set[str]:
    """Ask macOS's kernel, as `sysctl` does."""
    listed = " ".join(_sysctl(name) for name in ("machdep.cpu.features", "machdep.cpu.leaf7_features", "machdep.cpu.extfeatures"))
    found = {normal(flag) for flag in listed.replace("AVX1.0", "avx").split()}
    return found or ({"neon"} if platform.machine() == "arm64" else set())


def _sysctl(name: str) -> str:
    try:
        call = ctypes.CDLL(None).sysctlbyname
        size = ctypes.c_size_t(4096)
        buffer = ctypes.create_string_buffer(4096)
        return (
            buffer.raw[: size.value].rstrip(b"\0").decode("utf-8", "replace") if not call(name.encode(), buffer, ctypes.byref(size), None, 0) else ""
        )
    except (OSError, AttributeError, TypeError):
        return ""


def emulated(machine: Machine) -> str:
    """Say that an emulator stands between the program and the CPU; '' when none is seen."""
    if sys.platform == "darwin" and _sysctl("sysctl.proc_translated")[:1] == "\x01":
        return "this process runs through Rosetta, which has no AVX before macOS 15: an arm64 Python runs without it"
    if "qemu" in machine.read("/proc/cpuinfo", 4096).lower():
        return "the CPU is QEMU's generic model, which hides most vector extensions: the host's model (-cpu host) shows them"
    return ""


def model(machine: Machine) -> str:
    """Name the CPU."""
    found = re.search(r"^(?:model name|Processor|Hardware)\s*:\s*(.+)$", machine.read("/proc/cpuinfo", 1 << 14), re.MULTILINE)
    return found[1].strip() if found else _sysctl("machdep.cpu.brand_string") or platform.processor() or platform.machine() or "an unnamed CPU"


def marked(path: str) -> int:
    """Read the x86-64 level that a shared object was marked with when linked (-z x86-64-v3); 0 when it is not.

    Source: x86-64 psABI, GNU_PROPERTY_X86_ISA_1_NEEDED; most builds carry no such mark, and then nothing is known.
    """
    try:
        with open(path, "rb") as stream:
            head = stream.read(1 << 16)
    except (OSError, ValueError):
        return 0
    if head[:5] != b"\x7fELF\x02" or head[5] != 1:
        return 0
    at = head.find(struct.pack("<I", ISA_NEEDED), 0x40)
    while at >= 0:
        # the property lies in a note of the linker, within the first pages of the file
        if at + 12 <= len(head) and struct.unpack_from("<I", head, at + 4)[0] == 4 and NOTE in head[max(0, at - 256) : at]:
            return int(struct.unpack_from("<I", head, at + 8)[0]).bit_length()
        at = head.find(struct.pack("<I", ISA_NEEDED), at + 4)
    return 0


def _telling() -> set[str]:
    """Give the flags worth showing."""
    return {
        "sse4_2",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "avx512f",
        "avx512_bf16",
        "avx512_vnni",
        "amx_bf16",
        "amx_tile",
        "neon",
        "asimd",
        "asimddp",
        "sve",
        "sve2",
    }


def count(machine: Machine) -> int:
    """Count the CPUs that the failed process (or we) may run on."""
    pid = machine.target.pid
    found = re.search(
        r"^Cpus_allowed_list:\s*(\S+)", machine.read(f"/proc/{pid or 'self'}/status") or machine.read("/proc/self/status"), re.MULTILINE
    )
    if not found:
        return os.cpu_count() or 1
    total = 0
    for part in found[1].split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1 if first.isdigit() else 0
    return total or os.cpu_count() or 1
