"""data.files and data.images: whether the data file, checkpoint or image that the log names is whole."""

from __future__ import annotations

import json
import os
import re

from aifix.probes.disk import absolute, named_paths
from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.reason.expressions import size

MOST = 8 << 20
"""Bytes of a data file that are read."""
CHECKPOINTS = {"pt", "pth", "ckpt", "bin", "safetensors", "npz", "zip"}
LFS = b"version https://git-lfs"


def image(case: Case) -> Finding:
    """Look at the head and the end of an image."""
    named = named_paths(case)
    if not named:
        return unclear("the log does not name the image; `aifix probe data --dataset FOLDER` reads a whole folder")
    path = absolute(case, named[0])
    try:
        length = os.path.getsize(path)
        with open(path, "rb") as stream:
            head = stream.read(64)
            stream.seek(max(0, length - 64))
            tail = stream.read(64)
    except OSError as error:
        return absent(f"{path} cannot be read here: {error.strerror or error}")
    problem = image_problem(head, tail, length)
    data = {"path": path, "size": length}
    if problem is None:
        return unclear(f"{path} is of a kind that is not checked here ({head[:8].hex(' ')} ...)", data)
    if problem:
        return confirmed(f"{path} {problem}", data)
    return refuted(f"{path} has a whole head and end ({size(length)})", data)


def image_problem(head: bytes, tail: bytes, length: int) -> str | None:
    """Say what is wrong with an image by its first and last 64 bytes; '' when nothing is, None for unknown kinds."""
    if length == 0:
        return "is empty"
    if head.startswith(LFS):
        return "is a Git LFS pointer: the image itself was not fetched (git lfs pull)"
    if head.lstrip()[:1] == b"<":
        return "" if b"<svg" in head else "is an HTML or XML page, not an image"
    ends = {b"\xff\xd8\xff": (b"\xff\xd9", "JPEG"), b"\x89PNG\r\n\x1a\n": (b"IEND\xaeB`\x82", "PNG"), b"GIF8": (b";", "GIF")}
    for start, (end, name) in ends.items():
        if head.startswith(start):
            return "" if end in tail else f"is a truncated {name}: its end mark is missing"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        wanted = int.from_bytes(head[4:8], "little") + 8
        return "" if length >= wanted else f"is a truncated WebP: {length} of {wanted} bytes"
    if head[:2] == b"BM":
        wanted = int.from_bytes(head[2:6], "little")
        return "" if length >= wanted else f"is a truncated BMP: {length} of {wanted} bytes"
    return None


def data_file(case: Case) -> Finding:
    """Parse the beginning of the data file that the log names."""
    named = named_paths(case)
    if not named:
        return unclear("the log does not name the file")
    path = absolute(case, named[0])
    try:
        length = os.path.getsize(path)
        with open(path, "rb") as stream:
            raw = stream.read(MOST)
    except OSError as error:
        return absent(f"{path} cannot be read here: {error.strerror or error}")
    data: dict[str, object] = {"path": path, "size": length}
    problem, where = file_problem(path, raw, whole=length <= MOST)
    if problem is None:
        return unclear(f"{path} is of a kind that is not checked here", data)
    if problem:
        return confirmed(f"{path}: {problem}", data | where)
    return refuted(f"{path} parses ({size(min(length, MOST))} read)", data)


