"""Supervise a command: attempts, diagnoses, restarts."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from aifix import room
from aifix.model import Report
from aifix.pipe import replaced, why_not
from aifix.show.safe import sanitise
from aifix.supervise import retry as policy
from aifix.supervise.arriving import ENDING, Arriving
from aifix.supervise.attempt import MERCY, Attempt, Ended, signal_marked
from aifix.supervise.carriers import same_place
from aifix.supervise.copying import Tape, write_all
from aifix.supervise.plan import BACKOFF, Failure, Outcome, Plan
from aifix.supervise.words import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aifix.kb.memory import Memory

NOT_FOUND, NOT_EXECUTABLE = 127, 126
NO_ROOM = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""What the system says where a limit of processes, memory or descriptors is reached."""


def run(
    command: Sequence[str],
    *,
    log: str | os.PathLike[str] = "",
    stall: float = 0.0,
    kill_stalled: bool = False,
    retry: int = 0,
    retry_hook: str = "",
    checkpoint_dir: str | os.PathLike[str] = "",
    backoff: float = BACKOFF,
    probe: bool = True,
    python: str = "",
    environ: Mapping[str, str] | None = None,
    divert: bool = False,
    say: Callable[[str], None] | None = None,
    memory: Memory | None = None,
    restarting: Callable[[Failure], None] | None = None,
    unsupervised: Callable[[], None] | None = None,
) -> Outcome:
    """Run a command with its output passed through, and diagnose it when it fails.

    The child's input and outputs are the process's own descriptors 0, 1 and 2. On the main thread signals are passed on.

    Args:
        command: the program and its arguments.
        log: a file that keeps the whole output.
        stall: seconds of silence after which it is said what the run does; 0: never.
        kill_stalled: end a run that is silent for so long.
        retry: how often it may be started again when its failure is transient.
        retry_hook: a shell command that runs before each restart; one that fails ends the restarts.
        checkpoint_dir: where the newest whole checkpoint is looked for, for AIFIX_CHECKPOINT.
        backoff: seconds before the first restart; they double.
        probe: whether this machine is looked at after a failure.
        python: the interpreter of the run; found by itself.
        environ: the child's environment; our own by default.
        divert: pass the child's standard output to standard error.
        say: takes what the supervisor has to say; by default it goes to standard error.
        memory: the history of incidents, which the reports take into account; none by default, and nothing is written to it here.
        restarting: is told of each failed attempt that is followed by another, before it waits.
        unsupervised: runs the command without us where no process, thread or descriptor is left to supervise it; else it is not started then.

    Raises:
        OSError: the log file cannot be written.
        ValueError: there is no command.

    """
    if not command:
        raise ValueError("no command was given")
    plan = Plan(
        tuple(command),
        log=os.fspath(log),
        stall=stall,
        kill_stalled=kill_stalled,
        retry=retry,
        retry_hook=retry_hook,
        checkpoint_dir=os.fspath(checkpoint_dir),
        backoff=backoff,
        probe=probe,
        python=python,
        environ=environ,
        divert=divert,
        memory=memory,
        restarting=restarting,
        unsupervised=unsupervised,
    )
    return Supervisor(plan, say).run()


