"""`aifix lab new`: the beginnings of a specimen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aifix.show import handbook

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.model import Rule

PROGRAM = '''"""{title}."""

import torch

# The smallest program that really fails so. aifix should read:
{wordings}
print("ok")
'''
FIXED = '''"""{title}."""

import torch

print("ok")
'''
FORM = """# Only what file names and imports do not tell; every key is optional (CONTRIBUTING.md, "A specimen").
says: ok
# facts: {{shape: '[4, 10]'}}
# apply: [{patched}]
# unproven: {{fix-id: why it cannot be run here}}
"""


def scaffold(rule: Rule, folder: Path) -> list[Path]:
    """Write a program, its form, and a fixed version for the rule's likeliest fix.

    Raises:
        FileExistsError: the folder is there already.
        OSError: it cannot be written.

    """
    shown = handbook.without_case(rule)
    fixes = sorted(shown.fixes, key=lambda fix: -fix.prior)
    best = next((fix for fix in fixes if not any(action.kind == "patch" for action in fix.do)), None)
    patched = [fix.id for fix in fixes if any(action.kind == "patch" for action in fix.do)]
    wordings = "\n".join(f"#   {one}" for one in handbook.wordings(rule))
    texts = {
        "fail.py": PROGRAM.format(title=shown.title, wordings=wordings),
        "specimen.yaml": FORM.format(patched=", ".join(patched) or "fix-id"),
    }
    if best is not None:
        texts[f"fixed-{best.id}.py"] = FIXED.format(title=best.title)
    folder.mkdir(parents=True)
    written = []
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, "utf-8")
        written.append(path)
    return written
