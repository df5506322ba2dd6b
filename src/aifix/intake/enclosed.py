"""Logs inside JSON: notebooks, and records that a logger, a container engine or a cloud writes one to a line.

Lines keep the numbers that they have in the file; what is no output of a run (a notebook's cells, a record's other fields) is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from aifix.lazy import lazy_re
from aifix.model import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MESSAGES = ("message", "msg", "log", "MESSAGE", "textPayload", "event", "line", "body")
"""Keys of what a record says: of Python's and Go's loggers, Docker, journald, Google Cloud, structlog, Loki and OpenTelemetry."""
DATA = "data"
"""And of Kaggle's and papermill's, where it stands beside the name of the stream."""
MARKS = (
    *("time", "timestamp", "ts", "@timestamp", "asctime", "date", "level", "levelname", "severity", "log.level", "stream", "stream_name"),
    *("PRIORITY", "__REALTIME_TIMESTAMP", "insertId", "observedTimeUnixNano"),
)
"""Keys that tell a record of a log from one of a data set."""
LEVELS = ("levelname", "level", "severity", "log.level")
TRACES = ("exc_info", "exception", "exc_text", "stack_trace", "stacktrace", "error.stack_trace", "traceback", "error")
"""Keys of the traceback that goes with a message."""
COUNTED = frozenset(
    {
        *(*MARKS, "created", "msecs", "relativeCreated", "pid", "process", "thread", "tid", "lineno", "line", "rank", "local_rank", "world_size"),
        *("seq", "offset", "v", "_PID", "_UID", "_GID", "ingestion_time", "ingestionTime", "partition", "tags_count"),
    }
)
"""Keys of numbers that say where a record comes from; any other is a figure of the run: a loss, a step."""
_LEVEL = lazy_re(r"(?i)debug|info|warn|warning|error|critical|fatal|trace|notice")


def unwrap(lines: list[Line], clean: Callable[[str], str]) -> list[Line]:
    """Give what a run printed, where the lines are a notebook's or records; else, and of a notebook that was not run, the lines as they are.

    Args:
        lines: the raw lines.
        clean: what takes escapes and control characters out of a text: JSON writes them so that they were not seen before.
    """
    first = next((line.text for line in lines if line.text.strip()), "")
    if first.lstrip().startswith("{") and _is_notebook(lines):
        return [part for line, text in _of_notebook(lines) for part in _split(line, text, clean)] or lines
    if not any(line.text.startswith(_BEGINS) for line in lines):
        return lines
    found: list[Line] = []
    for line in lines:
        record = _record(line.text) if line.text.startswith(_BEGINS) else None
        said = _said(record) if record is not None else None
        if record is None or said is None:
            found.append(line)
        else:
            rank = record.get("rank")
            led = Line(line.number, "", rank if isinstance(rank, int) and rank >= 0 else line.rank, _level(record))
            found += _split(led, said, clean)
    return found


_BEGINS = ("{", "[{", ",{")


def _split(line: Line, text: str, clean: Callable[[str], str]) -> Iterator[Line]:
    """Make lines of a text that stands on one line of the file."""
    for part in clean(text).rstrip("\n").split("\n"):
        yield Line(line.number, part.rstrip("\r"), line.rank, line.prefix)


# ---- notebooks


def _is_notebook(lines: Sequence[Line]) -> bool:
    if len(lines) < 5:
        return any('"nbformat"' in line.text and '"cell_type"' in line.text for line in lines)
    return any(line.text.lstrip().startswith('"cells"') for line in lines[:5]) and any('"cell_type"' in line.text for line in lines[:60])


_OPENS = lazy_re(r'\s*"(?P<key>[\w/.+-]+)": \[\s*$')
_ITEM = lazy_re(r'\s*(?P<text>".*")(?P<comma>,?)$')
_SINGLE = lazy_re(r'\s*"(?P<key>text|evalue)": (?P<text>".*"),?$')
PRINTED = frozenset({"text", "traceback"})
"""Keys of a cell's outputs that hold what it printed, and what it raised."""


def _of_notebook(lines: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """Give what the cells of a notebook printed; its files have a line for each line of text, or are one line altogether."""
    if len(lines) < 5:
        for line in lines:
            for text in _outputs(_decoded(line.text)):
                yield line, text
        return
    key = ""
    for line in lines:
        opened = _OPENS.match(line.text)
        if opened:
            key = opened["key"]
            continue
        if line.text.strip() in {"]", "],"}:
            key = ""
            continue
        item = _ITEM.match(line.text) if key in PRINTED else _SINGLE.match(line.text)
        if item is None or item.groupdict().get("key") == "evalue":
            continue
        text = _decoded(item["text"])
        if isinstance(text, str):
            yield line, text


def _outputs(notebook: Any) -> Iterator[str]:
    """Give the texts of a decoded notebook's outputs."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    for cell in cells if isinstance(cells, list) else []:
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        for output in outputs if isinstance(outputs, list) else []:
            for name in ("text", "traceback"):
                texts = output.get(name) if isinstance(output, dict) else None
                for text in [texts] if isinstance(texts, str) else texts if isinstance(texts, list) else []:
                    if isinstance(text, str):
                        yield text


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


# ---- records


def _record(text: str) -> dict[str, Any] | None:
    """Decode a line that is a record of a log; None for any other."""
    text = text.strip().removeprefix("[").removeprefix(",").removesuffix("]").removesuffix(",")
    record = _decoded(text) if text.endswith("}") else None
    if not isinstance(record, dict) or not any(mark in record for mark in MARKS):
        return None
    inner = record.get("jsonPayload")
    return record | inner if isinstance(inner, dict) else record  # Google Cloud


def _said(record: dict[str, Any]) -> str | None:
    """Give what a record says; None where it says nothing, or where its numbers are what it is about."""
    message = next((record[key] for key in MESSAGES if isinstance(record.get(key), str)), None)
    if message is None and ("stream_name" in record or "stream" in record) and isinstance(record.get(DATA), str):
        message = record[DATA]
    if message is None:
        return None
    traces = [value for key in TRACES if isinstance(value := record.get(key), str) and value.strip() and value not in message]
    told = any(isinstance(value, int | float) and key not in COUNTED for key, value in record.items())
    if told and not traces and "\n" not in message.strip():
        return None
    return "\n".join([message.rstrip("\n"), *traces])


def _level(record: dict[str, Any]) -> str:
    """Give a record's level as loggers write it before a line."""
    level = next((value for key in LEVELS if isinstance(value := record.get(key), str) and _LEVEL.fullmatch(value)), "")
    return f"{level.upper()} " if level else ""
