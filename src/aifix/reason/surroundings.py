"""What any failure has around it, whatever its rule asks for: rank, worker, processes, host, card, versions, how far the run had come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.lazy import lazy_re
from aifix.match import progress
from aifix.match.captures import MAX_TEXT
from aifix.model import Document, Fact
from aifix.reason.facts import fact

if TYPE_CHECKING:
    import re

    from aifix.reason.candidate import Candidate

NEAR = 60
"""Lines around a hit in which the surroundings are read."""
HIT = 4
"""Hit lines off which tokens and numbers are read."""
PIDS = 16
"""Processes that are listed of the surroundings."""
FIGURES = 8
"""Numbers that are listed of the lines that were hit."""
_WORKER = lazy_re(r"in (?:DataLoader|pin memory) (?:worker process|thread|worker) (\d+)")
_PYTHON = lazy_re(r"[/\\](?:lib[/\\])?python(\d\.\d+)[/\\]|[/\\]Python(3)(\d+)[/\\]|Python (\d\.\d+\.\d+)")
_EXIT = lazy_re(r"exit ?code[ :=]+(-?\d+)|[Ee]xited with (?:exit )?code (-?\d+)")
_PROCESS = lazy_re(r"\bpid[:=]? ?(\d{2,9})\b|\b(?:sub)?process (\d{2,9})\b")
_HOST = lazy_re(r"^\s+host\s+: (?P<host>[\w.-]+)|^(?P<at>[A-Za-z][\w.-]*\d[\w.-]*|localhost):\d+:\d+ \[\d+\]|\bip=(?P<ip>[\d.]{7,15})\b")
_LOCAL_RANK = lazy_re(r"--local[_-]rank[= ](\d+)|\blocal_rank\b[\"']?\s?[:=] ?(\d+)")
_CARD = lazy_re(
    r"\b((?:NVIDIA|Tesla|GeForce|Quadro|GRID|AMD Radeon|AMD Instinct) (?:[A-Z][A-Za-z]* )?[A-Z]{0,4}\d[\w-]*"
    r"(?: (?:Ti|SUPER|Super|XT|XTX|PCIe|NVL|SXM\d|\d+ ?GB|Laptop GPU)\b)*)"
)
_VERSION = lazy_re(
    r"(?i)\b((?:py)?torch(?:vision|audio)?|cuda|cudnn|nccl|driver|tensorflow|keras|jax(?:lib)?|transformers|accelerate|deepspeed|vllm"
    r"|onnxruntime|tensorrt(?:-llm)?|numpy|triton|megatron-core|lightning|ray)"
    r"(?:[ _-]version)?[\"']?(?:\s*[:=]{1,2}\s*|[ -])[\"']?v?(\d+\.\d+[\w.+]*)"
)
_COUNT = r"[-+]?\d[\w.+-]*\b"
_FIGURE = lazy_re(
    rf"(?:(?<![\w./\\-])[A-Za-z][A-Za-z-]*[ ]){{0,2}}(?<![\w./\\])-{{0,2}}[A-Za-z](?:[\w-]|\.[A-Za-z])*(?:\(\))?"
    rf"(?:[ ]?(?:==|>=|<=|~=|[=:<>@#])[ ]?\"?[\^~]?{_COUNT}|(?:[ ]is)?[ ]{_COUNT}|[ ]?\({_COUNT}\)|[ ]?\[{_COUNT}\])"
    r"|\(-?\d+(?:, ?-?\d+)*,?\)|\[-?\d+(?:, ?-?\d+)*\]"
)
"""A number with the words before it ("dimension 3", "--local_rank=7", "torch>=2.1"), or numbers in brackets."""
_NUMBER = lazy_re(r"\d[\w.]*")
_SOURCE = lazy_re(r"\.(?:py|cc?|cpp|cuh?|h|hpp|c):\d+$")
_TOKENS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("pid", "int", lazy_re(r"\b[Pp](?:ID|id)\b[^\w\n]{1,3}(\d+)|\b[Pp]rocess (\d{2,})\b")),
    ("error_number", "int", lazy_re(r"\berror ?[=:(] ?(\d+)\b|\([Ee]rror (\d+)\)|\b[Ee]rror (\d+):|[Ee]rrno[: ]+(\d+)\b")),
    (
        "status",
        "text",
        lazy_re(
            r"\b((?:CU[A-Z]+|CUDNN|HIPBLAS|ROCBLAS|MIOPEN|HIPSPARSE|NVJITLINK)_STATUS_\w+|CUDA_ERROR_\w+|cudaError[A-Z]\w+|nccl[A-Z]\w+Error|NVML_ERROR_\w+)"
        ),
    ),
    ("pci", "text", lazy_re(r"\b((?:[0-9a-fA-F]{8}|[0-9a-fA-F]{4}):[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.\d)?)\b")),
    ("port_device", "text", lazy_re(r"\b(mlx\d_\d+(?::\d+)?)")),
    ("gpu_name", "text", _CARD),
)
"""What is worth reading on any hit line: name of the fact, its type, and where it stands."""


def read(candidate: Candidate, document: Document) -> None:
    """Read what any failure has around it: rank, worker process, exit code, Python version, exception type."""
    lines = document.lines
    anchor = candidate.first
    facts = candidate.facts
    if "rank" not in facts:
        rank = next((lines[hit.line].rank for hit in candidate.hits if candidate.is_root(hit) and lines[hit.line].rank is not None), None)
        if rank is not None:
            facts["rank"] = Fact(str(rank), rank)
    for traceback in document.tracebacks:
        if traceback.start <= anchor < traceback.end and traceback.kind:
            facts.setdefault("exception", Fact(traceback.kind, traceback.kind))
            break
    _tokens(candidate, document)
    near = sorted(range(max(0, anchor - NEAR), min(len(lines), anchor + NEAR)), key=lambda index: abs(index - anchor))
    for name, expression in (("worker", _WORKER), ("exit_code", _EXIT)):
        if name not in facts and (found := _nearest(document, near, expression)):
            text = next(group for group in found.groups() if group)
            facts[name] = Fact(text, int(text))
    if "python" not in facts and (found := _nearest(document, near, _PYTHON)):
        text = found[1] or (f"{found[2]}.{found[3]}" if found[2] else found[4])
        facts["python"] = Fact(text, text, "version")
    _around(candidate, document, near)
    _figures(candidate, document)


def _nearest(document: Document, near: list[int], expression: re.Pattern[str]) -> re.Match[str] | None:
    """Give the first match on lines in the order in which they are given."""
    return next((found for index in near if (found := expression.search(document.lines[index].text))), None)


def _around(candidate: Candidate, document: Document, near: list[int]) -> None:
    """Read what stands near any failure: processes, the host, the local rank, the card, versions, how far the run had come."""
    facts = candidate.facts
    pids: list[str] = []
    versions: dict[str, str] = {}
    for index in near:
        line = document.lines[index]
        text = f"{line.prefix}{line.text}"[:MAX_TEXT]
        for match in _PROCESS.finditer(text) if "p" in text or "P" in text else ():
            pid = match[1] or match[2]
            if pid not in pids and len(pids) < PIDS:
                pids.append(pid)
        if "machine" not in facts and (found := _HOST.search(text)):
            facts["machine"] = Fact(host := found["host"] or found["at"] or found["ip"], host)
        if "local_rank" not in facts and "rank" in text and (found := _LOCAL_RANK.search(text)):
            facts["local_rank"] = Fact(text := found[1] or found[2], int(text))
        if "gpu_name" not in facts and (found := _CARD.search(text)):
            facts["gpu_name"] = Fact(found[1], found[1])
        for match in _VERSION.finditer(text):
            versions.setdefault(match[1].lower(), f"{match[1]} {match[2].rstrip('.')}")
        if "progress" not in facts and index <= candidate.first and (place := progress.of_line(text)):
            facts["progress"] = Fact(place, place)
    if pids:
        facts.setdefault("pids", Fact(", ".join(pids), [int(pid) for pid in pids]))
    if versions:
        facts.setdefault("versions", Fact(", ".join(versions.values()), list(versions.values())))


def _figures(candidate: Candidate, document: Document) -> None:
    """List the numbers of the lines that were hit which no fact says yet, each with its words, as printed."""
    known = {number for fact in candidate.facts.values() for number in _NUMBER.findall(fact.text)}
    found: list[str] = []
    for index in sorted(candidate.lines, key=lambda index: (index != candidate.first, index))[:HIT]:
        for match in _FIGURE.finditer(document.lines[index].text[:MAX_TEXT]):
            text = match[0].strip()
            if _SOURCE.search(text) or len(found) >= FIGURES or any(text in other for other in found):
                continue
            if not known.issuperset(_NUMBER.findall(text)):
                found.append(text)
    if found:
        candidate.facts["figures"] = Fact(", ".join(found), found)


def _tokens(candidate: Candidate, document: Document) -> None:
    """Read well-known tokens off the lines that were hit, where the rule's own captures do not name them."""
    known = {fact.text for fact in candidate.facts.values()}
    for index in sorted(candidate.lines)[:HIT] + candidate.support[:HIT]:
        text = document.lines[index].text[:MAX_TEXT]
        for name, kind, expression in _TOKENS:
            found = expression.search(text)
            if found is None or name in candidate.facts:
                continue
            token = next(group for group in found.groups() if group)
            if token not in known:
                candidate.facts[name] = fact(kind, token)
                known.add(token)
