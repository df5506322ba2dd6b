"""The rules' expression language: simpleeval over facts, without attributes, comprehensions or assignment."""

from __future__ import annotations

import ast
import functools
import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import simpleeval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_LENGTH = 2000
"""Characters of an expression; longer ones are refused before they are parsed."""

TYPE_CHECKING_ERRORS = (
    simpleeval.InvalidExpression,
    TypeError,
    ValueError,
    ZeroDivisionError,
    IndexError,
    KeyError,
    OverflowError,
    AttributeError,
    RecursionError,
    MemoryError,
)
"""What evaluation of a well-formed expression may raise on the facts of one log."""


class UnknownNameError(Exception):
    """A name in an expression is no fact of this log: the expression has no value, and a condition on it is false."""


class ExpressionError(ValueError):
    """The expression is not well formed."""


@functools.total_ordering
class Version:
    """A version that compares by its numbers: 2.10 > 2.9, 2.1 == 2.1.0, local parts (+cu121) ignored."""

    def __init__(self, text: str) -> None:
        """Read the leading numbers of the text."""
        self.text = text
        numbers = [int(part) for part in re.findall(r"\d+", re.split(r"[+]", text.lstrip("v"))[0])[:4]]
        self.numbers = tuple(numbers + [0] * (4 - len(numbers)))

    def __eq__(self, other: object) -> bool:
        return self.numbers == _version(other).numbers

    def __lt__(self, other: object) -> bool:
        return self.numbers < _version(other).numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        return self.text


def _version(value: object) -> Version:
    return value if isinstance(value, Version) else Version(str(value))


def size(value: float) -> str:
    """Give a number of bytes in the unit a person would use: 1331439861 -> '1.24 GiB'."""
    sign, value = ("-", -value) if value < 0 else ("", value)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024 or unit == "PiB":
            return f"{sign}{value:.0f} {unit}" if unit == "bytes" else f"{sign}{value:.2f} {unit}"
        value /= 1024
    raise AssertionError(value)  # pragma: no cover


def duration(value: float) -> str:
    """Give seconds in the unit a person would use: 1800 -> '30 min'."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    for limit, divisor, unit in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if value < limit:
            return f"{value / divisor:g} {unit}" if value % divisor == 0 else f"{value / divisor:.1f} {unit}"
    return f"{value / 86400:.1f} days"


def numel(shape: Any) -> int:
    """Give the number of elements of a shape."""
    return math.prod(shape)


def dim(shape: Any, index: int) -> int:
    """Give one dimension of a shape."""
    return int(shape[index])


WRAPPERS = (
    "module.",
    "_orig_mod.",
    "model.",
    "net.",
    "network.",
    "backbone.",
    "encoder.",
    "student.",
    "ema_model.",
    "_fsdp_wrapped_module.",
    "_forward_module.",
    "base_model.model.",
    "base_model.",
    "transformer.",
    "_checkpoint_wrapped_module.",
    "state_dict.",
    "generator.",
    "_model.",
)


def prefix_only(missing: str, unexpected: str) -> bool:
    """Tell whether two printed lists of keys (`"a.b", "c.d"`) are equal up to a wrapper's prefix, or nearly so.

    Half of the shorter list must pair off, since long lists are printed cut.
    """
    left, right = (set(re.findall(r"[\w.\-]+\.[\w.\-]+|\w+", text)) for text in (missing, unexpected))
    if not left or not right:
        return False
    for prefix in WRAPPERS:
        for one, other in ((left, right), (right, left)):
            plain = {key.replace(prefix, "") for key in one}
            if any(prefix in key for key in one) and not all(prefix in key for key in other) and len(plain & other) * 2 >= min(len(one), len(other)):
                return True
    return False


def only_if(condition: Any) -> str:
    """Give nothing where a condition holds, and no value where it does not: keeps or drops the part of a text around it."""
    if not condition:
        raise UnknownNameError("only_if")
    return ""


def unversioned(package: str) -> str:
    """Give a package's name without the version behind it: `@types/node@20.1.0` is `@types/node`."""
    return package if package.rfind("@") <= 0 else package[: package.rfind("@")]


