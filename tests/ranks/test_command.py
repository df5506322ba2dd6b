"""`aifix ranks` as a person and a script meet it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.ranks.test_verdict import CASES, KEY, LOST, OOM, STEPS, watchdog

from aifix.ranklogs import ranks
from aifix.show.layout import display_width
from aifix.show.ranks import render

if TYPE_CHECKING:
    from collections.abc import Callable

    Lay = Callable[[dict[str, str]], str]


def aifix(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "aifix", "ranks", *arguments],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environ,
        timeout=120,
        check=False,
    )


def test_a_failed_job_ends_with_1_and_names_rank_and_cause(lay: Lay) -> None:
    done = aifix(lay({"rank_0.log": STEPS + watchdog(0), "rank_1.log": STEPS + OOM, "rank_2.log": STEPS + watchdog(2)}))
    assert done.returncode == 1
    first, second = done.stdout.splitlines()[:2]
    assert first == "✗ Rank 1 failed first: CUDA out of memory on GPU 0"
    assert second.startswith("  proven by the logs · 3 ranks")
    assert "what the log of rank 1 says" in done.stdout
    assert "cuda.oom" in done.stdout


def test_a_healthy_job_ends_with_0(lay: Lay) -> None:
    done = aifix(lay(CASES["nothing failed"][0]))
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "✓ No rank failed")


def test_json_is_one_object_with_its_schema_named(lay: Lay) -> None:
    done = aifix("--format", "json", lay(CASES["one is silent, NCCL waited for it"][0]))
    report = json.loads(done.stdout)
    assert (report["schema"], report["verdict"]["kind"], report["verdict"]["ranks"]) == ("aifix.ranks/1", "frozen", [1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing-folder",), "aifix: missing-folder does not exist"),
        (("{empty}",), "aifix: no log files in {empty}"),
        (("--attempt", "3", "{logs}"), "aifix: there is no attempt 3; there are 0"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_2(arguments: tuple[str, ...], said: str, lay: Lay, tmp_path_factory: pytest.TempPathFactory) -> None:
    named = {"empty": str(tmp_path_factory.mktemp("empty")), "logs": lay({"none_x1/attempt_0/0/stdout.log": STEPS})}
    done = aifix(*(part.format(**named) for part in arguments))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said.format(**named) + "\n")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_timeline_fits_and_says_nothing_by_colour_alone(width: int, colour: bool, encoding: str, lay: Lay) -> None:
    files = {f"llm.node{rank // 4}.{rank}.out": STEPS + watchdog(rank) for rank in range(12)} | {
        "llm.node1.5.out": STEPS + KEY,
        "llm.node2.11.out": STEPS[:1200],
    }
    report = ranks(lay(files))
    text = render(report, width=width, colour=colour, encoding=encoding)
    plain = render(report, width=width, colour=False, encoding=encoding)
    head = plain.partition("what the log of")[0]
    assert all(display_width(line) <= width for line in head.splitlines())
    assert {"first", "followed", "silent"} <= set(plain.split())
    assert text.encode(encoding)
    if colour:
        import re

        assert re.sub(r"\x1b\[[0-9;]*m", "", text) == plain


def test_of_a_thousand_ranks_those_that_did_the_same_share_a_line(lay: Lay) -> None:
    files = {f"rank_{rank}.log": STEPS + (OOM if rank == 77 else LOST) for rank in range(300) if rank != 200}
    text = render(ranks(lay(files), jobs=1), width=80, colour=False)
    head = text.partition("what the log of")[0].splitlines()
    assert len(head) < 30
    assert any(line.split()[:1] == ["77"] and "first" in line for line in head)
    assert any("200" in line and "unheard" in line for line in head)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows takes no such file names")
def test_no_escape_of_a_log_or_a_name_reaches_the_terminal(lay: Lay) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    folder = lay({"rank_0.log": STEPS + LOST, "rank_1.log": STEPS + KEY.replace("'labels'", f"'labels{evil}'"), "rank_\x1b[31m2.log": STEPS + LOST})
    text = render(ranks(folder), width=80, colour=False)
    assert not any(character in text for character in "\x1b\x07\u202e")


def test_damaged_logs_are_read_as_far_as_they_go(lay: Lay, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = lay({"rank_0.log": "", "rank_1.log": STEPS + KEY, "none_x/attempt_0/2/error.json": "{", "rank_3.log": "x" * 300_000})
    (Path(folder) / "rank_4.log").write_bytes(bytes(range(256)) * 2000)
    report = ranks([folder, str(tmp_path_factory.mktemp("more"))])
    assert report.verdict.ranks == (1,)


def test_a_log_of_one_program_is_sent_to_diagnose(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text('step 0\nTraceback (most recent call last):\n  File "train.py", line 5, in <module>\nKeyError: 1\n')
    done = aifix(str(log))
    assert done.returncode == 2
    assert "aifix diagnose" in done.stderr
    assert not done.stdout
