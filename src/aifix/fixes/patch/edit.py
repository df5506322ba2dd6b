"""Reading and changing a source with LibCST: what the transformations share. Formatting and comments stay."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from aifix.fixes.patch import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aifix.fixes.source import SourceFile
    from aifix.model import Fact

    Edit = Callable[[cst.CSTNode], cst.CSTNode]

Node = TypeVar("Node", bound=cst.CSTNode)
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


class Case(NamedTuple):
    """What a transformation may know: the diagnosis' facts, and the lines and functions of the traceback in this file, innermost first."""

    facts: Mapping[str, Fact]
    lines: tuple[int, ...] = ()
    functions: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Give a fact's text, empty where it is unknown."""
        return self.facts[name].text if name in self.facts else ""


class Code:
    """A parsed source and the edits that are to be made in it."""

    def __init__(self, text: str) -> None:
        """Parse; raises Refused where the text is no Python."""
        self.text = text
        try:
            wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
            self.module = wrapper.module
            self._positions = wrapper.resolve(PositionProvider)
            self._parents = wrapper.resolve(ParentNodeProvider)
        except (cst.ParserSyntaxError, RecursionError) as error:
            raise Refused("the file cannot be parsed as Python") from error
        self._edits: dict[cst.CSTNode, list[Edit]] = defaultdict(list)
        self._before: dict[cst.CSTNode, list[cst.BaseStatement]] = defaultdict(list)
        self._after: dict[cst.CSTNode, list[cst.BaseStatement]] = defaultdict(list)

    # ------------------------------------------------------------ looking

    def line(self, node: cst.CSTNode) -> int:
        """Give the line on which a node begins."""
        return int(self._positions[node].start.line)

    def spans(self, node: cst.CSTNode, line: int) -> bool:
        """Tell whether a line lies within a node."""
        place = self._positions[node]
        return bool(place.start.line <= line <= place.end.line)

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Give the node around a node."""
        return self._parents.get(node)

    def above(self, node: cst.CSTNode, kinds: type[Node] | tuple[type[Node], ...]) -> Node | None:
        """Give the nearest node of a kind around a node."""
        here = self.parent(node)
        while here is not None and not isinstance(here, kinds):
            here = self.parent(here)
        return here

    def find(self, kind: type[Node], within: cst.CSTNode | None = None) -> list[Node]:
        """Give all nodes of a kind, in the order of the text."""
        return [node for node in walk(within or self.module) if isinstance(node, kind)]

    def calls(self, *names: str, within: cst.CSTNode | None = None) -> list[cst.Call]:
        """Give the calls of some names, by the last part of the name or by the dotted whole."""
        wanted = set(names)
        return [call for call in self.find(cst.Call, within) if (name := dotted(call.func)) in wanted or name.rpartition(".")[2] in wanted]

    def statement(self, node: cst.CSTNode) -> Statement:
        """Give the statement that a node stands in (or is)."""
        here: cst.CSTNode | None = node
        while here is not None and not isinstance(here, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            here = self.parent(here)
        if here is None:
            raise Refused("the place in the file is no statement")
        return here

    def at(self, lines: Iterable[int]) -> list[cst.SimpleStatementLine]:
        """Give the simple statements on some lines, in the order of the lines."""
        found = []
        statements = self.find(cst.SimpleStatementLine)
        for line in lines:
            found += [one for one in statements if self.spans(one, line)]
        return found

    def scope(self, node: cst.CSTNode) -> cst.CSTNode:
        """Give the function around a node, or the module."""
        return self.above(node, (cst.FunctionDef,)) or self.module

    def siblings(self, statement: cst.CSTNode) -> Sequence[cst.BaseStatement]:
        """Give the statements of the block that a statement stands in."""
        parent = self.parent(statement)
        body = getattr(parent, "body", ())
        return body if isinstance(body, (list, tuple)) else ()

    def assigned(self, name: str, within: cst.CSTNode | None = None) -> list[cst.Assign]:
        """Give the assignments to a plain name."""
        return [one for one in self.find(cst.Assign, within) if any(names_in(target.target) == [name] for target in one.targets)]

    def imported(self, module: str) -> str:
        """Give the name under which a module is imported (`numpy` as `np`), empty where it is not."""
        for one in self.find(cst.Import):
            for alias in one.names:
                if dotted(alias.name) == module:
                    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else module
                if dotted(alias.name).startswith(f"{module}.") and alias.asname is None:
                    return module
        return ""

    def name_of(self, module: str, name: str) -> str:
        """Give the local name of `from module import name`, empty where it is not imported so."""
        for one in self.find(cst.ImportFrom):
            if one.module is not None and dotted(one.module) == module and not isinstance(one.names, cst.ImportStar):
                for alias in one.names:
                    if dotted(alias.name) == name:
                        return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else name
        return ""

    def fresh(self, *wanted: str) -> str:
        """Give the first of some names that the file does not use."""
        used = {node.value for node in self.find(cst.Name) if not (isinstance(above := self.parent(node), cst.Attribute) and above.attr is node)}
        return next((name for name in wanted if name not in used), wanted[-1] + "_")

    # ------------------------------------------------------------ changing

    def change(self, node: Node, edit: Callable[[Node], cst.CSTNode]) -> None:
        """Change a node when all is known; several changes of one node are made in turn."""
        self._edits[node].append(edit)  # type: ignore[arg-type]  # the node that comes back is of the kind that went in

    def replace(self, node: cst.CSTNode, expression: str) -> None:
        """Put an expression in a node's place."""
        self.change(node, lambda _old: cst.parse_expression(expression, self.module.config_for_parsing))

    def insert_before(self, statement: cst.CSTNode, *lines: str) -> None:
        """Put statements in front of one."""
        self._before[statement] += self.parsed(lines)

    def insert_after(self, statement: cst.CSTNode, *lines: str) -> None:
        """Put statements behind one."""
        self._after[statement] += self.parsed(lines)

    def parsed(self, lines: Iterable[str]) -> list[cst.BaseStatement]:
        """Parse statements."""
        return [statement for line in lines for statement in cst.parse_module(line, self.module.config_for_parsing).body]

    def remove(self, statement: cst.CSTNode) -> None:
        """Take a statement out."""
        self.change(statement, lambda _old: cst.RemoveFromParent())  # type: ignore[arg-type, return-value]

    def argument(self, call: cst.Call, name: str, value: str) -> None:
        """Set a keyword argument of a call."""
        self.change(call, lambda old: with_argument(old, name, value))

    def without(self, call: cst.Call, *names: str) -> None:
        """Take keyword arguments out of a call."""
        self.change(call, lambda old: without_arguments(old, names))

    def add_import(self, line: str) -> None:
        """Import something, behind the imports at the top of the file."""
        if any(self.module.code_for_node(one).strip() == line for one in self.module.body if isinstance(one, cst.SimpleStatementLine)):
            return
        last = None
        for statement in self.module.body:
            if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], (cst.Import, cst.ImportFrom)):
                last = statement
            elif last is not None or not _docstring(statement):
                break
        if last is not None:
            self.insert_after(last, line)
        else:
            first = self.module.body[0]
            (self.insert_after if _docstring(first) else self.insert_before)(first, line)

    def result(self) -> str:
        """Make the edits and give the new text.

        Raises:
            Refused: nothing would change, or the result is no Python.

        """
        text = self.module.visit(_Editor(self._edits, self._before, self._after)).code
        if text == self.text:
            raise Refused("there is nothing to change")
        try:
            ast.parse(text)
        except SyntaxError as error:
            raise Refused(f"the change would not be valid Python (line {error.lineno})") from error
        return text


