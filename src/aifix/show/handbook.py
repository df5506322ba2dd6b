"""A rule as a page of the handbook: its texts without a case, its wordings, and the rules that it hangs with."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

import msgspec

from aifix.match.skeleton import HOLE, skeletons
from aifix.reason import templates
from aifix.reason.expressions import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.model import Rule, Signature

WORDY = 8
"""Letters that a wording must have to tell anybody anything."""

FAMILIES = {
    "autograd": "autograd: gradients and the graph",
    "build": "build: compilers and extensions",
    "ckpt": "ckpt: checkpoints",
    "compile": "compile: torch.compile, Triton, ONNX, TensorRT",
    "cuda": "cuda: CUDA runtime, memory, libraries",
    "data": "data: datasets and loaders",
    "deps": "deps: Python packages",
    "dist": "dist: distributed runs, NCCL",
    "go": "go: Go programs",
    "gpu": "gpu: hardware faults, Xid",
    "hf": "hf: Hugging Face",
    "host": "host: memory, disk, limits of the machine",
    "jax": "jax: JAX and XLA",
    "mps": "mps: Apple GPUs",
    "npm": "npm: Node packages",
    "rocm": "rocm: AMD GPUs",
    "serve": "serve: inference servers",
    "tensor": "tensor: shapes, types, devices",
    "tf": "tf: TensorFlow, Keras",
    "train": "train: loss, numerics, trainers",
    "xpu": "xpu: Intel and other accelerators",
}
"""What people call the families of rules."""


class Links(msgspec.Struct, frozen=True):
    """The rules that a rule hangs with, by id."""

    causes: tuple[str, ...] = ()
    """What may have caused it."""
    symptoms: tuple[str, ...] = ()
    """What it may cause."""
    refines: tuple[str, ...] = ()
    """More general ones."""
    refined: tuple[str, ...] = ()
    """More specific ones."""

    def __bool__(self) -> bool:
        return bool(self.causes or self.symptoms or self.refines or self.refined)


def title(rule: Rule) -> str:
    """Give a rule's title where no log gives values."""
    return templates.bare(rule.title)


def without_case(rule: Rule) -> Rule:
    """Fill a rule's texts where no log gives values: optional parts fall back, names stand in angle brackets."""
    fixes = tuple(
        msgspec.structs.replace(
            fix,
            title=_text(fix.title),
            why=_prose(fix.why),
            do=tuple(msgspec.structs.replace(action, text=_text(action.text)) for action in fix.do),
        )
        for fix in rule.fixes
    )
    return msgspec.structs.replace(rule, title=title(rule), explain=_prose(rule.explain), fixes=fixes)


def wording(signature: Signature) -> str:
    """Give what a program prints that a signature matches, variable parts as an ellipsis; empty where that says nothing."""
    if not signature.pattern:
        return ""
    text = next((" ".join(skeleton.replace(HOLE, "…").split()) for skeleton in skeletons(signature.pattern)), "")
    return text if sum(map(str.isalpha, text)) >= WORDY else ""


def wordings(rule: Rule) -> list[str]:
    """Give what programs print for it, variable parts as an ellipsis."""
    return list(dict.fromkeys(text for signature in rule.signatures if (text := wording(signature))))


def links(rules: Mapping[str, Rule]) -> dict[str, Links]:
    """Give every rule's links, both ways; a cause named as `dist.*` is every rule of that name."""
    known = list(rules)
    causes = {rule.id: tuple(dict.fromkeys(one for name in rule.causes for one in fnmatch.filter(known, name))) for rule in rules.values()}
    refined = {rule.id: tuple(dict.fromkeys(one.to for one in rule.refine if one.to in known)) for rule in rules.values()}
    return {
        rule_id: Links(
            causes[rule_id],
            tuple(other for other, named in causes.items() if rule_id in named),
            tuple(other for other, named in refined.items() if rule_id in named),
            refined[rule_id],
        )
        for rule_id in known
    }


def _unknown(_expression: str) -> str:
    raise UnknownNameError


def _named(expression: str) -> str:
    return f"<{expression}>" if expression.isidentifier() else "…"


def _text(text: str) -> str:
    try:
        return templates.fill(text, _unknown)
    except templates.MissingError:
        pass
    try:
        return templates.fill(text, _named)
    except templates.MissingError:
        return text


def _prose(text: str) -> str:
    return templates.prose(text, _unknown) or templates.prose(text, _named) if text else ""
