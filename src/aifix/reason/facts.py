"""Facts of a candidate: captures of its hits, values collected around them, and what is derived from both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aifix.lazy import lazy_re
from aifix.match import progress
from aifix.match.captures import MAX_TEXT, parse
from aifix.match.fuzzy import reread
from aifix.match.regex import PatternError, compile_pattern
from aifix.match.search import searcher
from aifix.model import Collector, Document, Fact, Rule
from aifix.reason import expressions

if TYPE_CHECKING:
    import re

    from aifix.reason.candidate import Candidate

NEAR = 60
"""Lines around a hit in which the surroundings (worker, exit code) are read."""


FEW = 400
"""Lines up to which looking at each is quicker than a search over the whole document."""
ANCHORS = 4
"""Hits around which further facts are looked for."""
REREAD = 4
"""Hit lines that are read again as mistyped."""


_WORDS = frozenset({"name", "path", "word", "version", "address", "dtype", "device"})


def fact(kind: str, text: str) -> Fact:
    """Make a fact of a captured text; the full stop of the sentence around it is no part of a name, path or version."""
    text = text[:MAX_TEXT]
    if kind in _WORDS:
        text = text.rstrip(".,;:") or text
    value, unit = parse(kind, text)
    return Fact(text, value, unit)


def capture(candidate: Candidate) -> None:
    """Take the facts out of a candidate's hits; the first hit that names a fact wins, a root wording before a symptom's."""
    for hit in sorted(candidate.hits, key=lambda hit: (not candidate.is_root(hit), hit.line)):
        types = candidate.origin.signatures[hit.signature].types
        for name, text in hit.captures.items():
            if name not in candidate.facts and text:
                candidate.facts[name] = fact(types[name], text)


def collect(candidate: Candidate, document: Document, collectors: tuple[Collector, ...]) -> None:
    """Look for further facts around the first hit, then around the next ones: a warning far above may have hit first."""
    anchors = sorted({hit.line for hit in candidate.hits if candidate.is_root(hit)})[:ANCHORS] or [candidate.first]
    for collector in collectors:
        if all(name in candidate.facts for name in collector.types):
            continue
        try:
            expression = compile_pattern(collector.pattern)
        except PatternError:
            continue
        for index in _places(document, anchors, collector):
            found = expression.search(document.lines[index].text)
            if found is None:
                continue
            fresh = {name: text.strip() for name, text in found.groupdict().items() if text and name not in candidate.facts}
            for name, text in fresh.items():
                candidate.facts[name] = fact(collector.types[name], text)
            if fresh and index not in candidate.support and index not in candidate.lines:
                candidate.support.append(index)
            break
        else:
            _reread(candidate, document, collector)


def _reread(candidate: Candidate, document: Document, collector: Collector) -> None:
    """Look into the hit lines once more, as mistyped: a message with one wrong letter still has its numbers."""
    for index in sorted(candidate.lines)[:REREAD]:
        found = {name: text for name, text in reread(collector.pattern, document.lines[index].text).items() if name not in candidate.facts}
        for name, text in found.items():
            candidate.facts[name] = fact(collector.types[name], text)
        if found:
            return


def _places(document: Document, anchors: Sequence[int], collector: Collector) -> list[int]:
    """Give the lines in the order in which a collector looks at them; in a long document only those on which its pattern stands."""
    total = len(document.lines)
    within = total if collector.within is None else collector.within
    spans = [range(max(0, anchor - within), min(total, anchor + within + 1)) for anchor in anchors]
    stands = searcher(document).lines(collector.pattern) if len(set().union(*spans)) > FEW else None
    places: dict[int, None] = {}
    for anchor, span in zip(anchors, spans, strict=True):
        found = span if stands is None else [index for index in stands if index in span]
        places.update(dict.fromkeys(_ordered(found, anchor, collector.pick)))
    return list(places)


def _ordered(indices: Sequence[int], anchor: int, pick: str) -> Sequence[int]:
    """Put ascending lines into the order that a collector picks from: the first, the last, or else the nearest first."""
    if pick == "first":
        return indices
    if pick == "last":
        return indices[::-1]
    return sorted(indices, key=lambda index: (abs(index - anchor), index < anchor))


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


def surroundings(candidate: Candidate, document: Document) -> None:
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
    near = range(max(0, anchor - NEAR), min(len(lines), anchor + NEAR))
    for name, expression in (("worker", _WORKER), ("exit_code", _EXIT)):
        if name in facts:
            continue
        for index in sorted(near, key=lambda index: abs(index - anchor)):
            found = expression.search(lines[index].text)
            if found:
                text = next(group for group in found.groups() if group)
                facts[name] = Fact(text, int(text))
                break
    if "python" not in facts:
        for index in sorted(near, key=lambda index: abs(index - anchor)):
            found = _PYTHON.search(lines[index].text)
            if found:
                text = found[1] or (f"{found[2]}.{found[3]}" if found[2] else found[4])
                facts["python"] = Fact(text, text, "version")
                break
    _around(candidate, document, sorted(near, key=lambda index: abs(index - anchor)))
    _figures(candidate, document)


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


PIDS = 16
"""Processes that are listed of the surroundings."""
FIGURES = 8
"""Numbers that are listed of the lines that were hit."""
_COUNT = r"[-+]?\d[\w.+-]*\b"
_FIGURE = lazy_re(
    rf"(?:(?<![\w./\\-])[A-Za-z][A-Za-z-]*[ ]){{0,2}}(?<![\w./\\])-{{0,2}}[A-Za-z](?:[\w-]|\.[A-Za-z])*(?:\(\))?"
    rf"(?:[ ]?(?:==|>=|<=|~=|[=:<>@#])[ ]?\"?[\^~]?{_COUNT}|(?:[ ]is)?[ ]{_COUNT}|[ ]?\({_COUNT}\)|[ ]?\[{_COUNT}\])"
    r"|\(-?\d+(?:, ?-?\d+)*,?\)|\[-?\d+(?:, ?-?\d+)*\]"
)
"""A number with the words before it ("dimension 3", "--local_rank=7", "torch>=2.1"), or numbers in brackets."""
_NUMBER = lazy_re(r"\d[\w.]*")
_SOURCE = lazy_re(r"\.(?:py|cc?|cpp|cuh?|h|hpp|c):\d+$")


def _figures(candidate: Candidate, document: Document) -> None:
    """List the numbers of the lines that were hit which no fact says yet, each with its words, as printed."""
    known = {number for fact in candidate.facts.values() for number in _NUMBER.findall(fact.text)}
    found: list[str] = []
    for index in sorted(candidate.lines, key=lambda index: (index != candidate.first, index))[:REREAD]:
        for match in _FIGURE.finditer(document.lines[index].text[:MAX_TEXT]):
            text = match[0].strip()
            if _SOURCE.search(text) or len(found) >= FIGURES or any(text in other for other in found):
                continue
            if not known.issuperset(_NUMBER.findall(text)):
                found.append(text)
    if found:
        candidate.facts["figures"] = Fact(", ".join(found), found)


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
    (
        "gpu_name",
        "text",
        lazy_re(
            r"\b((?:NVIDIA|Tesla|GeForce|Quadro|AMD Radeon|AMD Instinct) (?:[A-Z][A-Za-z]* )?[A-Z]{0,4}\d[\w-]*(?: (?:Ti|SUPER|Super|XT|XTX|PCIe|NVL|SXM\d|\d+ ?GB)\b)*)"  # noqa: E501
        ),
    ),
)
"""What is worth reading on any hit line: name of the fact, its type, and where it stands."""


def _tokens(candidate: Candidate, document: Document) -> None:
    """Read well-known tokens off the lines that were hit, where the rule's own captures do not name them."""
    known = {fact.text for fact in candidate.facts.values()}
    for index in sorted(candidate.lines)[:REREAD] + candidate.support[:REREAD]:
        text = document.lines[index].text[:MAX_TEXT]
        for name, kind, expression in _TOKENS:
            found = expression.search(text)
            if found is None or name in candidate.facts:
                continue
            token = next(group for group in found.groups() if group)
            if token not in known:
                candidate.facts[name] = fact(kind, token)
                known.add(token)


