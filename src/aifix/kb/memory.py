"""What a command needs of the history: chances before the report, "you met this" in it, the incident after it. It never fails a diagnosis."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec

from aifix.kb import pending
from aifix.kb.errors import StoreError
from aifix.rulebase import paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aifix.kb.nouns import Incident
    from aifix.kb.record import Run
    from aifix.kb.store import Store
    from aifix.model import Report, Rule
    from aifix.reason.experience import Chance

AGAIN = "it was started again unchanged"
SET_BACK = "the clock was set back, so that files that changed cannot be told"
BRIEF = 0.3
"""Seconds to wait for a locked history while a report is waited for."""


def switched_off() -> bool:
    """Tell whether the environment forbids a history."""
    return bool(os.environ.get("AIFIX_NO_HISTORY"))


class Memory:
    """One command's view of a history. What is wrong with the file is said once, by `say`, and stops nothing."""

    def __init__(self, path: str = "", *, folder: str = "", again: bool = False, say: Callable[[str], None]) -> None:
        """Look at a history; nothing is opened yet.

        Args:
            path: the file; by default the one in the folder for data.
            folder: the working folder of the failed run; the process' own by default.
            again: the log may be that of an incident of the history, as a file may: what cites the very same lines is not met "before".
            say: takes one line for a person.

        """
        self.again = again
        self.path = paths.history_file(path)
        self.folder = folder or _working_folder()
        self._say = say
        self._since = time.time()
        self._own: set[int] = set()
        self._store: Store | None = None
        self._opened = False
        self._problem = ""

    # ------------------------------------------------------------ before the report

    def chances(self, rule: Rule) -> Mapping[str, Chance]:
        """Give the chances of those fixes of a rule that were tried before, by id."""
        store = self._reading()
        if store is None:
            return {}
        from aifix.kb import learning, surroundings

        try:
            return learning.chances(store, rule, surroundings.project(self.folder))
        except StoreError as error:
            self._problem = str(error)
            return {}

    def recall(self, report: Report) -> Report:
        """Add to a report when its failure was met before, and what ended it."""
        store = self._reading() if report.failed else None
        if store is None:
            return report
        from aifix.kb import recall

        try:
            met = recall.met(store, report, folder=self.folder, again=self.again, before=self._since, own=self._own)
        except StoreError as error:
            self._problem = str(error)
            return report
        return msgspec.structs.replace(report, history=(met,)) if met is not None else report

    # ------------------------------------------------------------ after it

    def remember(self, report: Report, run: Run, blocks: Sequence[tuple[int, bytes]] = ()) -> Incident | None:
        """Write the incident of a failure, and mark its command as failed; None where it could not be written.

        Args:
            report: what was found.
            run: the run.
            blocks: its output, which is kept until the next failure; nothing is without it.

        """
        from aifix.kb import incidents, kept, record
        from aifix.kb.store import open_store

        self.close()  # the last one to close the file tidies up after the write, and a reader cannot
        try:
            made = record.incident(report, run)
            with open_store(self.path) as store:
                number = incidents.add(store, made)
            self._own.add(number)
            made = msgspec.structs.replace(made, number=number)
            if made.command_key:
                pending.mark(self.path, made.command_key)
            if not blocks:
                kept.forget(self.path)  # the output of an earlier failure is not that of the last one
            else:
                kept.keep(self.path, made, blocks, record.cleaner_of(report, run))
        except StoreError as error:
            self._say(f"this failure is not in the history: {error}")
        except OSError as error:
            self._say(f"this failure is not in the history: {error.filename or self.path}: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - the diagnosis was given; a fault of ours in storing it must not look like the run's
            self._say(f"this failure is not in the history, which is a fault of aifix: {type(error).__name__}: {error}")
        else:
            return made
        finally:
            self._problem = ""
        return None

    def ended_well(self, run: Run) -> list[Incident]:
        """Note that a command that failed before has ended well now, and give its incidents with what changed, newest first."""
        from aifix.kb import changes, incidents, recall, surroundings
        from aifix.kb.keys import command_key
        from aifix.kb.store import open_store
        from aifix.probes import target

        key = command_key(run.arguments, run.folder)
        if not run.arguments or not pending.waiting(self.path, key):
            return []
        self.close()
        try:
            with open_store(self.path) as store:
                found = incidents.pending(store, key)
                told: tuple[str, ...] = ()
                if found:
                    now = surroundings.environment(target.find(python=run.python, producers=run.producers, environ=run.environ))
                    last = found[0]
                    ahead = last.at > time.time()  # files have the times of another clock
                    told = tuple(changes.between(last.environment, now, folder="" if ahead else run.folder, revision=last.revision, since=last.at))
                    if not told and not recall.is_earlier(last, self._since, self._own):
                        told = (AGAIN,)
                    elif ahead:
                        told = (*told, SET_BACK)
                    incidents.end(store, [one.number for one in found], at=time.time(), changes=told)
            pending.clear(self.path, key)
        except StoreError as error:
            self._say(f"that the failure went away is not in the history: {error}")
            return []
        except OSError as error:
            self._say(f"that the failure went away is not in the history: {error}")
            return []
        return [msgspec.structs.replace(one, ended=told) for one in found if recall.is_earlier(one, self._since, self._own)]

    def tell(self) -> None:
        """Close the file, and say what was wrong with it where nothing else said it."""
        self.close()
        if self._problem:
            self._say(f"the history was not looked at: {self._problem}")
            self._problem = ""

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()
            self._store = None
        self._opened = False

    def _reading(self) -> Store | None:
        if not self._opened:
            self._opened = True
            if not os.path.exists(self.path):  # noqa: PTH110 - SQLite is not even imported before the first failure
                return None
            from aifix.kb.store import open_for_reading

            try:
                self._store = open_for_reading(self.path, patience=BRIEF)
            except StoreError as error:
                self._problem = str(error)
        return self._store


def _working_folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - the pipe does without pathlib
    except OSError:
        return ""