class _Editor(cst.CSTTransformer):
    """Makes the collected edits in one walk."""

    def __init__(
        self,
        edits: Mapping[cst.CSTNode, list[Edit]],
        before: Mapping[cst.CSTNode, list[cst.BaseStatement]],
        after: Mapping[cst.CSTNode, list[cst.BaseStatement]],
    ) -> None:
        super().__init__()
        self._edits, self._before, self._after = edits, before, after

    def on_leave(self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT) -> Any:
        node: cst.CSTNode = updated_node
        for edit in self._edits.get(original_node, ()):
            node = edit(node)
        before, after = self._before.get(original_node, []), self._after.get(original_node, [])
        removed = isinstance(node, cst.RemovalSentinel)
        if not before and not after:
            return node
        if before and not removed and isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            # blank lines above the statement go above what is put in front of it; a comment stays with its statement
            lead = list(node.leading_lines)
            blank = next((index for index, line in enumerate(lead) if line.comment is not None), len(lead))
            before = [before[0].with_changes(leading_lines=lead[:blank]), *before[1:]]
            gap = [cst.EmptyLine(indent=False)] * 2 if isinstance(before[-1], cst.FunctionDef) else []
            node = node.with_changes(leading_lines=[*gap, *lead[blank:]])
        middle = [] if removed else [node]
        return cst.FlattenSentinel([*before, *middle, *after])