def values(facts: Mapping[str, Fact]) -> dict[str, Any]:
    """Give the facts' values as expressions see them: versions comparable, others as parsed."""
    found: dict[str, Any] = {}
    for name, item in facts.items():
        if item.unit == "version":
            found[name] = expressions.Version(item.text)
        elif item.value is not None:
            found[name] = item.value
    return found


_UNASKED = object()


class Scope:
    """What expressions of one candidate can see: its facts, its log, the catalogues."""

    def __init__(self, candidate: Candidate, document: Document, catalogues: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
        """Bind the functions to a case."""
        self._candidate = candidate
        self._document = document
        self._catalogues = catalogues
        self._found: Any = _UNASKED
        self.functions: dict[str, Callable[..., Any]] = {
            "has": self._has,
            "log": self._log,
            "catalogue": self._catalogue,
            "distinct": self._distinct,
            "text": self._text,
            "probe": self._probe,
            "probed": self._probed,
        }

    def patchable(self, patch: str) -> bool:
        """Tell whether a source of the user's is at hand that still reads as in the log, and in which a patch may find its place."""
        from aifix.fixes.patch import may_apply

        return may_apply(patch, (source.data for source in self._candidate.sources))

    def manager(self) -> Any:
        """Tell the package manager in use, looked for when first asked; None where nobody may look."""
        ask = self._candidate.manager
        if ask is None:
            return None
        if self._found is _UNASKED:
            self._found = ask()
        return self._found

    def names(self) -> dict[str, Any]:
        """Give the values by name."""
        return values(self._candidate.facts)

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression; raises UnknownNameError."""
        return expressions.evaluate(expression, self.names(), self.functions)

    def holds(self, condition: str) -> bool:
        """Tell whether a condition holds."""
        return expressions.holds(condition, self.names(), self.functions)

    def show(self, expression: str) -> str:
        """Give the text for a placeholder: a fact as printed, or an expression's value."""
        known = self._candidate.facts.get(expression)
        if known is not None:
            return known.text
        value = self.evaluate(expression)
        if value is None:
            raise expressions.UnknownNameError(expression)
        if isinstance(value, float):
            return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.3g}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(str, value)) + "]"
        return str(value)

    def _has(self, name: str) -> bool:
        return name in self._candidate.facts

    def _text(self, name: str) -> str:
        known = self._candidate.facts.get(name)
        if known is None:
            raise expressions.UnknownNameError(name)
        return known.text

    def _log(self, pattern: str) -> bool:
        return searcher(self._document).stands(pattern)

    def _catalogue(self, table: str, key: Any, field: str = "meaning") -> Any:
        entries = self._catalogues().get(table, {})
        entry = entries.get(str(key)) or next((one for one in entries.values() if isinstance(one, Mapping) and one.get("name") == str(key)), None)
        value = entry.get(field) if isinstance(entry, Mapping) else None
        if value is None or value == "":
            raise expressions.UnknownNameError(f"{table}[{key}].{field}")
        return value

    def _probe(self, probe: str) -> str:
        """Give a verdict; one that says nothing about the failed run, since that ran elsewhere, is inconclusive."""
        for result in self._candidate.probes:
            if result.id == probe:
                return "inconclusive" if result.data.get("elsewhere") else result.status
        return "not-run"

    def _probed(self, probe: str, name: str) -> Any:
        for result in self._candidate.probes:
            value = result.data.get(name) if result.id == probe and not result.data.get("elsewhere") else None
            if value is not None:
                return value
        raise expressions.UnknownNameError(f"{probe}.{name}")

    def _distinct(self, name: str) -> int:
        return len({hit.captures[name] for hit in self._candidate.hits if name in hit.captures})


def derive(candidate: Candidate, rule: Rule, scope: Scope) -> None:
    """Compute a rule's derived facts, in order; those with unknown names are skipped."""
    for derived in rule.facts:
        if derived.name in candidate.facts:
            continue
        try:
            value = scope.evaluate(derived.expression)
        except expressions.UnknownNameError:
            continue
        if value is None:
            continue
        candidate.facts[derived.name] = _derived_fact(derived.type, value)


def _derived_fact(kind: str, value: Any) -> Fact:
    if kind == "bytes" and isinstance(value, (int, float)):
        return Fact(expressions.size(value), round(value), "bytes")
    if kind == "seconds" and isinstance(value, (int, float)):
        return Fact(expressions.duration(value), value, "seconds")
    if isinstance(value, float):
        return Fact(f"{value:.4g}", value)
    if isinstance(value, (int, bool)):
        return Fact(str(value), value)
    if isinstance(value, (list, tuple)):
        return Fact("[" + ", ".join(map(str, value)) + "]", list(value), "shape" if kind == "shape" else None)
    if isinstance(value, expressions.Version):
        return Fact(value.text, value.text, "version")
    text = str(value)[:MAX_TEXT]
    return Fact(text, text, "version" if kind == "version" else None)
