from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from tests.e2e.harness import OOM, ROOT

if TYPE_CHECKING:
    from tests.e2e.harness import Installed

README = ROOT / "README.md"
SHOWN = re.compile(r"(<!-- shown: .*? -->\n```\n)(.*?)(```\n<!-- end -->)", re.DOTALL)


def test_the_output_in_the_readme_is_what_aifix_prints(here: Installed) -> None:
    """Written anew by AIFIX_GOLDEN=1."""
    shown = here.run(data=OOM, AIFIX_NO_PROBE="1").err.strip("\n") + "\n"
    text = README.read_text(encoding="utf-8")
    if os.environ.get("AIFIX_GOLDEN"):
        README.write_text(SHOWN.sub(lambda found: found[1] + shown + found[3], text), encoding="utf-8", newline="\n")
        return
    found = SHOWN.search(text)
    assert found is not None
    assert found[2] == shown, "rules changed what the demo shows: AIFIX_GOLDEN=1 .venv/bin/python -m pytest tests/e2e/test_readme.py"


def test_the_readme_names_every_command(here: Installed) -> None:
    help_text = here.run("--help").out.decode()
    commands = re.findall(r"^  (\w+)", help_text.partition("Commands:")[2], re.MULTILINE)
    assert "why" in commands
    text = README.read_text(encoding="utf-8")
    assert [command for command in commands if f"aifix {command}" not in text] == []