def few(names: Any, most: int = 3) -> str:
    """Give the first of some names that commas part, and say how many more there are."""
    parts = [part.strip() for part in str(names).rstrip(" .").split(",")]
    parts = [part for part in parts if part]
    if len(parts) <= most + 1:
        return ", ".join(parts)
    return f"{', '.join(parts[:most])} and {len(parts) - most} more"


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "version": Version,
    "size": size,
    "duration": duration,
    "numel": numel,
    "dim": dim,
    "prefix_only": prefix_only,
    "few": few,
    "only_if": only_if,
    "unversioned": unversioned,
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "ln": math.log,
    "round": round,
    "abs": abs,
    "min": min,
    "max": max,
    "len": len,
    "int": int,
    "float": float,
    "str": str,
    "lower": lambda text: str(text).lower(),
    "upper": lambda text: str(text).upper(),
}
CONTEXT_FUNCTIONS = ("has", "log", "catalogue", "distinct", "text", "probe", "probed")
"""Functions that read the case: known to lint, bound by the reasoner."""


class _Evaluator(simpleeval.SimpleEval):  # type: ignore[misc]  # the library has no types
    """simpleeval without attribute access and f-strings; an unknown name says so with its own exception."""

    def __init__(self, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(functions=dict(functions), names=self._look_up)
        self._facts = names
        for node in (ast.Attribute, ast.JoinedStr, ast.FormattedValue):
            self.nodes.pop(node, None)
        self.nodes[ast.Tuple] = lambda node: tuple(self._eval(item) for item in node.elts)
        self.nodes[ast.List] = lambda node: [self._eval(item) for item in node.elts]

    def _look_up(self, node: ast.Name) -> Any:
        if node.id in self._facts:
            return self._facts[node.id]
        raise UnknownNameError(node.id)


@functools.lru_cache(maxsize=4096)
def parse(expression: str) -> ast.AST:
    """Parse an expression once.

    Raises:
        ExpressionError: it is too long, not one expression, or uses what the language does not have.

    """
    text = expression.strip()
    if len(text) > MAX_LENGTH:
        message = f"the expression is longer than {MAX_LENGTH} characters"
        raise ExpressionError(message)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a regex in an expression has escapes that Python's strings do not know, and keeps them
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = f"not an expression: {text!r} ({getattr(error, 'msg', error)})"
        raise ExpressionError(message) from error
    for node in ast.walk(tree):
        if isinstance(
            node,
            (
                ast.Attribute,
                ast.Lambda,
                ast.ListComp,
                ast.SetComp,
                ast.DictComp,
                ast.GeneratorExp,
                ast.Await,
                ast.Yield,
                ast.NamedExpr,
                ast.JoinedStr,
                ast.Starred,
            ),
        ):
            message = f"{type(node).__name__} is not part of the expression language: {text!r}"
            raise ExpressionError(message)
    return tree


def names_in(expression: str) -> tuple[set[str], set[str]]:
    """Give the names and the functions that an expression uses.

    Raises:
        ExpressionError: it does not parse.

    """
    names: set[str] = set()
    functions: set[str] = set()
    for node in ast.walk(parse(expression)):
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name):
                message = f"only plain functions can be called: {expression!r}"
                raise ExpressionError(message)
            functions.add(node.func.id)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    return names - functions, functions


def evaluate(expression: str, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None) -> Any:
    """Evaluate an expression on the facts of a case.

    Args:
        expression: the text.
        names: values by name.
        functions: further functions, beside `FUNCTIONS`.

    Raises:
        UnknownNameError: a name in it is no fact here, or its operands do not fit (a missing or non-numeric value).

    """
    evaluator = _Evaluator(names, {**FUNCTIONS, **(functions or {})})
    try:
        return evaluator.eval(expression, previously_parsed=parse(expression))
    except UnknownNameError:
        raise
    except TYPE_CHECKING_ERRORS as error:
        message = f"{expression}: {error}"
        raise UnknownNameError(message) from error


def holds(expression: str, names: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] | None = None) -> bool:
    """Tell whether a condition holds; false when a name in it is unknown."""
    try:
        return bool(evaluate(expression, names, functions))
    except UnknownNameError:
        return False
