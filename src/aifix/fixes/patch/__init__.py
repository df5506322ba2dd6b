"""Changes of the user's code that fixes name (`do: {kind: patch, text: NAME}`), made with LibCST, shown as a diff by `aifix fix`.

This module knows the names and imports nothing heavy; `make` imports the transformation, and LibCST, when a patch is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aifix.fixes.source import SourceFile
    from aifix.model import Fact

PATCHES = {
    "autocast": "forward pass and loss under autocast, gradients scaled",
    "batch-size": "half the batch, gradients accumulated over two steps where the loop is a plain one",
    "checkpointing": "activations recomputed in the backward pass",
    "clip-grad": "the gradient norm clipped before each optimizer step",
    "contiguous": "a contiguous copy in front of view()",
    "create-on-device": "new tensors made on the device of the input",
    "detach-loss": "losses added up as numbers",
    "detach-state": "the state carried between steps cut off from its graph",
    "drop-last": "an incomplete last batch dropped",
    "find-unused": "DistributedDataParallel told to look for unused parameters",
    "long-targets": "class targets as int64",
    "main-guard": "the program's top-level code under the main guard",
    "map-location": "checkpoints loaded onto the CPU",
    "num-workers": "loading in the main process",
    "numpy-alias": "removed NumPy names replaced by their successors",
    "numpy-detach": "tensors detached and on the CPU before they become arrays",
    "pad-collate": "samples of unequal length padded to the longest of their batch",
    "reshape": "reshape() in place of view()",
    "to-device": "each batch moved to the model's device",
    "weights-only": "a trusted checkpoint loaded in full",
    "zero-grad": "gradients cleared in each step",
}
"""Each patch, and what it changes."""
_STEP = (b"backward(", b"Trainer(", b"TrainingArguments(", b"Config(")
_LOADER = (b"DataLoader", b"TrainingArguments(", b"Config(")
NEEDS: dict[str, tuple[bytes, ...]] = {
    "autocast": _STEP,
    "batch-size": _LOADER,
    "checkpointing": (b"from_pretrained(", b"Sequential(", b" in self."),
    "clip-grad": _STEP,
    "contiguous": (b"view(",),
    "detach-state": _STEP,
    "drop-last": (b"DataLoader",),
    "find-unused": (b"DDP(", b"DistributedDataParallel", b"TrainingArguments(", b"Trainer("),
    "map-location": (b"load",),
    "num-workers": _LOADER,
    "numpy-alias": (b"numpy",),
    "pad-collate": (b"DataLoader",),
    "reshape": (b"view(",),
    "weights-only": (b"load(",),
    "zero-grad": (b"backward(",),
}
"""Texts of which a source must hold one for a patch to find its place; a report offers no other. Any source will do for the rest."""


def may_apply(name: str, sources: Iterable[bytes]) -> bool:
    """Tell cheaply whether a patch may apply to some source; `make` alone knows, and needs LibCST for it."""
    needed = NEEDS.get(name, (b"",))
    return any(text in source for source in sources for text in needed)


class Change(NamedTuple):
    """One file's change; `before` and `after` are its whole text."""

    path: str
    before: str
    after: str


class Patch(NamedTuple):
    """A patch that applies: the files' changes, and remarks for the person who looks at them."""

    name: str
    changes: tuple[Change, ...]
    notes: tuple[str, ...]


class Refused(Exception):  # noqa: N818 - it is no error: the answer is no, and why
    """A patch does not apply; the message is the reason, for people."""


def make(name: str, sources: Sequence[SourceFile], facts: Mapping[str, Fact]) -> Patch:
    """Make a patch of the first source to which it applies (or of all, where the transformation says so).

    Args:
        name: the patch's name.
        sources: the user's files, the innermost frame's first.
        facts: the diagnosis' facts.

    Raises:
        Refused: it applies to none of them; says why for each.

    """
    import importlib

    if name not in PATCHES:
        raise Refused(f"there is no patch {name!r}")
    if not sources:
        raise Refused("no file of yours is known: name one with --file")
    try:
        from aifix.fixes.patch import edit
    except ImportError as error:
        raise Refused("patches need LibCST: pip install 'aifix-kb[fix]'") from error
    module = importlib.import_module(f"aifix.fixes.patch.{name.replace('-', '_')}")
    changes: list[Change] = []
    notes: list[str] = []
    reasons: list[str] = []
    for source in sources:
        try:
            code = edit.read(source)
            said = module.patch(code, edit.Case(facts, source.lines, source.functions))
            after = code.result()
        except Refused as refusal:
            reasons.append(f"{source.name}: {refusal}")
            continue
        changes.append(Change(source.path, code.text, after))
        notes += [note for note in said if note not in notes]
        if not getattr(module, "EVERY", False):
            break
    if not changes:
        raise Refused("; ".join(dict.fromkeys(reasons)))
    return Patch(name, tuple(changes), tuple(notes))
