"""The program's top-level code under `if __name__ == "__main__":`, where processes are started by spawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from aifix.fixes.patch import Refused
from aifix.fixes.patch.edit import dotted, walk

if TYPE_CHECKING:
    from aifix.fixes.patch.edit import Case, Code

STARTS = frozenset({"DataLoader", "Process", "Pool", "Manager", "Queue", "spawn", "ProcessPoolExecutor", "Trainer", "LLM", "map", "fit", "train"})
"""What starts processes, or is about to."""
HARMLESS = frozenset(
    {"set_start_method", "filterwarnings", "basicConfig", "manual_seed", "seed", "set_num_threads", "append", "insert", "simplefilter"}
)
"""Calls that each process should make for itself."""


def patch(code: Code, case: Case) -> list[str]:
    """Move everything from the first statement that does something under the guard; definitions and imports stay outside."""
    del case
    body = list(code.module.body)
    if any(isinstance(one, cst.If) and "__main__" in code.module.code_for_node(one.test) for one in body):
        raise Refused("a main guard stands in it already: move what starts processes into it")
    first = next((index for index, one in enumerate(body) if _does(one)), None)
    if first is None:
        raise Refused("its top level only defines things: the processes are started elsewhere")
    kept: list[cst.CSTNode] = list(body[:first])
    moved: list[cst.SimpleStatementLine | cst.BaseCompoundStatement] = []
    for statement in body[first:]:
        (kept if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) or _imports(statement) else moved).append(statement)
    lead = cst.EmptyLine(indent=False)
    head = moved[0]
    if isinstance(head, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
        comments = list(head.leading_lines)
        while comments and comments[0].comment is None:
            comments.pop(0)
        moved[0] = head.with_changes(leading_lines=comments)
    guard = cst.parse_statement('if __name__ == "__main__":\n    pass\n')
    if isinstance(guard, cst.If):
        guard = guard.with_changes(body=cst.IndentedBlock(moved, footer=()), leading_lines=[lead] * (2 if kept else 0))
    code.change(code.module, lambda old: old.with_changes(body=[*kept, guard]))
    return ["Worker processes import this file again: what they need (datasets, transforms, constants) must stay above the guard."]


def _imports(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(isinstance(one, (cst.Import, cst.ImportFrom)) for one in statement.body)


def _does(statement: cst.BaseStatement) -> bool:
    """Tell whether a statement does something that only the first process should do."""
    if isinstance(statement, (cst.For, cst.While, cst.With)):
        return True
    if isinstance(statement, cst.Try):
        return not all(_imports(one) for one in statement.body.body if isinstance(one, cst.BaseStatement))
    if isinstance(statement, cst.SimpleStatementLine):
        for small in statement.body:
            if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
                return dotted(small.value.func).rpartition(".")[2] not in HARMLESS
            if isinstance(small, (cst.Assign, cst.AnnAssign)):
                calls = [dotted(node.func).rpartition(".")[2] for node in walk(small) if isinstance(node, cst.Call)]
                if any(name in STARTS or name == "parse_args" for name in calls):
                    return True
    return False
