"""Values that stand in the user's source: loaders, trainers, optimizers, autocast, defaults of arguments. By the syntax tree alone."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from aifix.model import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aifix.fixes.source import SourceFile

OPTIMIZERS = frozenset({"SGD", "Adam", "AdamW", "AdamW8bit", "Adam8bit", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Lion",
                        "LBFGS", "SparseAdam", "ASGD", "Rprop", "Adafactor", "FusedAdam"})  # fmt: skip
LOADER = {"batch_size": "batch", "num_workers": "workers", "drop_last": "drop_last", "pin_memory": "pin_memory", "shuffle": "shuffle",
          "persistent_workers": "persistent_workers", "prefetch_factor": "prefetch_factor", "timeout": "loader_timeout"}  # fmt: skip
TRAINER = {"per_device_train_batch_size": "batch", "gradient_accumulation_steps": "accumulation", "learning_rate": "lr",
           "dataloader_num_workers": "workers", "dataloader_drop_last": "drop_last", "fp16": "fp16", "bf16": "bf16",
           "gradient_checkpointing": "gradient_checkpointing", "max_grad_norm": "clip_norm", "max_seq_length": "sequence",
           "accumulate_grad_batches": "accumulation", "gradient_clip_val": "clip_norm", "precision": "precision",
           "strategy": "strategy"}  # fmt: skip
POSITIONS = {"DataLoader": ("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers")}
NAMES = frozenset({*LOADER.values(), *TRAINER.values(), "autocast", "grad_scaler", "clears_gradients", "optimizer", "batch_size",
                   "num_workers", "source_changed", "sequence", "epochs", "trainer", "batch_line", "smaller_command"})  # fmt: skip
"""Every fact that a source or a command line may give: conditions of any rule may ask for them."""


LONGEST = 120
"""Characters of a line that is quoted."""
LIGHTNING = frozenset({"max_epochs", "max_steps", "accelerator", "devices", "accumulate_grad_batches", "precision", "strategy", "fast_dev_run"})
"""Arguments by which Lightning's Trainer is told from transformers'."""


class Read(NamedTuple):
    """A value, and the line that gives it; `given` says that it came from the command line."""

    value: Any
    line: int
    given: Fact | None = None


def read(source: SourceFile, options: Mapping[str, Fact]) -> dict[str, Fact]:
    """Read the values of one file.

    Args:
        source: the file.
        options: the options by which the program was called, by name; they override the defaults of arguments.

    """
    try:
        tree = ast.parse(source.data)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):  # the last: Python 3.11, of two threads that parse at once
        return {}
    reader = _Reader(tree, options)
    name = os.path.basename(source.path)
    lines = source.data.decode("utf-8-sig", "replace").splitlines()
    found: dict[str, Fact] = {}
    for fact, item in reader.values():
        if fact in found:
            continue
        if fact == "batch" and 0 < item.line <= len(lines):
            text = " ".join(lines[item.line - 1].split())
            shown = f"{name}:{item.line}: {text if len(text) <= LONGEST else text[: LONGEST - 2] + ' …'}"
            found["batch_line"] = Fact(shown, shown, None, f"{name}:{item.line}")
        if item.given is not None:
            found[fact] = item.given
        elif isinstance(item.value, (bool, int, float, str)) and len(str(item.value)) < 80:
            found[fact] = Fact(str(item.value), item.value, None, f"{name}:{item.line}")
    for one, other in (("batch", "batch_size"), ("workers", "num_workers")):  # rules use both names
        if one in found:
            found.setdefault(other, found[one])
    return found


class _Reader:
    def __init__(self, tree: ast.Module, options: Mapping[str, Fact]) -> None:
        self.options = options
        self.calls: list[ast.Call] = []
        self.names: dict[str, ast.expr] = {}
        self.fields: dict[str, tuple[ast.expr, int]] = {}
        self.defaults: dict[str, Read] = {}
        self.targets: dict[ast.Call, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self.calls.append(node)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                self._assigned(node.targets[0], node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assigned(node.target, node.value)
                if isinstance(node.target, ast.Name):  # a field of a dataclass
                    self.fields.setdefault(node.target.id, (node.value, node.lineno))
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        self.fields.setdefault(key.value, (value, value.lineno))
        for call in self.calls:
            self._argument(call)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.names.setdefault(target.id, value)
            if isinstance(value, ast.Call):
                self.targets[value] = target.id
        elif isinstance(target, ast.Attribute):
            self.fields.setdefault(target.attr, (value, value.lineno))

    def _argument(self, call: ast.Call) -> None:
        """Take the default of `add_argument` or of a click or typer option."""
        if called(call) not in {"add_argument", "option", "Option"}:
            return
        names = [arg.value.lstrip("-").replace("-", "_") for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        given = next((self.options[name] for name in names if name in self.options), None)
        default = next((keyword.value for keyword in call.keywords if keyword.arg == "default"), None)
        action = next((keyword.value for keyword in call.keywords if keyword.arg == "action"), None)
        value: Any = None
        if isinstance(default, ast.Constant):
            value = default.value
        elif isinstance(action, ast.Constant) and action.value == "store_true":
            value = False
        for name in names:
            self.defaults.setdefault(name, Read(value, call.lineno, given))

    def resolve(self, node: ast.expr, depth: int = 0) -> Read | None:
        """Give the value of an expression: a constant, a name, an argument, a field; None where it is computed."""
        if depth > 4:
            return None
        if isinstance(node, ast.Constant):
            return Read(node.value, node.lineno)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            return Read(-value, node.lineno) if isinstance(value, (int, float)) else None
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.resolve(self.names[node.id], depth + 1)
        if isinstance(node, ast.Call) and called(node) in {"int", "float"} and len(node.args) == 1:
            return self.resolve(node.args[0], depth + 1)
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            name = node.slice.value
        elif isinstance(node, ast.Name):
            name = node.id
        if name in self.defaults:
            return self.defaults[name]
        if name in self.fields and not isinstance(self.fields[name][0], (ast.Attribute, ast.Name)):
            return self.resolve(self.fields[name][0], depth + 1)
        return None

    def values(self) -> Iterator[tuple[str, Read]]:
        """Give the facts of the calls, the training loader's first."""
        loaders = [call for call in self.calls if called(call).endswith("DataLoader")]
        loaders.sort(key=self._training, reverse=True)
        for call in loaders:
            yield from self._keywords(call, LOADER)
        for call in self.calls:
            name = called(call)
            if name.endswith(("TrainingArguments", "Trainer", "SFTConfig", "Config")):
                yield from self._keywords(call, TRAINER)
                if name.endswith(("TrainingArguments", "SFTConfig")):
                    yield "trainer", Read("transformers", call.lineno)
                elif name == "Trainer" and LIGHTNING & {keyword.arg for keyword in call.keywords}:
                    yield "trainer", Read("lightning", call.lineno)
            elif name in OPTIMIZERS:
                yield "optimizer", Read(name, call.lineno)
                yield from self._keywords(call, {"lr": "lr"}, ("params", "lr"))
            elif name == "autocast":
                yield "autocast", Read(value=True, line=call.lineno)
            elif name == "GradScaler":
                yield "grad_scaler", Read(value=True, line=call.lineno)
            elif name == "gradient_checkpointing_enable":
                yield "gradient_checkpointing", Read(value=True, line=call.lineno)
            elif name in {"clip_grad_norm_", "clip_grad_norm"} and len(call.args) > 1:
                found = self.resolve(call.args[1])
                if found is not None:
                    yield "clip_norm", found
        if (found_backward := self._uncleared()) is not None:
            yield "clears_gradients", found_backward
        for name in ("accumulation_steps", "gradient_accumulation_steps", "accum_steps"):
            if name in self.names and (found := self.resolve(self.names[name])) is not None:
                yield "accumulation", found

    def _uncleared(self) -> Read | None:
        """Tell whether a file that calls backward() and step() clears gradients anywhere; None where it does not train."""
        methods = {called(call): call for call in reversed(self.calls) if isinstance(call.func, ast.Attribute)}
        if "backward" not in methods or "step" not in methods:
            return None
        return Read("zero_grad" in methods or "grad" in self.fields, methods["backward"].lineno)

    def _keywords(self, call: ast.Call, wanted: Mapping[str, str], positions: tuple[str, ...] = ()) -> Iterator[tuple[str, Read]]:
        given = dict(zip(positions or POSITIONS.get(called(call), ()), call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        for argument, fact in wanted.items():
            found = self.resolve(given[argument]) if argument in given else None
            if found is not None:
                yield fact, found

    def _training(self, call: ast.Call) -> int:
        """Rank a loader: the one whose name says training, or that shuffles, before the others."""
        name = self.targets.get(call, "").lower()
        shuffles = any(keyword.arg == "shuffle" and isinstance(keyword.value, ast.Constant) and keyword.value.value for keyword in call.keywords)
        return 2 * ("train" in name) + shuffles - 2 * any(word in name for word in ("val", "test", "eval"))


def called(call: ast.Call) -> str:
    """Give the last name of what is called: `torch.utils.data.DataLoader` is DataLoader."""
    target = call.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""
