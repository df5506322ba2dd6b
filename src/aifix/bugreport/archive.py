"""A bug report as a zip: the Markdown, the report as JSON, the log's lines, the packages."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from aifix.bugreport.collect import Bug


def pack(bug: Bug, markdown: str) -> bytes:
    """Give the bytes of the archive; the same contents give the same bytes.

    Args:
        bug: the report.
        markdown: as `render` wrote it.

    """
    freeze = "".join(f"{name}=={version}\n" for name, version in bug.environment.packages.items())
    files = {
        "report.md": markdown.encode(),
        "log.txt": (bug.log + "\n").encode("utf-8", "replace"),
        "environment.json": msgspec.json.format(msgspec.json.encode(bug.environment), indent=2),
        "packages.txt": freeze.encode(),
        "collect_env.txt": bug.collected.encode("utf-8", "replace"),
        "report.json": msgspec.json.format(msgspec.json.encode(bug.report), indent=2) if bug.report else b"",
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            if data:
                archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return target.getvalue()
