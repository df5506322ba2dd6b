"""What a rule may not be: slow, unfounded, unreachable, or full of holes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from aifix.fixes.patch import PATCHES
from aifix.fixes.values import NAMES as SOURCE_FACTS
from aifix.match.captures import TYPES
from aifix.match.literals import MIN_CORE, weight
from aifix.match.regex import LINEAR, PatternError, compile_pattern
from aifix.reason import expressions, templates
from aifix.reason.candidate import named_by
from aifix.rulebase import source as sources
from aifix.rulebase.compile import gateless_cores
from aifix.rulebase.source import Loaded, Problem, RuleError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aifix.model import Rule, Signature

TITLE = 60
"""Characters of a title."""
ALWAYS = frozenset({"rank", "worker", "exception", "python", "exit_code", "gpus"}) | SOURCE_FACTS
"""Facts that the engine reads around any failure, or off the failing source."""
EVERYDAY = frozenset(
    {
        "accelerate", "adapter", "already", "available", "backend", "checkpoint", "constraint", "context", "dataset", "device", "during",
        "engine", "epoch", "expected", "found", "grad_norm", "gradient", "he dataset", "initiali", "initialized", "install", "installed",
        "is built", "loading", "los", "matrix", "model", "model file", "number of", "operator", "optimizer", "parallel", "parameter",
        "prompt", "python", "pytorch", "received", "remote", "removed", "require", "sequence", "supported", "tensor", "there", "token",
        "transport", "use", "version", "was built", "weight", "xpected",
    }
)  # fmt: skip
"""Words that healthy logs use: as the literal core of a signature they would make the pipe look twice at every run."""
_DULL = re.compile(
    r"^(?:s|i)(?:runtimeerror: ?|valueerror: ?|error: ?|typeerror: ?|importerror: ?|expected ?|traceback|exception: ?|warning: ?|cuda error: ?)$",
    re.IGNORECASE,
)


def file_problems(path: Path) -> list[Problem]:
    """Give every problem of one file by the published schema; the loader's own message where jsonschema is missing."""
    try:
        sources.load(path)
    except RuleError as error:
        return _all_schema_problems(path) or [error.problem]
    twice = sources.repeated(path.read_text("utf-8"))
    return [Problem(str(path), line, column, f"'{key}' stands twice here, and only the last one counts") for line, column, key in twice]


def _all_schema_problems(path: Path) -> list[Problem]:
    try:
        import jsonschema  # type: ignore[import-untyped]
    except ImportError:
        return []
    try:
        text = path.read_text("utf-8")
        data = sources.load_yaml(text, str(path))
    except (OSError, UnicodeDecodeError, RuleError):
        return []
    found = []
    for error in jsonschema.Draft202012Validator(sources.schema()).iter_errors(data):
        line, column = sources.position(text, error.json_path)
        found.append(Problem(str(path), line or 1, column or 1, f"{error.message[:200]} at {error.json_path}"))
    return sorted(found, key=lambda problem: (problem.line, problem.column))


def lint(loaded: Sequence[Loaded], known: Mapping[str, Rule], *, probes: Iterable[str] | None = None) -> list[Problem]:
    """Check rules for what the schema cannot say.

    Args:
        loaded: the rules to check.
        known: all rules of the base, these among them.
        probes: ids of the built-in probes, where known.

    """
    problems: list[Problem] = []
    selected = {refinement.to for rule in known.values() for refinement in rule.refine}
    for item in loaded:
        check = _Checker(item, known, selected, set(probes) if probes is not None else None)
        problems += check.run()
    return problems


