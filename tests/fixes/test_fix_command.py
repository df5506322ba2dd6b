# ruff: noqa: ARG001 - the folder is where the command runs
"""`aifix fix`: shown, applied, undone, refused."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("libcst")

from typing import TYPE_CHECKING

from aifix.commands.main import cli

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "import torch\n\nx = torch.rand(2, 3)\nflat = x.t().view(-1)\nprint(flat)\n"
LOG = (
    "Traceback (most recent call last):\n"
    '  File "{path}", line 4, in <module>\n'
    "    flat = x.t().view(-1)\n"
    "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). "
    "Use .reshape(...) instead.\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIFIX_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("AIFIX_NO_PROBE", raising=False)
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "train.py"
    program.write_text(PROGRAM, "utf-8")
    (tmp_path / "run.log").write_text(LOG.format(path=program), "utf-8")
    return tmp_path


def fix(*arguments: str, data: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["fix", *arguments], input=data)


def test_the_fixes_are_listed(folder: Path) -> None:
    done = fix("run.log")
    assert done.exit_code == 0
    assert "1. Use reshape() in place of view()  reshape, patch" in done.output
    assert "aifix fix 1 run.log" in done.output


def test_a_diff_is_shown_and_nothing_written(folder: Path) -> None:
    done = fix("1", "run.log")
    assert done.exit_code == 0
    assert "-flat = x.t().view(-1)\n+flat = x.t().reshape(-1)\n" in done.output
    assert "add --apply to change train.py" in done.output
    assert (folder / "train.py").read_text("utf-8") == PROGRAM
    assert "\x1b[32m+flat" in fix("reshape", "run.log", "--color").output


def test_applied_kept_and_undone(folder: Path) -> None:
    (folder / "train.py").chmod(0o750)
    done = fix("1", "run.log", "--apply")
    assert done.exit_code == 0, done.output
    assert (folder / "train.py").read_text("utf-8") == PROGRAM.replace("view", "reshape")
    assert (folder / "train.py").stat().st_mode & 0o777 == 0o750
    backups = list((folder / "state" / "patches").glob("*/0-train.py"))
    assert [path.read_text("utf-8") for path in backups] == [PROGRAM]
    assert fix("--undo").exit_code == 0
    assert (folder / "train.py").read_text("utf-8") == PROGRAM
    assert "no patch of aifix is there" in fix("--undo").output


def test_a_file_that_changed_after_the_patch_is_not_undone(folder: Path) -> None:
    fix("1", "run.log", "--apply")
    (folder / "train.py").write_text("mine\n", "utf-8")
    done = fix("--undo")
    assert done.exit_code == 1
    assert "has changed since the patch" in done.output
    assert (folder / "train.py").read_text("utf-8") == "mine\n"


def test_a_line_that_reads_differently_is_refused(folder: Path) -> None:
    (folder / "train.py").write_text(PROGRAM.replace("view(-1)", "view(3, 2)"), "utf-8")
    done = fix("1", "run.log", "--apply")
    assert done.exit_code == 1
    assert "has changed since the run: line 4" in done.output
    assert "view(3, 2)" in (folder / "train.py").read_text("utf-8")


def test_a_file_saved_after_the_log_was_made_is_refused(folder: Path) -> None:
    os.utime(folder / "run.log", (1_000_000_000, 1_000_000_000))
    assert "was saved after run.log was made" in fix("1", "run.log").output
    done = fix("1", "run.log", "--apply")
    assert done.exit_code == 1
    assert (folder / "train.py").read_text("utf-8") == PROGRAM
    assert fix("1", "run.log", "--apply", "--force").exit_code == 0


def test_a_file_changed_since_the_diff_was_shown_is_refused_once(folder: Path) -> None:
    fix("1", "run.log")
    (folder / "train.py").write_text(PROGRAM + "# more\n", "utf-8")
    done = fix("1", "run.log", "--apply")
    assert done.exit_code == 1
    assert "changed since the diff was shown" in done.output
    assert "reshape" not in (folder / "train.py").read_text("utf-8")
    assert fix("1", "run.log", "--apply").exit_code == 0


def test_a_change_between_making_and_writing_is_refused(folder: Path) -> None:
    from aifix.fixes import backup
    from aifix.fixes.patch import Change, Refused

    change = Change(str(folder / "train.py"), PROGRAM, "new\n")
    other = Change(str(folder / "other.py"), "was\n", "new\n")
    (folder / "other.py").write_text("is\n", "utf-8")
    with pytest.raises(Refused, match=r"other\.py has changed"):
        backup.apply("reshape", [change, other])
    assert (folder / "train.py").read_text("utf-8") == PROGRAM
    (folder / "other.py").write_text("was\n", "utf-8")
    backup.apply("reshape", [change, other])
    assert [(folder / name).read_text("utf-8") for name in ("train.py", "other.py")] == ["new\n", "new\n"]
    backup.undo()
    assert [(folder / name).read_text("utf-8") for name in ("train.py", "other.py")] == [PROGRAM, "was\n"]


def test_the_last_patch_is_undone_first_though_the_clock_was_set_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.fixes import backup
    from aifix.fixes.patch import Change

    path = str(folder / "train.py")
    for now, before, after in ((2e9, PROGRAM, "second\n"), (1e9, "second\n", "third\n"), (1.5e9, "third\n", "fourth\n")):
        monkeypatch.setattr(backup.time, "time_ns", lambda now=now: int(now * 1e9))
        backup.apply("reshape", [Change(path, before, after)])
    for left in ("third\n", "second\n", PROGRAM):
        backup.undo()
        assert (folder / "train.py").read_text("utf-8") == left


def test_without_a_log_one_line_says_what_is_needed(folder: Path) -> None:
    done = fix("1", data="")
    assert done.exit_code == 2
    assert done.output == "aifix: no failure is remembered: name the log, as `aifix fix 1 train.log`, or pipe it in\n"


def test_the_log_may_come_through_the_pipe(folder: Path) -> None:
    done = fix("1", "-", data=(folder / "run.log").read_text("utf-8"))
    assert done.exit_code == 0
    assert "+flat = x.t().reshape(-1)" in done.output


def test_commands_and_settings_are_only_shown(folder: Path) -> None:
    log = folder / "ddp.log"
    log.write_text(
        "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.\n"
        "Parameter indices which did not receive grad for rank 1: 12 13\n",
        "utf-8",
    )
    done = fix("name-them", "ddp.log")
    assert "export TORCH_DISTRIBUTED_DEBUG=DETAIL" in done.output
    done = fix("find-unused", "ddp.log")
    assert done.exit_code == 1
    assert "No patch: no file of yours is known: name one with --file." in " ".join(done.output.split())
    (folder / "ddp.py").write_text("m = DDP(m)\n", "utf-8")
    assert "+m = DDP(m, find_unused_parameters=True)" in fix("find-unused", "ddp.log", "--file", "ddp.py").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("9", "run.log"), "has fixes 1 to"),
        (("magic", "run.log"), "has no fix 'magic' here"),
        (("1", "missing.log"), "cannot be read"),
        (("1", "run.log", "--for", "cuda.oom"), "cuda.oom is not diagnosed in it"),
    ],
)
def test_mistakes_are_told_in_one_line(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = fix(*arguments)
    assert done.exit_code in {1, 2}
    assert message in done.output


def test_the_report_names_the_command(folder: Path) -> None:
    done = CliRunner().invoke(cli, ["diagnose", "run.log"])
    assert "as a patch of your file: aifix fix reshape run.log" in done.output


def test_the_report_names_no_patch_that_has_no_place_in_the_program(folder: Path) -> None:
    program = folder / "big.py"
    program.write_text("import torch\nx = torch.rand(1 << 44)\n", "utf-8")
    (folder / "big.log").write_text(
        f'Traceback (most recent call last):\n  File "{program}", line 2, in <module>\n    x = torch.rand(1 << 44)\n'
        "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
        "70368744177664 bytes. Error code 12 (Cannot allocate memory)\n",
        "utf-8",
    )
    done = CliRunner().invoke(cli, ["diagnose", "big.log"])
    assert "host.cpu-alloc" in done.output
    assert "aifix fix smaller-batch" not in done.output
