"""Compile rules to the form that starts fast: literal cores, the matcher's part, and the texts apart."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from aifix.match import grams
from aifix.match.keeper import GATES, core_index
from aifix.match.literals import alternatives
from aifix.match.skeleton import skeletons
from aifix.rulebase.form import FORMAT, CompiledSignature, Matcher
from aifix.rulebase.source import Loaded, Problem, RuleError, load, load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aifix.model import Rule, Signature


def rule_files(folder: Path) -> list[Path]:
    """List the rule files under a folder, in a stable order; catalogues are no rules."""
    return sorted(path for path in folder.rglob("*.y*ml") if path.suffix in {".yaml", ".yml"} and "catalogues" not in path.relative_to(folder).parts)


def load_folder(folder: Path, origin: str = "built-in") -> tuple[list[Loaded], list[Problem]]:
    """Read every rule under a folder; a broken file is reported and the others are kept."""
    loaded: list[Loaded] = []
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in rule_files(folder):
        try:
            item = load(path, origin)
        except RuleError as error:
            problems.append(error.problem)
            continue
        if item.rule.id in seen:
            problems.append(Problem(str(path), 1, 1, f"the id {item.rule.id} stands in {seen[item.rule.id]} too"))
            continue
        seen[item.rule.id] = str(path)
        loaded.append(item)
    return loaded, problems


def load_catalogues(folder: Path) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    """Read the catalogues (`catalogues/*.yaml`): by name, entries by key."""
    found: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for path in sorted((folder / "catalogues").glob("*.yaml")):
        try:
            data = load_yaml(path.read_text("utf-8"), str(path))
            found[str(data["name"])] = {str(key): value for key, value in data["entries"].items()}
        except RuleError as error:
            problems.append(error.problem)
        except (OSError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
            problems.append(Problem(str(path), 0, 0, f"not a catalogue (name, source, date, entries): {error}"))
    return found, problems


def fingerprint(folder: Path) -> str:
    """Give a hash over names, sizes and times of the files under a folder: cheap, and enough for a development tree."""
    digest = hashlib.blake2b(f"{FORMAT}".encode(), digest_size=16)
    for path in sorted(folder.rglob("*.y*ml")):
        stat = path.stat()
        digest.update(f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def matcher(rules: Iterable[Rule], mark: str = "") -> Matcher:
    """Build the matcher's part of some rules."""
    cores: dict[str, int] = {}
    signatures: list[CompiledSignature] = []
    for rule in rules:
        for index, signature in enumerate(rule.signatures):
            numbers = tuple(cores.setdefault(core, len(cores)) for core in signature.cores)
            signatures.append(CompiledSignature(rule.id, index, signature.pattern, numbers, signature.anywhere, signature.detector))
    return Matcher(FORMAT, mark, tuple(cores), tuple(grams.keys([core[1:] for core in cores])), tuple(signatures))


def encode(rules: list[Rule], catalogues: dict[str, dict[str, Any]], mark: str = "") -> dict[str, bytes]:
    """Encode the base as the files of its compiled form, by name."""
    part = matcher(rules, mark)
    listed = wordings(rules)
    gateless = _gateless(rules)
    gated = {core.encode() for core in part.cores if "\n" not in core} - set(gateless)
    return {
        "cores.txt": core_index([*(b"i" + gate for gate in GATES), *gateless]),
        "literals.txt": b"\n".join([*gateless, b"", *sorted(gated)]),
        "matcher.json": msgspec.json.encode(part),
        "texts.json": msgspec.json.encode({rule.id: rule for rule in rules}),
        "catalogues.json": msgspec.json.encode(catalogues),
        "wordings.json": msgspec.json.encode(listed),
    }


def gateless_cores(signature: Signature) -> list[bytes]:
    """Give the cores of a signature that can match a line without any gate word; none when every wording has one."""
    cores = [core.encode() for core in signature.cores if "\n" not in core]
    if not cores:
        return []
    spelled = [text.lower().encode() for text in alternatives(signature.pattern)]
    if any(texts and all(any(gate in text for gate in GATES) for text in texts) for texts in (spelled, [core.lower() for core in cores])):
        return []
    return cores


def _gateless(rules: Iterable[Rule]) -> list[bytes]:
    """Give what the healthy pipe has to look for beside the gate words."""
    return list(dict.fromkeys(core for rule in rules for signature in rule.signatures for core in gateless_cores(signature)))


def wordings(rules: Iterable[Rule]) -> list[tuple[str, int, str, list[str]]]:
    """Give every signature's wordings for the fuzzy stage: rule, signature number, pattern, skeletons."""
    return [
        (rule.id, index, signature.pattern, skeletons(signature.pattern))
        for rule in rules
        for index, signature in enumerate(rule.signatures)
        if signature.pattern
    ]


def write(files: dict[str, bytes], folder: Path) -> None:
    """Write compiled files atomically: each is complete or absent, and the matcher's part comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == "matcher.json"):
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(files[name])
            Path(temporary).chmod(0o644)
            Path(temporary).replace(folder / name)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise


def build(rules_dir: Path, out_dir: Path) -> None:
    """Compile a folder of rules; used when the wheel is built.

    Raises:
        RuleError: a rule or catalogue is broken.

    """
    loaded, problems = load_folder(rules_dir)
    catalogues, more = load_catalogues(rules_dir)
    for problem in problems + more:
        raise RuleError(problem)
    write(encode([item.rule for item in loaded], catalogues, fingerprint(rules_dir)), out_dir)