class _Checker:
    def __init__(self, item: Loaded, known: Mapping[str, Rule], selected: set[str], probes: set[str] | None) -> None:
        self.item, self.known, self.selected, self.probes = item, known, selected, probes
        self.rule = item.rule
        self.problems: list[Problem] = []
        try:
            self.text = Path(item.file).read_text("utf-8")
        except OSError:
            self.text = ""

    def add(self, path: str, message: str) -> None:
        line, column = sources.position(self.text, path) if self.text else (0, 0)
        self.problems.append(Problem(self.item.file, line, column, f"{self.rule.id}: {message}"))

    def run(self) -> list[Problem]:
        rule = self.rule
        if not rule.signatures and rule.id not in self.selected:
            self.add("$.id", "it has no signature, and no other rule refines to it: nothing can select it")
        if templates.longest(rule.title) > TITLE + 20 * ("{" in rule.title):
            self.add("$.title", f"the title is longer than {TITLE} characters")
        for index, signature in enumerate(rule.signatures):
            if signature.pattern:
                self._signature(index, signature)
            for pattern in (*signature.having, *signature.without):
                self._linear(f"$.signatures[{index}]", pattern)
        for index, collector in enumerate(rule.collect):
            self._linear(f"$.collect[{index}]", collector.pattern)
        self._ids()
        self._texts()
        self._examples()
        return self.problems

    def _linear(self, path: str, pattern: str) -> bool:
        try:
            compile_pattern(pattern)
        except PatternError as error:
            self.add(path, f"not a linear-time regex: {error}")
            return False
        if not LINEAR and re.search(r"\(\?[=!<]|\\[1-9]", pattern):
            self.add(path, "look-around and back-references are not linear-time")
            return False
        return True

    def _signature(self, index: int, signature: Signature) -> None:
        pattern, cores = signature.pattern, signature.cores
        watched = {core.decode() for core in gateless_cores(signature)}
        path = f"$.signatures[{index}].pattern"
        if not self._linear(path, pattern):
            return
        if not cores:
            self.add(path, "no literal stands in every match: the prefilter cannot find it (give each branch a literal of 6 characters or more)")
        for core in cores:
            if len(core) - 1 < MIN_CORE or weight(core[1:]) < MIN_CORE - 1:
                self.add(path, f"the literal core {core[1:]!r} is too short or too common: it needs {MIN_CORE} characters")
            elif _DULL.match(core) or (core in watched and core[1:].strip(" .:,'\"`)(").lower().rstrip("s") in EVERYDAY):
                self.add(path, f"the literal core {core[1:]!r} stands on too many lines of other failures")

    def _ids(self) -> None:
        rule = self.rule
        for index, refinement in enumerate(rule.refine):
            if refinement.to not in self.known:
                self.add(f"$.refine[{index}]", f"refines to {refinement.to}, which is no rule")
            self._expression(f"$.refine[{index}]", refinement.when, self._names())
        for field, listed in (("causes", rule.causes), ("yields_to", rule.yields_to)):
            for index, pattern in enumerate(listed):
                if pattern == rule.id or not any(named_by([pattern], other) for other in self.known):
                    self.add(f"$.{field}[{index}]", f"{field} names {pattern}, which is no other rule")
        if self.probes is not None:
            for index, probe in enumerate(rule.probes):
                if probe.id not in self.probes:
                    self.add(f"$.probes[{index}]", f"{probe.id} is no built-in probe")

    def _own(self, rule: Rule) -> set[str]:
        names = {name for signature in rule.signatures for name in signature.types}
        names |= {name for collector in rule.collect for name in collector.types}
        return names | {derived.name for derived in rule.facts}

    def _names(self) -> set[str]:
        """Give every fact that this rule can see: its own, and those of rules that refine to it."""
        names = self._own(self.rule) | ALWAYS
        frontier, seen = {self.rule.id}, {self.rule.id}
        while frontier:
            frontier = {rule.id for rule in self.known.values() if any(refinement.to in frontier for refinement in rule.refine)} - seen
            seen |= frontier
            for rule_id in frontier:
                names |= self._own(self.known[rule_id])
        return names

    def _expression(self, path: str, expression: str, names: set[str]) -> None:
        try:
            used, functions = expressions.names_in(expression)
        except expressions.ExpressionError as error:
            self.add(path, str(error))
            return
        for name in sorted(used - names):
            self.add(path, f"{name!r} is no fact of this rule (in {expression!r})")
        for name in sorted(functions - set(expressions.FUNCTIONS) - set(expressions.CONTEXT_FUNCTIONS)):
            self.add(path, f"there is no function {name!r} (in {expression!r})")

    def _alternatives(self, path: str, condition: str) -> None:
        """Refuse an alternative that never gets its turn: an unknown name in front of `or` makes the whole condition false."""
        told = {derived.name for derived in self.rule.facts if not _read(derived.expression) - {"log", "has"}}
        for name in sorted(_hiding(condition) - told):
            self.add(path, f"where {name!r} is unknown, what stands behind 'or' is never asked: has({name!r}) and ... (in {condition!r})")

    def _template(self, path: str, text: str, names: set[str]) -> None:
        try:
            for expression, _required in templates.holes(text):
                self._expression(path, expression, names)
        except templates.TemplateError as error:
            self.add(path, str(error))

    def _texts(self) -> None:
        rule, names = self.rule, self._names()
        seen: set[str] = set()
        for index, derived in enumerate(rule.facts):
            if derived.type not in TYPES:
                self.add(f"$.facts[{index}]", f"fact {derived.name}: unknown type {derived.type!r}")
            self._expression("$.facts", derived.expression, names)
        self._template("$.title", rule.title, names)
        self._template("$.explain", " ".join(rule.explain.split()), names)
        for index, fix in enumerate(rule.fixes):
            path = f"$.fixes[{index}]"
            if fix.id in seen:
                self.add(path, f"the fix id {fix.id} occurs twice")
            seen.add(fix.id)
            if fix.when:
                self._expression(path, fix.when, names)
                self._alternatives(path, fix.when)
            for number, item in enumerate(fix.given):
                self._expression(f"{path}.given[{number}]", item.when, names)
                self._alternatives(f"{path}.given[{number}]", item.when)
                named = re.findall(r"""probe\(["']([\w.]+)["']\)""", item.when)
                for name in named:
                    if name not in {use.id for use in rule.probes}:
                        self.add(f"{path}.given[{number}]", f"the rule does not name the probe {name}, so nobody asks it")
            self._template(path, fix.title, names)
            if fix.why:
                self._template(path, fix.why, names)
            if not fix.do:
                self.add(path, f"the fix {fix.id} says nothing to do")
            for number, action in enumerate(fix.do):
                if action.kind == "patch" and action.text not in PATCHES:
                    self.add(f"{path}.do[{number}]", f"there is no patch {action.text!r}; there are {', '.join(PATCHES)}")
                self._template(f"{path}.do[{number}]", action.text, names)

    def _examples(self) -> None:
        if len(self.item.examples) < 2:
            self.add("$.examples" if self.item.examples else "$.id", "it needs two examples of different wording")
        if not self.item.counterexamples:
            self.add("$.id", "it needs a counterexample")
        if len(self.rule.fixes) < 3:
            self.add("$.fixes" if self.rule.fixes else "$.id", "it needs three fixes")


