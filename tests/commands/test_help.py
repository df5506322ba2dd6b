"""The help that is printed without click is the one that click writes. After a change: AIFIX_GOLDEN=1 pytest tests/commands/test_help.py"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click

import aifix
from aifix.commands.main import cli

KEPT = Path(aifix.__file__).parent / "commands" / "help.txt"


def test_the_kept_help_is_clicks() -> None:
    shown = cli.get_help(click.Context(cli, info_name="aifix", terminal_width=78, help_option_names=["-h", "--help"])) + "\n"
    if os.environ.get("AIFIX_GOLDEN"):
        KEPT.write_text(shown, "utf-8")
    assert KEPT.read_text("utf-8") == shown


def test_both_ways_print_the_same_and_a_narrow_terminal_gets_its_own() -> None:
    def run(columns: str, *arguments: str) -> str:
        environ = {**os.environ, "COLUMNS": columns}
        return subprocess.run([sys.executable, *arguments, "--help"], env=environ, capture_output=True, text=True, check=True).stdout

    click_alone = ["-c", "import sys; sys.argv[0] = 'aifix'; from aifix.commands.main import cli; cli(prog_name='aifix')"]
    assert run("100", "-m", "aifix") == run("100", *click_alone) == KEPT.read_text("utf-8")
    assert max(map(len, run("60", "-m", "aifix").split("\n"))) <= 60