def read(source: SourceFile) -> Code:
    """Parse a source file.

    Raises:
        Refused: it is not UTF-8, or no Python.

    """
    if source.changed:
        raise Refused(f"it has changed since the run: line {source.changed} reads differently now")
    try:
        return Code(source.data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Refused("it is not encoded in UTF-8") from error


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Walk a tree in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def dotted(node: cst.CSTNode) -> str:
    """Give the dotted name of an expression: `torch.utils.data.DataLoader`; of `a().b` only `.b`; empty where it has none."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return f"{dotted(node.value)}.{node.attr.value}"
    return ""


def names_in(target: cst.BaseExpression | cst.BaseAssignTargetExpression) -> list[str]:
    """Give the plain names of an assignment's or loop's target."""
    if isinstance(target, cst.Name):
        return [target.value]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in names_in(element.value)]
    return []


def code_of(node: cst.CSTNode) -> str:
    """Give a node's text."""
    return cst.Module([]).code_for_node(node)


def keyword(call: cst.Call, name: str) -> cst.Arg | None:
    """Give a keyword argument of a call."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def positional(call: cst.Call) -> list[cst.Arg]:
    """Give the positional arguments of a call."""
    return [arg for arg in call.args if arg.keyword is None and not arg.star]


def with_argument(call: cst.Call, name: str, value: str) -> cst.Call:
    """Set a keyword argument, spelled like the others of the call."""
    expression = cst.parse_expression(value)
    known = keyword(call, name)
    if known is not None:
        return call.with_changes(args=[arg.with_changes(value=expression) if arg is known else arg for arg in call.args])
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    added = cst.Arg(expression, keyword=cst.Name(name), equal=plain)
    args = list(call.args)
    if not args:
        return call.with_changes(args=[added])
    last = args[-1]
    between: cst.Comma | cst.MaybeSentinel = next(
        (arg.comma for arg in reversed(args[:-1]) if isinstance(arg.comma, cst.Comma)), cst.MaybeSentinel.DEFAULT
    )
    if not isinstance(between, cst.Comma):
        after = call.whitespace_before_args if isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace) else cst.SimpleWhitespace(" ")
        between = cst.Comma(whitespace_after=after)
    added = added.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    args[-1] = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    return call.with_changes(args=[*args, added])


def without_arguments(call: cst.Call, names: Iterable[str]) -> cst.Call:
    """Take keyword arguments out."""
    gone = set(names)
    args = [arg for arg in call.args if arg.keyword is None or arg.keyword.value not in gone]
    if len(args) == len(call.args):
        return call
    if args and args[-1] is not call.args[-1]:  # the new last one ends as the old last one did
        args[-1] = args[-1].with_changes(comma=call.args[-1].comma, whitespace_after_arg=call.args[-1].whitespace_after_arg)
    return call.with_changes(args=args)


def _docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )
