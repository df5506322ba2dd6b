"""`aifix tui` and the ways into it, without a terminal."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from aifix.commands import tui
from aifix.commands.main import cli

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_refuses_where_there_is_no_terminal(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "aifix", "tui"], capture_output=True, stdin=subprocess.DEVNULL, text=True, check=False)
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    done = subprocess.run([sys.executable, "-m", "aifix", "tui", str(tmp_path / "absent")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_without_textual_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tui, "available", lambda: False)
    done = CliRunner().invoke(cli, ["tui"])
    assert done.exit_code == 2
    assert "pip install 'aifix-kb[tui]'" in done.output
    done = CliRunner().invoke(cli, ["--tui"], input="x\n")
    assert done.exit_code == 2
    monkeypatch.setattr(tui, "on_terminal", lambda: True)
    done = CliRunner().invoke(cli, [])
    assert done.exit_code == 0
    assert "Usage:" in done.output
    assert done.output.rstrip().endswith("pip install 'aifix-kb[tui]'")


def test_on_a_terminal_without_input_it_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def run(log: Path | None = None, *_: object) -> int:
        opened.append(log)
        return 1

    monkeypatch.setattr(tui, "on_terminal", lambda: True)
    monkeypatch.setattr(tui, "_run", run)
    done = CliRunner().invoke(cli, [])
    assert (done.exit_code, opened) == (1, [None])
    assert "Usage" not in done.output


def test_away_from_a_terminal_the_help_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tui, "on_terminal", lambda: False)
    done = CliRunner().invoke(cli, [])
    assert done.exit_code == 0
    assert "Usage:" in done.output


def test_the_pipe_without_a_terminal_keeps_the_log() -> None:
    """Everything is passed through before the terminal is asked for."""
    log = b"a\n\xff\x1b[31m" * 50_000
    done = subprocess.run([sys.executable, "-m", "aifix", "--tui"], input=log, capture_output=True, check=False, start_new_session=True)
    assert done.stdout == log
    assert done.returncode == 2
    assert b"needs a terminal" in done.stderr


def test_the_command_is_lazy() -> None:
    command = cli.get_command(click.Context(cli), "tui")
    assert command is not None
    code = "import sys, aifix.commands.main; print('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_the_first_screen_imports_little() -> None:
    code = "import sys, aifix_tui.app; print(*sorted(n for n in sys.modules if n.startswith(('aifix.match', 'aifix.reason', 're2', 'hyperscan'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
