"""What the expressions of one candidate can see: its facts, its log, the catalogues, and what the probes found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from aifix.match.search import searcher
from aifix.reason import expressions

if TYPE_CHECKING:
    from aifix.model import Document, Fact
    from aifix.reason.candidate import Candidate

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


def values(facts: Mapping[str, Fact]) -> dict[str, Any]:
    """Give the facts' values as expressions see them: versions comparable, others as parsed."""
    found: dict[str, Any] = {}
    for name, item in facts.items():
        if item.unit == "version":
            found[name] = expressions.Version(item.text)
        elif item.value is not None:
            found[name] = item.value
    return found