class Supervisor:
    """Carries a plan out."""

    def __init__(self, plan: Plan, say: Callable[[str], None] | None = None) -> None:
        self.plan = plan
        self._say_to = say
        self._attempt: Attempt | None = None
        self._environ = dict(plan.environ if plan.environ is not None else os.environ)
        self._chance = policy.randomness(self._environ)
        self._excluded: list[str] = []

    def run(self) -> Outcome:
        """Run until it ends well, fails for good, or no restart is left.

        Raises:
            MemoryError: a limit leaves too little to supervise anything; nothing was started.
            OSError: the log file cannot be written.
        """
        room.need(room.THREADS)
        _fill_standard()
        log = os.open(self.plan.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0), 0o666) if self.plan.log else None
        try:
            self._tape = Tape(log, self.say)
            try:
                arriving = Arriving()
            except OSError as error:
                return Outcome(self._not_started(error))
            if self._tape.deaf:
                self.say("a limit of memory (ulimit -v) leaves too little to look at the output; it passes all the same")
            with arriving:
                return self._run(arriving)
        finally:
            if log is not None:
                os.close(log)

    def _run(self, arriving: Arriving) -> Outcome:
        outcome = Outcome(0)
        started = time.monotonic()
        token = secrets.token_hex(8)
        while True:
            environ = policy.environment(
                self._environ,
                attempt=outcome.attempts,
                token=token,
                checkpoint_dir=self.plan.checkpoint_dir,
                excluded=self._excluded,
                say=self.say,
            )
            began = time.monotonic()
            self._attempt = Attempt(self.plan, environ, self._tape, arriving, self.say_lines)
            try:
                ended = self._attempt.run()
            except OSError as error:
                outcome.status = self._not_started(error)
                return outcome
            ended_at = time.monotonic()
            self._note(outcome, ended)
            outcome.seconds = ended_at - started
            outcome.unfinished = self._unfinished()
            outcome.lines = self._tape.before + self._tape.keeper.lines()
            if not outcome.status:
                outcome.report = self._healthy()
                return outcome
            outcome.report = self._judge(outcome, ended)
            outcome.reports.append(outcome.report)
            blocks = [(line + self._tape.before, data) for line, data in self._tape.keeper.blocks()]
            outcome.failures.append(Failure(outcome.report, outcome.status, ended_at - began, outcome.attempts, ended.producers, blocks))
            if not self._again(outcome, outcome.report, token, arriving):
                return outcome
            outcome.attempts += 1
            self._tape.restart()

    @staticmethod
    def _note(outcome: Outcome, ended: Ended) -> None:
        code = ended.returncode
        outcome.signal = -code if code < 0 else 0
        outcome.status = 128 - code if code < 0 else code
        outcome.interrupted = ended.interrupted
        outcome.stalled = bool(ended.stalled)
        outcome.stalls += ended.stalls
        outcome.producers = ended.producers
        outcome.peak_memory = max(outcome.peak_memory, ended.peak_memory)

    def _healthy(self) -> Report:
        return Report(source=self.plan.log or "-", failed=False)

    def _judge(self, outcome: Outcome, ended: Ended) -> Report:
        if self._tape.deaf:
            return self._undiagnosed()
        if replaced():
            outcome.kept = self._tape.keeper.blocks()
            return self._undiagnosed()
        from aifix.supervise.ending import judge

        probing = None
        if self.plan.probe and not os.environ.get("AIFIX_NO_PROBE"):
            from aifix.probes.probing import Probing

            probing = Probing(python=self.plan.python, producers=ended.producers)
        try:
            return judge(
                self._tape.keeper,
                outcome.status,
                number=outcome.signal,
                source=self.plan.log or "-",
                before=self._tape.before,
                probing=probing,
                oom_killed=ended.oom_killed,
                stalled=ended.stalled,
                memory=self.plan.memory,
            )
        except Exception as error:  # noqa: BLE001 - whatever is wrong with aifix, the run ends as its child ended
            self.say(f"the diagnosis failed: {why_not(error)}")
            return self._undiagnosed()

    def _undiagnosed(self) -> Report:
        return Report(source=self.plan.log or "-", failed=True)

    # ------------------------------------------------------------ again

    def _again(self, outcome: Outcome, report: Report, token: str, arriving: Arriving) -> bool:
        """Decide on a restart, say so, wait, and prepare it."""
        if not self.plan.retry:
            return False
        diagnosis, why_not = policy.verdict(outcome, report)
        ended = f"attempt {outcome.attempts} of {self.plan.retry + 1} ended with {outcome.status}"
        if diagnosis is None:
            self.say(f"{ended}; not started again: {why_not}")
            return False
        if outcome.attempts > self.plan.retry:
            self.say(f"{ended}: {diagnosis.title} ({diagnosis.id}); no restart is left")
            return False
        places = policy.named_places(diagnosis)
        self._excluded += [place for place in places if place not in self._excluded]
        wait = policy.wait_before(outcome.attempts, self.plan.backoff, self._chance)
        named = f"; to be left out: {', '.join(places)}" if places else ""
        self.say(f"{ended}: {diagnosis.title} ({diagnosis.id}), which may pass{named}; starting again in {duration(wait)}")
        if self.plan.restarting is not None:
            self.plan.restarting(outcome.failures[-1])
        self._clear(token)
        until = time.monotonic() + wait
        while (left := until - time.monotonic()) > 0:
            if any(number in ENDING for number in arriving.wait(left)):
                outcome.interrupted = True
                self.say("asked to end while waiting; not started again")
                return False
        return self._hook(outcome, diagnosis.id)

    def _clear(self, token: str) -> None:
        """End what the failed attempt left behind: it holds GPUs, ports and shared memory."""
        if not sys.platform.startswith("linux"):
            return
        left = signal_marked(token, signal.SIGTERM)
        if not left:
            return
        self.say(f"ending {left} {'process' if left == 1 else 'processes'} that the attempt left behind")
        until = time.monotonic() + MERCY
        while time.monotonic() < until:
            if not signal_marked(token, 0):
                return
            time.sleep(0.05)
        signal_marked(token, signal.SIGKILL)

    def _hook(self, outcome: Outcome, diagnosis: str) -> bool:
        if not self.plan.retry_hook:
            return True
        environ = policy.environment(
            self._environ,
            attempt=outcome.attempts + 1,
            token="",
            checkpoint_dir=self.plan.checkpoint_dir,
            excluded=self._excluded,
            say=lambda _: None,
        )
        environ |= {"AIFIX_DIAGNOSIS": diagnosis, "AIFIX_STATUS": str(outcome.status)}
        self.say(f"running the hook: {self.plan.retry_hook}")
        try:
            done = subprocess.run(self.plan.retry_hook, shell=True, env=environ, stdin=subprocess.DEVNULL, stdout=2, check=False)  # noqa: S602 - the user's own
        except OSError as error:
            self.say(f"the hook does not start: {error.strerror or error}; not started again")
            return False
        if done.returncode:
            self.say(f"the hook ended with {done.returncode}; not started again")
            return False
        return True

    # ------------------------------------------------------------ words

    def _not_started(self, error: OSError) -> int:
        name = self.plan.command[0]
        if error.errno in NO_ROOM and self.plan.unsupervised is not None:
            self.say(f"there is no room to supervise this run ({error.strerror or error}); it runs without aifix")
            self.plan.unsupervised()
        if isinstance(error, FileNotFoundError):
            self.say(f"{name}: command not found" if "/" not in name else f"{name}: no such file (or the interpreter in its first line is missing)")
            return NOT_FOUND
        self.say(f"{name}: {error.strerror or error}")
        return NOT_EXECUTABLE

    def _unfinished(self) -> bool:
        line = self._tape.open_line
        return line.get(2, False) or (line.get(1, False) and same_place(1, 2))

    def say(self, line: str) -> None:
        """Say one line."""
        self.say_lines([line])

    def say_lines(self, lines: list[str]) -> None:
        """Say lines on standard error, below the child's own and never within one of them."""
        text = "\n".join(sanitise(line) for line in lines)
        if self._say_to is not None:
            self._say_to(text)
            return
        raw = self._attempt is not None and self._attempt.terminal is not None and self._attempt.terminal.raw
        text = ("\n" if self._unfinished() else "") + f"aifix: {text}\n"
        write_all(2, (text.replace("\n", "\r\n") if raw else text).encode("utf-8", "replace"))
        self._tape.open_line.clear()


def _fill_standard() -> None:
    """Put the null device where a standard descriptor is closed: a pipe of ours must not get its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