def file_problem(path: str, raw: bytes, *, whole: bool) -> tuple[str | None, dict[str, object]]:
    """Say what is wrong with a data file; '' when nothing is, None for unknown kinds."""
    if not raw:
        return "it is empty", {}
    if raw.startswith(LFS):
        return "it is a Git LFS pointer: the data itself was not fetched (git lfs pull)", {}
    suffix = path.rsplit(".", 1)[-1].lower()
    if suffix in CHECKPOINTS:
        return _checkpoint(path, suffix, raw), {}
    if suffix not in {"json", "jsonl", "ndjson", "csv", "tsv", "txt", "yaml", "yml"}:
        return None, {}
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.end < len(raw) - 4:
            return f"byte {error.start:,} is not UTF-8 (0x{raw[error.start]:02x})", {"byte": error.start}
        text = raw[: error.start].decode("utf-8")
    if text.startswith("\ufeff"):
        return "it begins with a byte order mark: read it with encoding='utf-8-sig'", {"byte": 0}
    if suffix == "json" and whole:
        try:
            json.loads(text)
        except ValueError as error:
            return f"no valid JSON: {error}{_json_reading(text, error)}", {"line": getattr(error, "lineno", None)}
        return "", {}
    lines = text.split("\n") if whole else text.split("\n")[:-1]
    if suffix in {"jsonl", "ndjson"}:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    json.loads(line)
                except ValueError as error:
                    return f"line {number:,} is no JSON: {error}", {"line": number}
    if suffix in {"csv", "tsv"}:
        return _ragged(lines, "\t" if suffix == "tsv" else ",")
    return "", {}


def _json_reading(text: str, error: ValueError) -> str:
    """Quote the line at which JSON is no JSON, and say what is wrong there where that can be told."""
    if not isinstance(error, json.JSONDecodeError):
        return ""
    line = text.split("\n")[error.lineno - 1].strip()
    rest = text[error.pos :]
    comma = rest.startswith(",") or text[: error.pos].rstrip().endswith(",")  # Python 3.13 points at it, older ones at the bracket behind it
    if re.match(r"(?:True|False|None)\b", rest):
        why = "JSON writes true, false and null"
    elif comma and rest.removeprefix(",").lstrip()[:1] in {"}", "]"}:
        why = "no comma may stand before a closing bracket"
    elif rest[:1] == "'":
        why = "JSON quotes with double quotes alone"
    elif rest.startswith(("//", "#", "/*")):
        why = "JSON has no comments"
    elif error.msg.startswith("Expecting ',' delimiter") and rest[:1] == '"':
        why = "a comma is missing before it"
    elif error.msg.startswith("Extra data"):
        why = "several JSON texts stand in one file, as in JSON Lines"
    else:
        why = ""
    return (f"; there stands {line[:100]}" if line else "") + (f": {why}" if why else "")


def _checkpoint(path: str, suffix: str, raw: bytes) -> str | None:
    """Say what is wrong with a checkpoint by its marks: nothing of it is unpickled."""
    length = os.path.getsize(path)
    if raw.lstrip()[:1] == b"<":
        return "it is an HTML or XML page, not a checkpoint"
    if suffix == "safetensors":
        header = int.from_bytes(raw[:8], "little")
        if length < 10 or header > length - 8 or raw[8:9] != b"{":
            return f"its header is damaged or cut: it names {header:,} bytes of a file of {length:,}"
        try:
            listed = json.loads(raw[8 : 8 + header]) if header <= len(raw) - 8 else {}
        except ValueError as error:
            return f"its header is damaged: {error}"
        ends = [item["data_offsets"][1] for item in listed.values() if isinstance(item, dict) and "data_offsets" in item]
        wanted = 8 + header + max(ends, default=0)
        return f"it is truncated: {size(length)} of {size(wanted)}" if length < wanted else ""
    if raw[:2] == b"PK":
        with open(path, "rb") as stream:
            stream.seek(max(0, length - 70000))
            return "" if b"PK\x05\x06" in stream.read() else "it is a truncated zip archive: the end record is missing"
    return "" if raw[:1] == b"\x80" else None


def _ragged(lines: list[str], delimiter: str) -> tuple[str, dict[str, object]]:
    import csv

    wanted = 0
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row in reader:
            wanted = wanted or len(row)
            if row and len(row) != wanted:
                return f"line {reader.line_num:,} has {len(row)} fields, the first has {wanted}", {"line": reader.line_num}
    except csv.Error as error:
        return f"line {reader.line_num:,}: {error}", {"line": reader.line_num}
    return "", {}
