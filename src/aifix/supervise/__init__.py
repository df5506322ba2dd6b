"""Supervise a run: pass its output and signals through untouched, diagnose its failure, look at its silence, retry what is transient.

`supervise.run(["python", "train.py"], retry=3, stall=600)` gives an `Outcome`.

- carriers: a pseudo-terminal or a pipe for each output of the child
- copying: the threads that pass the output on; what was printed, for the log file and the diagnosis
- terminal: the user's own terminal: raw while the child has one of its own, keys, Ctrl-Z
- arriving: the signals that arrive
- attempt: one start of the command, from fork to the last byte
- stall: what a silent run does; processes and sockets: /proc behind it
- witness: the interpreter of the run, seen while it lives
- ending: the exit status in words, and the report
- retry: whether, when and with what environment to start again; checkpoints: from where
- supervisor: all of it together
"""

from __future__ import annotations

from aifix.supervise.plan import Outcome, Plan
from aifix.supervise.supervisor import run

__all__ = ["Outcome", "Plan", "run"]
