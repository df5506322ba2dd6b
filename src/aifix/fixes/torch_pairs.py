"""Versions of torch, torchvision and torchaudio that fit together, by the catalogue."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aifix.model import Fact

FAMILY = ("torch", "torchvision", "torchaudio")
_SAID = re.compile(r"\b(?:torch|pytorch|PyTorch)(?: version)?(?:==|[ :=]+v?)(?P<version>[12]\.\d+(?:\.\d+)?)(?:\+[\w.]+)?\b")
_INDEX = re.compile(r"(?P<head>https://download\.pytorch\.org/whl/cu)(?P<cuda>\d{3}|<?X+>?)\b")


def installed(lines: Sequence[str], facts: Mapping[str, Fact], prefix: str = "") -> str:
    """Tell which torch the failed run had: by a fact, by its files in the environment, by the log; empty where nothing tells."""
    for name in ("torch", "torch_version"):
        if name in facts and re.match(r"[12]\.\d+", facts[name].text):
            return facts[name].text.split("+")[0]
    found = _in_environment(prefix) if prefix else ""
    if found:
        return found
    for line in lines:
        said = _SAID.search(line) if "orch" in line and "pip install" not in line else None
        if said:
            return said["version"]
    return ""


def _in_environment(prefix: str) -> str:
    """Read the version off the names in an environment's folder of packages."""
    try:
        pythons = [name for name in os.listdir(f"{prefix}/lib") if name.startswith("python")]
    except OSError:
        return ""
    for python in pythons:
        try:
            names = os.listdir(f"{prefix}/lib/{python}/site-packages")
        except OSError:
            continue
        for name in names:
            found = re.fullmatch(r"torch-(\d[\d.]*)(?:\+[\w.]+)?(?:-py.*)?\.(?:dist-info|egg-info)", name)
            if found:
                return found[1]
    return ""


def partner(package: str, torch: str, pairs: Mapping[str, Any]) -> str:
    """Give the version of torchvision or torchaudio that belongs to a torch, as `0.19.*` or exact; empty where the catalogue has none."""
    parts = torch.split(".")
    for key in (torch, ".".join(parts[:3]), ".".join(parts[:2])):
        entry = pairs.get(key)
        if entry and package in entry:
            version = str(entry[package])
            return version if version.count(".") == 2 else f"{version}.*"
    return ""


def pinned(words: list[str], start: int, torch: str, pairs: Mapping[str, Any]) -> list[str]:
    """Pin the partners of a torch in an install command; the torch named in the command counts before the installed one."""
    named = next((word.strip("'\"").split("==")[1] for word in words[start:] if word.strip("'\"").startswith("torch==")), "")
    plain = {word.strip("'\"") for word in words[start:]}
    if not named and plain & {"torch", "-U", "--upgrade"}:
        return words  # the resolver picks a fitting set, newer than what is there
    version = (named or torch).rstrip(".*")
    if not version:
        return words
    out = list(words)
    for index in range(start, len(words)):
        bare = words[index].strip("'\"")
        package = re.split(r"[=<>~!\[]", bare)[0]
        if package in FAMILY[1:] and (bare == package or "<" in bare):
            fitting = partner(package, version, pairs)
            if fitting:
                out[index] = f"{package}=={fitting}" if not fitting.endswith("*") else f"'{package}=={fitting}'"
    return [_INDEX.sub(lambda found: _index(found, version, pairs), word) for word in out]


def _index(found: re.Match[str], version: str, pairs: Mapping[str, Any]) -> str:
    """Name an index that has this torch: the one given where it does, else the newest CUDA that this torch was built for."""
    entry = pairs.get(".".join(version.split(".")[:2]), {})
    builds = [build.strip().replace(".", "") for build in str(entry.get("cuda", "")).split(",") if build.strip()]
    return found[0] if not builds or found["cuda"] in builds else found["head"] + builds[-1]
