"""Environment variables of a fix as shell lines, ready to copy."""

from __future__ import annotations

import re
import sys

_SETTING = re.compile(r"^(?:export |set |\$env:)?(?P<name>[A-Za-z_]\w*)\s?=\s?(?P<value>.*?)(?P<comment>\s+#.*)?$")
_PLAIN = re.compile(r"[\w./:,@%+=$~{}\"'-]*")


def exports(text: str, *, windows: bool = sys.platform == "win32") -> str:
    """Write the settings of an `env` action as lines of a shell: `export NAME=VALUE`, or PowerShell's form on Windows."""
    return "\n".join(_export(line, windows=windows) for line in text.split("\n"))


def _export(line: str, *, windows: bool) -> str:
    found = _SETTING.match(line.strip())
    if found is None:
        return line
    name, value, comment = found["name"], found["value"].strip(), found["comment"] or ""
    if windows:
        return f'$env:{name} = "{value.strip(chr(34))}"{comment}'
    if not _PLAIN.fullmatch(value):
        value = "'" + value.strip("'\"").replace("'", "'\\''") + "'"
    return f"export {name}={value}{comment}"