def _parsed(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:  # said by another check
        return ast.Constant(None)


def _read(expression: str) -> set[str]:
    """Give the names that stand in an expression, functions included."""
    return {node.id for node in ast.walk(_parsed(expression)) if isinstance(node, ast.Name)}


def _hiding(condition: str) -> set[str]:
    """Give the facts that a condition reads unasked in front of an alternative that does without them."""
    found: set[str] = set()
    functions = {*expressions.FUNCTIONS, *expressions.CONTEXT_FUNCTIONS}

    def names(node: ast.expr) -> set[str]:
        return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - functions

    def asked(node: ast.expr) -> set[str]:
        calls = [part for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "has"]
        return {str(call.args[0].value) for call in calls if call.args and isinstance(call.args[0], ast.Constant)}

    def walk(node: ast.AST, known: set[str]) -> None:
        if not isinstance(node, ast.BoolOp):
            for child in ast.iter_child_nodes(node):
                walk(child, known)
            return
        known = set(known)
        for index, value in enumerate(node.values):
            walk(value, known)
            if isinstance(node.op, ast.Or):
                unasked = names(value) - known - asked(value)
                found.update(unasked if any(unasked - names(later) for later in node.values[index + 1 :]) else ())
            known |= asked(value)

    walk(_parsed(condition), set())
    return found
