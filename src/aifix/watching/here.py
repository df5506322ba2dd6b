"""`aifix.watch(model, optimizer)`: the same watching, in this very process."""

from __future__ import annotations

import atexit
import os
import sys
from typing import TYPE_CHECKING, Any

from aifix import injected
from aifix.watching.alarms import SOURCE, Alarm, Collected, joined, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from typing_extensions import Self

    from aifix.model import Report


class Watch:
    """A watching; as a context manager it ends with its block."""

    def __init__(self, watcher: Any, *, quiet: bool = False) -> None:
        self._watcher = watcher
        self._quiet = quiet
        self._collected = Collected()
        self._closed = False

    @property
    def alarms(self) -> tuple[str, ...]:
        """The alarms so far, a line each."""
        return tuple(one.line for one in self._collected.alarms)

    @property
    def summary(self) -> dict[str, Any]:
        """Steps, samples, seconds, the share of the time that watching took, the last loss."""
        found: dict[str, Any] = self._watcher.summary()
        return found

    def report(self) -> Report:
        """Give the alarms as a report, with explanations and fixes."""
        return joined(None, self._collected.diagnoses())

    def close(self) -> None:
        """End the watching, and print the report of its alarms to standard error."""
        if self._closed:
            return
        self._closed = True
        self._watcher.finish()
        if self._collected.alarms and not self._quiet:
            from aifix.show.stream import display_of
            from aifix.show.terminal import render

            display = display_of(sys.stderr)
            sys.stderr.write(render(self.report(), width=display.width, colour=display.colour, encoding=display.encoding))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tell(self, alarm: Any) -> None:
        """Take an alarm of the watcher inside."""
        rank = os.environ.get("RANK", "")
        made = Alarm(alarm.line, alarm.topic, os.getpid(), int(rank) if rank.isdigit() else None)
        if self._collected.add(made) and not self._quiet:
            from aifix.show.safe import sanitise

            sys.stderr.write("".join(f"aifix: {sanitise(line)}\n" for line in spoken(made)))


def watch(model: Any, optimizer: Any = None, *, budget: float = 0.0, quiet: bool = False) -> Watch:
    """Watch a training in this process: nan and inf, gradients, the loss scale, a flat or diverging loss, memory, and the waiting for data.

    Alarms are said on standard error at once, and in full at the end. Nothing that the training computes is changed.

    Args:
        model: the module that is trained, or several.
        optimizer: its optimizer, or several; all of the process by default.
        budget: share of the time that samples may take; 0: the default of 0.5 %.
        quiet: print nothing; `Watch.alarms` and `Watch.report` tell.

    Returns:
        A handle with the alarms; it need not be kept.

    Raises:
        TypeError: the model is no torch module.

    """
    import torch

    models = list(model) if isinstance(model, (list, tuple)) else [model]
    if not models or not all(isinstance(one, torch.nn.Module) for one in models):
        raise TypeError(f"aifix.watch takes a torch.nn.Module and its optimizer, not {type(model).__name__}")
    optimizers: list[Any] = list(_listed(optimizer))
    made = Watch(None, quiet=quiet)
    watcher = _load("watching").install(torch, made._tell, budget or None)  # noqa: SLF001 - of this module
    made._watcher = watcher  # noqa: SLF001
    watcher.attach(models, optimizers)
    atexit.register(made.close)
    return made


def _listed(optimizer: Any) -> Iterable[Any]:
    if optimizer is None:
        return ()
    return optimizer if isinstance(optimizer, (list, tuple)) else (optimizer,)


def _load(name: str) -> ModuleType:
    """Load a module of `injected/inside/` by its file, as the injected start does."""
    file = os.path.join(injected.INSIDE, "start.py")
    with open(file, encoding="utf-8") as stream:
        code = compile(stream.read(), "<frozen aifix.start>", "exec")
    space: dict[str, Any] = {"__name__": "_aifix_start", "__file__": file}
    exec(code, space)  # noqa: S102 - our own file
    module: ModuleType = space["load"](name)
    return module


__all__ = ["SOURCE", "Watch", "watch"]
