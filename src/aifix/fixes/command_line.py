"""How the failed program was called: the command line in the log, or the process's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aifix.model import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.model import Document

HEAD = 300
"""Lines at the start of a log in which its command may stand."""
LONGEST = 4000
"""Characters of a command line."""
LONGEST_SHOWN = 400
"""Characters of a command that is written again."""
_COMMAND = (
    r"(?:^|[$#>%❯+]\s+|cmd:? |Command ')(?P<command>(?:[A-Z_][A-Z0-9_]*=\S+\s+)*"
    r"(?:\S*/)?(?:python[\d.]*|torchrun|accelerate\s+launch|deepspeed|uv\s+run|poetry\s+run|srun|mpirun|horovodrun)\s+\S.*)$"
)
_LISTED = r"Command '?(?P<list>\[\s*'[^\]]{1,4000}\])'? (?:returned|died)|\bcmd = (?P<cmd>\[?/?\S*python.*)$"
OPTIONS = {
    "batch": ("batch_size", "bs", "b", "batchsize", "batch", "train_batch_size", "per_device_train_batch_size", "per_gpu_train_batch_size",
              "micro_batch_size", "train_batch"),
    "workers": ("num_workers", "workers", "j", "n_workers", "dataloader_num_workers", "num_data_workers"),
    "lr": ("lr", "learning_rate", "base_lr"),
    "accumulation": ("gradient_accumulation_steps", "accumulation_steps", "accumulate_grad_batches", "grad_accum", "accum_iter"),
    "sequence": ("max_seq_length", "seq_len", "max_length", "block_size", "model_max_length"),
    "epochs": ("epochs", "num_train_epochs", "max_epochs"),
    "precision": ("precision", "mixed_precision"),
}  # fmt: skip
"""Facts, and the options by which programs are given them."""
NAMES = {option: name for name, options in OPTIONS.items() for option in options}


class Called(NamedTuple):
    """A command: the script, its options by name (dashes as underscores) with where they stand, and the facts among them."""

    script: str = ""
    options: dict[str, Fact] = {}  # noqa: RUF012 - never written to
    facts: dict[str, Fact] = {}  # noqa: RUF012 - likewise


def read(document: Document, argv: Sequence[str] = ()) -> Called:
    """Read the command line that started the failed program; empty where nothing tells."""
    if argv:
        return _parse(list(argv), "command line")
    for line in document.lines[:HEAD]:
        text = line.text
        if (".py" not in text and " -m " not in text) or text.lstrip().startswith(("File ", "/")):
            continue
        found = re.search(_COMMAND, text[:LONGEST])
        if found:
            called = _parse(_split(found["command"]), f"command line, line {line.number}")
            if called.script:
                return called
    for line in reversed(document.lines[-HEAD:]):
        found = re.search(_LISTED, line.text[:LONGEST]) if "ommand '" in line.text or "cmd = " in line.text else None
        if found:
            text = (found["list"] or found["cmd"]).strip("[]").replace("', '", "' '")
            called = _parse(_split(text), f"command line, line {line.number}")
            if called.script:
                return called
    return Called()


def _split(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text.partition(" 2>&1")[0].partition(" | ")[0], comments=False)
    except ValueError:
        return text.split()


def _parse(words: list[str], origin: str) -> Called:
    """Read the options behind the script; those in front of it are the launcher's."""
    at = next((index for index, word in enumerate(words) if word.endswith(".py")), None)
    if at is None and "-m" in words[:-1]:
        at = words.index("-m") + 1
    if at is None:
        return Called()
    options: dict[str, Fact] = {}
    waiting = ""
    for word in words[at + 1 :]:
        if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            name, equals, value = word.lstrip("-").partition("=")
            waiting = name.replace("-", "_")
            options[waiting] = Fact("true", True, None, origin)  # noqa: FBT003 - a fact's value
            if equals:
                options[waiting] = _fact(value, origin)
                waiting = ""
        elif waiting:
            options[waiting] = _fact(word, origin)
            waiting = ""
        elif "=" in word and word.split("=")[0].replace(".", "_").isidentifier():  # hydra
            name, _, value = word.partition("=")
            options[name.rpartition(".")[2]] = _fact(value, origin)
    facts: dict[str, Fact] = {}
    for option, fact in options.items():
        fact_name = NAMES.get(option)
        if fact_name is not None and (fact_name == "precision") == isinstance(fact.value, str) and fact.value is not True:
            facts.setdefault(fact_name, fact)
    smaller = _smaller(words, at)
    if smaller:
        facts["smaller_command"] = Fact(smaller, smaller, None, origin)
    return Called(words[at], options, facts)


def _smaller(words: list[str], at: int) -> str:
    """Write the command again with half the batch, and twice the accumulation where that is an option of it; empty where it names no batch."""
    import shlex

    again, changed = list(words), {"batch": False, "accumulation": False}
    trainer = False
    for place in range(at + 1, len(words)):
        name, equals, value = words[place].lstrip("-").partition("=")
        fact = NAMES.get(name.replace("-", "_").rpartition(".")[2])
        if fact not in changed or not (words[place].startswith("-") or equals):
            continue
        if not equals:
            value = words[place + 1] if place + 1 < len(words) else ""
        if not value.isdigit() or (fact == "batch" and int(value) < 2):
            continue
        other = str(int(value) // 2 if fact == "batch" else int(value) * 2)
        again[place if equals else place + 1] = words[place][: -len(value)] + other if equals else other
        changed[fact] = True
        trainer = trainer or "per_device_train" in name
    if not changed["batch"]:
        return ""
    if trainer and not changed["accumulation"]:
        again += ["--gradient_accumulation_steps", "2"]
    return shlex.join(again) if len(" ".join(again)) < LONGEST_SHOWN else ""


def _fact(text: str, origin: str) -> Fact:
    for convert in (int, float):
        try:
            return Fact(text, convert(text), None, origin)
        except ValueError:
            continue
    if text.lower() in {"true", "false"}:
        return Fact(text, text.lower() == "true", None, origin)
    return Fact(text, text, None, origin)
