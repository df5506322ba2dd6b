"""What the commands say where there is little to say, and where people err."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from aifix.commands.main import cli

if TYPE_CHECKING:
    from pathlib import Path

FAILED = "Traceback (most recent call last):\n  File \"run.py\", line 2, in <module>\n    x['epochz']\nKeyError: 'epochz'\n"


@pytest.mark.parametrize("command", [[], ["rules"], ["kb"], ["lab"], ["history"]], ids=lambda command: " ".join(command) or "aifix")
def test_the_help_says_in_whole_sentences_what_each_command_does(command: list[str]) -> None:
    listed = CliRunner(env={"COLUMNS": "80"}).invoke(cli, [*command, "--help"]).output.partition("\nCommands:\n")[2]
    assert listed
    assert "..." not in listed
    sentences = re.split(r"\n  (?=\S)", listed.strip())
    assert all(sentence.rstrip().endswith((".", ")", "?")) for sentence in sentences), sentences


def test_a_message_that_is_no_error_gets_the_way_to_the_handbook() -> None:
    done = CliRunner().invoke(cli, ["explain", "hello"])
    assert done.exit_code == 0
    assert "reads like no error" in done.output
    assert "aifix kb search" in done.output


def test_several_files_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.log").write_text(FAILED)
    (tmp_path / "good.log").write_text("epoch 1: loss 0.3\n")
    both = CliRunner().invoke(cli, ["diagnose", "bad.log", "good.log"]).output
    assert "== bad.log" in both
    assert "nothing failed in good.log" in both
    assert "==" not in CliRunner().invoke(cli, ["diagnose", "bad.log"]).output


def test_the_list_of_rules_shows_titles_without_their_places() -> None:
    listed = CliRunner().invoke(cli, ["rules", "list"]).output
    assert "npm.engine" in listed
    assert not re.search(r"\[\[|\]\]|\{|\|\|", listed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rules", "test", "no.such.rule"], "no rule's id starts with no.such.rule"),
        (["probe", "host.clock", "--python", "no/such/python"], "there is no such interpreter"),
    ],
    ids=["rules test", "probe --python"],
)
def test_a_name_that_does_not_exist_is_bad_usage(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_the_table_of_probes_ends_its_lines_where_the_text_ends() -> None:
    table = CliRunner(env={"COLUMNS": "60"}).invoke(cli, ["probe", "host.memory", "host.clock"]).output
    assert all(line == line.rstrip() for line in table.splitlines())
    evidence = [line for line in table.splitlines() if line.startswith(" " * 10)]
    assert evidence


@pytest.mark.parametrize("name", ["nowhere.log", "runs/7/slurm-11.out"])
def test_the_name_of_a_file_that_is_not_there_is_no_healthy_run(name: str) -> None:
    import aifix

    with pytest.raises(FileNotFoundError, match=name):
        aifix.diagnose(name)
    assert not aifix.diagnose("epoch 3 done, see train.log").failed


def test_the_python_module_names_what_it_offers() -> None:
    import aifix

    assert set(aifix.__all__) <= set(dir(aifix))


def test_a_worker_whose_traceback_shows_libraries_alone_is_placed_at_the_line_that_asked_for_the_batch() -> None:
    import aifix

    library = "/venv/lib/python3.11/site-packages/torch"
    log = f"""Traceback (most recent call last):
  File "/home/user/train.py", line 7, in <module>
    for batch in loader:
  File "{library}/utils/data/dataloader.py", line 725, in __next__
    data = self._next_data()
RuntimeError: Caught RuntimeError in DataLoader worker process 1.
Original Traceback (most recent call last):
  File "{library}/utils/data/_utils/collate.py", line 275, in collate_tensor_fn
    return torch.stack(batch, 0, out=out)
RuntimeError: stack expects each tensor to be equal size, but got [3, 8] at entry 0 and [3, 9] at entry 1
"""
    location = aifix.diagnose(log).diagnoses[0].location
    assert location is not None
    assert (location.file, location.line) == ("/home/user/train.py", 7)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rank", "logs"], "No such command 'rank'. Did you mean 'ranks'?"),
        (["diagnos", "run.log"], "Did you mean 'diagnose'?"),
        (["rules", "shw", "cuda.oom"], "No such command 'shw'. Did you mean 'show'?"),
        (["run.log"], "It is a file: aifix diagnose run.log"),
        (["logs"], "It is a folder: aifix ranks logs"),
        (["python", "train.py", "--lr=1"], "To run it under aifix: aifix run -- python train.py --lr=1"),
        (["zzzz"], "No such command 'zzzz'.\n"),
    ],
)
def test_what_was_meant_by_a_command_that_there_is_not(arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.log").touch()
    (tmp_path / "logs").mkdir()
    (tmp_path / "python").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    if arguments[0] != "python":
        monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_several_files_are_one_document(tmp_path: Path) -> None:
    for name, text in (("a.log", FAILED), ("b.log", "epoch 1: loss 0.5\n"), ("c.log", FAILED)):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("a.log", "b.log", "missing.log", "c.log")]
    done = CliRunner().invoke(cli, ["diagnose", "--format", "json", *files])
    assert done.exit_code == 2
    assert [(report["source"][-5:], report["failed"]) for report in json.loads(done.stdout)] == [("a.log", True), ("b.log", False), ("c.log", True)]
    done = CliRunner().invoke(cli, ["diagnose", "--format", "sarif", files[0], files[1]])
    assert done.exit_code == 1
    assert [len(run["results"]) for run in json.loads(done.stdout)["runs"]] == [1, 0]
    assert CliRunner().invoke(cli, ["diagnose", "--exit-zero", "--format", "json", files[0], files[1]]).exit_code == 0


def test_who_makes_a_rule_of_a_known_failure_is_told_which_knows_it() -> None:
    known = "Traceback (most recent call last):\n  File \"run.py\", line 2, in <module>\n    import einops\nModuleNotFoundError: No module named 'einops'\n"
    assert "deps.module-missing knows this failure already" in CliRunner().invoke(cli, ["rules", "new", "deps.einops"], input=known).output
    assert "knows this failure" not in CliRunner().invoke(cli, ["rules", "new", "data.epochz"], input=FAILED).output
