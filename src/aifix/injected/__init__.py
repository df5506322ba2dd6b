"""Code of ours inside the user's program, without a change of it: through the environment and a `sitecustomize`.

`inside(environ, folder, ["instruments"])` gives the environment in which every Python below starts `injected/inside/<name>.py`; what these
tell arrives in a file of the folder, which `Events` reads. site/ and inside/ belong to the program's interpreter (3.8 or later, standard
library only) and are never imported by aifix itself.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(HERE, "site")
INSIDE = os.path.join(HERE, "inside")
EVENTS = "events.jsonl"
LONGEST = 1 << 20
"""Bytes of an event that are read at most; longer ones are passed over."""


def inside(environ: Mapping[str, str], folder: str, modules: Iterable[str]) -> dict[str, str]:
    """Give the environment in which the program's Pythons start modules of ours.

    Args:
        environ: what the program would have had.
        folder: an existing folder for what they tell and write.
        modules: names of files in `injected/inside/`.

    """
    changed = dict(environ)
    old = changed.get("PYTHONPATH", "")
    changed["PYTHONPATH"] = SITE + (os.pathsep + old if old else "")
    file = os.path.join(folder, EVENTS)
    with open(file, "ab"):  # they only ever append to what is there
        pass
    changed["AIFIX_EVENTS"] = file
    changed["AIFIX_FOLDER"] = folder
    changed["AIFIX_INSIDE"] = ",".join(modules)
    return changed


class Events:
    """Reads what the modules inside tell, as it comes."""

    def __init__(self, folder: str) -> None:
        self._file = os.path.join(folder, EVENTS)
        self._at = 0
        self._rest = b""

    def read(self) -> list[dict[str, Any]]:
        """Give the events that have come since the last reading."""
        try:
            with open(self._file, "rb") as stream:
                stream.seek(self._at)
                data = stream.read()
        except OSError:
            return []
        self._at += len(data)
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[:LONGEST]
        found = []
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and isinstance(event.get("kind"), str):
                found.append(event)
        return found
