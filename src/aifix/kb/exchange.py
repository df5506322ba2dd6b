"""Take a history, or only what it taught, to another machine: a line of JSON each, merged by ids that are the same everywhere.

Outcomes alone hold no text: which fix of which diagnosis worked when, in which project (a key). A whole history leaves without secrets,
home folders, user and host names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from aifix import redact
from aifix.kb import incidents
from aifix.kb.keys import key_of
from aifix.kb.nouns import Incident, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aifix.kb.store import Store

FORM = "aifix.history/1"
LONGEST = 4 << 20
"""Bytes of a line that are read."""
EVER = 32503680000.0
"""Seconds since 1970 at the end of the year 2999: later times cannot be shown."""


class _Line(msgspec.Struct, omit_defaults=True):
    """One line: the head, an incident or an outcome."""

    schema: str = ""
    kind: Literal["", "whole", "outcomes"] = ""
    incident: Incident | None = None
    outcome: Outcome | None = None


class ExchangeError(ValueError):
    """A file is no history that can be merged; the text says where and why."""


class Merged(msgspec.Struct, frozen=True):
    """What was new: incidents, and outcomes that were unknown or newer than ours."""

    incidents: int
    outcomes: int


def export(store: Store, *, whole: bool = True, person: redact.Person | None = None) -> Iterator[bytes]:
    """Give the lines of an export.

    Args:
        store: the history.
        whole: incidents too, with texts; else outcomes alone.
        person: whose names are taken out, beside the hosts of the history; this machine's user by default.

    """
    yield _encode(_Line(schema=FORM, kind="whole" if whole else "outcomes"))
    person = redact.person_here() if person is None else person
    if whole:
        hosts = [row["host"] for row in store.rows("SELECT DISTINCT host FROM incidents")]
        person = person._replace(hosts=tuple(dict.fromkeys((*person.hosts, *hosts))))
        for incident in incidents.everything(store):
            yield _encode(_Line(incident=anonymous(incident, person)))
    for outcome in incidents.outcomes(store):
        note = redact.redact(outcome.note, leaving=person) if whole else ""
        yield _encode(_Line(outcome=msgspec.structs.replace(outcome, note=note)))


def anonymous(incident: Incident, person: redact.Person) -> Incident:
    """Take home folders, user and host names out of an incident; machines stay apart by a key."""
    plain = msgspec.to_builtins(incident)
    shown = {name: value if name in _KEYS else _anonymous(value, person) for name, value in plain.items()}
    shown["host"] = incident.host if incident.host.startswith("host-") else f"host-{key_of('host', incident.host)[:6]}"
    return msgspec.convert(shown | {"number": 0}, Incident)


_KEYS = {"uid", "at", "how", "origin", "command_key", "project", "revision", "diagnosis", "fingerprint", "host"}


def _anonymous(value: Any, person: redact.Person) -> Any:
    if isinstance(value, str):
        return redact.redact(value, leaving=person)
    if isinstance(value, (list, tuple)):
        return [_anonymous(one, person) for one in value]
    if isinstance(value, dict):
        return {key: _anonymous(one, person) for key, one in value.items()}
    return value


def merge(store: Store, lines: Iterable[bytes], *, name: str = "the file") -> Merged:
    """Merge an export into a history: all of it or nothing; what is known already stays as it is.

    Args:
        store: the history.
        lines: of the export.
        name: of the file, for messages.

    Raises:
        ExchangeError: the file is no export, or a line of it is damaged.
        StoreError: the history cannot be written.

    """
    with store.writing() as connection:
        before = connection.execute("SELECT count(*) FROM incidents").fetchone()[0]
        changed = 0
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            read = _read(line, f"{name}:{number}")
            if number == 1 and not read.schema:
                raise ExchangeError(f"{name} is no export of `aifix history export`")
            if read.schema and read.schema != FORM:
                raise ExchangeError(f"{name} is of another form ({read.schema[:40]}; this aifix reads {FORM}); update aifix")
            if read.incident is not None:
                incidents.insert(connection, read.incident)
            if read.outcome is not None:
                changed += incidents.put_outcomes(connection, [read.outcome])
        after = connection.execute("SELECT count(*) FROM incidents").fetchone()[0]
    return Merged(after - before, changed)


_DECODER = msgspec.json.Decoder(_Line)


def _read(line: bytes, place: str) -> _Line:
    if len(line) > LONGEST:
        raise ExchangeError(f"{place}: the line is longer than any that aifix writes")
    try:
        read = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ExchangeError(f"{place}: {error}") from error
    times = [one.at for one in (read.incident, read.outcome) if one is not None]
    times += [read.incident.ended_at or 0.0, read.incident.seconds] if read.incident is not None else []
    if not all(0 <= time < EVER for time in times):
        raise ExchangeError(f"{place}: a time is out of range")
    return read


def _encode(line: _Line) -> bytes:
    return msgspec.json.encode(line) + b"\n"
