"""`aifix history` and `aifix resolved`, as people call them; and how fast they are with a hundred thousand failures."""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import CRASH, NOW, aifix, fill, generated, incident

from aifix import kb
from aifix.show.history import render_incident, render_list, render_statistics
from aifix.show.stream import Display

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def filled(home: Path, store: kb.Store) -> Path:
    for number, one in enumerate(generated(60)):
        kb.add(store, one)
        if number % 3 == 0:
            kb.record_outcome(store, one, "first", worked=number % 2 == 0, at=NOW)
    kb.add(store, incident(at=NOW + 60))
    return home


def test_the_last_ones_are_listed_newest_first(filled: Path) -> None:
    out = aifix(filled, "history", "-n", "3").out
    assert [line.split()[0] for line in out.splitlines() if re.match(r" *\d+  \d{4}-", line)] == ["61", "60", "59"]
    assert "cuda.oom: CUDA out of memory on GPU 0" in out
    assert "python train.py" in out
    assert len(aifix(filled, "history").out.split("  2026-")) == 21


@pytest.mark.parametrize(
    ("words", "found"),
    [(["memory"], True), (["tried", "alloc"], True), (["TRAIN.PY"], True), (["cuda.oom"], True), (["memory", "zebra"], False), (['"*('], False), (["OR"], False)],
)  # fmt: skip
def test_all_words_are_looked_for(filled: Path, words: list[str], found: bool) -> None:
    done = aifix(filled, "history", "search", *words, "--format", "json")
    assert done.status == 0, done.err
    numbers = [one["number"] for one in json.loads(done.out)]
    assert (61 in numbers) is found


def test_one_is_shown_whole(filled: Path) -> None:
    assert aifix(filled, "resolved", "61", "--fix", "1", "--failed", "--note", "still too large").status == 0
    text = aifix(filled, "history", "show").out
    for part in (
        "61  cuda.oom",
        "command     python train.py",
        "Tried to allocate",
        "capacity = 23.64 GiB",
        "1. smaller-batch",
        "did not help",
        "still too large",
    ):
        assert part in text
    shown = json.loads(aifix(filled, "history", "show", "61", "-f", "json").out)
    assert shown["incident"]["facts"]["requested"] == {"text": "2.00 GiB", "value": 2147483648, "unit": "bytes"}
    assert shown["outcomes"][0]["worked"] is False
    assert aifix(filled, "history", "show", "99").status == 2


def test_a_failure_that_came_again_says_so(store: kb.Store, home: Path) -> None:
    for number in range(3):
        kb.add(store, incident(at=NOW + number, seconds=10.0))
    assert "met         3 times since 2026-09-21 (also failure 3, 1), 30 s in all" in aifix(home, "history", "show", "2", TZ="UTC").out


def test_figures_are_drawn(filled: Path) -> None:
    text = aifix(filled, "history", "stats").out
    assert text.startswith("61 failures, ")
    for part in ("of runs that failed", "what fails most", "where", "on which machine", "what helped", "█"):
        assert part in text
    figures = json.loads(aifix(filled, "history", "stats", "-f", "json").out)
    assert figures["count"] == 61
    assert sum(group["count"] for group in figures["diagnoses"]) <= 61
    counts = [group["count"] for group in figures["diagnoses"]]
    assert counts == sorted(counts, reverse=True)
    helped = [(item["worked"], item["tried"]) for item in figures["fixes"]]
    assert sum(tried for _, tried in helped) <= 20


def test_what_something_cost_is_the_length_of_its_failed_runs(store: kb.Store) -> None:
    for seconds in (10.0, 20.0, 0.0):
        kb.add(store, incident(seconds=seconds, at=NOW))
    figures = kb.statistics(store, now=NOW + 10)
    assert (figures.seconds, figures.diagnoses[0].seconds, figures.diagnoses[0].count) == (30.0, 30.0, 3)
    assert figures.weeks[-1] == 3


def test_an_empty_history_is_no_error(home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    for arguments in (["history"], ["history", "stats"], ["history", "search", "x"], ["history", "export"]):
        done = aifix(home, *arguments)
        assert done.status == 0, done.err


def test_removing(filled: Path) -> None:
    assert aifix(filled, "history", "rm", "61", "60").out == "2 removed\n"
    assert aifix(filled, "history", "rm", "61").status == 1
    assert aifix(filled, "history", "rm").status == 2
    assert aifix(filled, "history", "rm", "--all").status == 2
    assert aifix(filled, "history", "rm", "--all", "--yes").out == "59 removed\n"
    assert aifix(filled, "history", "stats").out.startswith("The history is empty")


def test_there_and_back(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "all.jsonl"
    assert aifix(filled, "history", "export", str(target)).status == 0
    other = tmp_path / "other"
    assert aifix(other, "history", "import", str(target)).out == "61 failures and 20 outcomes are new\n"
    assert aifix(other, "history", "import", str(target)).out == "0 failures and 0 outcomes are new\n"
    assert aifix(other, "history", "export", "--outcomes").out.count("\n") == 21
    assert aifix(other, "history", "import", str(tmp_path / "missing")).status == 2
    assert aifix(other, "history", "export", str(tmp_path / "missing" / "x")).status == 2


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--fix", "smaller-batch", "--worked"], 0, "smaller-batch ended failure 61"),
        (["61", "--fix", "2", "--failed"], 0, "checkpointing did not end failure 61"),
        (["--note", "turned it off"], 0, "own ended failure 61"),
        (["99", "--fix", "1", "--worked"], 2, "there is no failure 99"),
        (["--fix", "nonsense", "--worked"], 2, "has no fix nonsense"),
        (["--worked"], 2, "say which fix"),
        (["--fix", "1"], 2, "--worked or --failed"),
    ],
)
def test_what_is_said_of_fixes(filled: Path, arguments: list[str], status: int, said: str) -> None:
    done = aifix(filled, "resolved", *arguments)
    assert done.status == status
    assert said in (done.err if status else done.out)


def test_why_shows_what_was_learned_and_fix_keeps_the_same_order(filled: Path) -> None:
    for _ in range(2):
        aifix(filled, "resolved", "61", "--fix", "smaller-batch", "--failed")
    aifix(filled, "resolved", "61", "--fix", "checkpointing", "--worked")
    text = aifix(filled, "why", "-", data=CRASH).out
    assert "history: checkpointing worked 1 of 1 times: chance 0.45 -> 0.67" in " ".join(text.split())
    first = json.loads(aifix(filled, "diagnose", "-f", "json", "-", data=CRASH).out)["diagnoses"][0]["fixes"][0]
    assert first["id"] == "checkpointing"
    assert first["title"] in aifix(filled, "fix", "1", "-", data=CRASH).out
    untaught = json.loads(aifix(filled, "diagnose", "--no-history", "-f", "json", "-", data=CRASH).out)["diagnoses"][0]["fixes"][0]
    assert untaught["id"] == "smaller-batch"


EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b5m\u202etxt\r\nnext"


@pytest.mark.parametrize("display", [Display(40, True, "utf-8"), Display(24, False, "ascii"), Display(120, False, "utf-8")])
def test_strange_text_of_a_foreign_export_stays_harmless(store: kb.Store, display: Display) -> None:
    made = incident()
    strange = dict.fromkeys(("host", "command", "folder", "location", "title", "diagnosis"), EVIL)
    made = kb.Incident(**{name: getattr(made, name) for name in made.__struct_fields__} | strange | {"ended_at": NOW, "ended": (EVIL,)})
    kb.add(store, made)
    kb.record_outcome(store, made, EVIL, worked=True, note=EVIL)
    whole = kb.get(store, 1)
    assert whole is not None
    outcomes = kb.outcomes(store, made.uid)
    plain = Display(display.width, False, display.encoding)
    for text in (
        render_list(kb.recent(store), {made.uid: EVIL}, plain),
        render_incident(whole, outcomes, plain, verbose=True),
        render_statistics(kb.statistics(store, now=NOW), plain),
    ):
        assert all(character.isprintable() or character == "\n" for character in text)
        text.encode(display.encoding)
        assert "\u202e" not in text
    assert render_list(kb.recent(store), {}, display)


# ---------------------------------------------------------------- a hundred thousand


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "home" / "history.db"
    fill(path, 100_000)
    return path.parent


def spent(home: Path, *arguments: str) -> float:
    """Give the processor time of a command, the best of three: a neighbour's load counts for nothing."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert aifix(home, *arguments).status == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(3))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processor time of children")
def test_a_hundred_thousand_failures(large: Path) -> None:
    for arguments in (
        ["search", "nccl", "watchdog"],
        ["search", "node-3", "train_7"],
        ["search", "s"],
        ["search", "nothing-like-it"],
        ["stats"],
        ["show", "500"],
        [],
    ):
        took = spent(large, "history", *arguments)
        print(f"history {' '.join(arguments)}: {took:.2f} s")
        assert took < 0.5


WRITE = """
import sys, time
from tests.kb.parts import report
found = report()
started = time.process_time()
from aifix import kb
from aifix.kb import record
memory = kb.Memory(sys.argv[1], say=print)
made = memory.remember(found, record.Run(how="pipe", arguments=("python", "train.py"), folder="/srv/project", python=sys.executable))
print(made is not None, time.process_time() - started)
"""


@pytest.mark.slow
def test_writing_one_takes_less_than_ten_milliseconds(large: Path) -> None:
    """With all that it imports; in processor time, the best of five."""
    import subprocess

    from tests.kb.parts import environ

    took = []
    for _ in range(5):
        command = [sys.executable, "-c", WRITE, str(large / "history.db")]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env=environ(large, PYTHONPYCACHEPREFIX=str(large / "pyc"), PYTHONDONTWRITEBYTECODE=""),
        )
        written, seconds = done.stdout.split()
        assert written == "True"
        took.append(float(seconds))
    print(f"{min(took) * 1000:.1f} ms")
    assert min(took) < 0.010


def test_fix_says_what_ended_the_failure_before_in_the_reports_words(home: Path, tmp_path: Path) -> None:
    (tmp_path / "first.log").write_text(CRASH, "utf-8")
    (tmp_path / "second.log").write_text("another run: its lines stand elsewhere\n" + CRASH, "utf-8")
    assert aifix(home, "diagnose", "--remember", "first.log", cwd=tmp_path).status == 1
    assert aifix(home, "resolved", "1", "--fix", "free-what-lingers", "--worked", cwd=tmp_path).status == 0
    report = json.loads(aifix(home, "diagnose", "-f", "json", "second.log", cwd=tmp_path).out)
    (met,) = report["history"]
    titles = [one["title"] for one in report["diagnoses"][0]["fixes"]]
    listed, first, second = (" ".join(aifix(home, "fix", *number, "second.log", cwd=tmp_path).out.split()) for number in ((), ("1",), ("2",)))
    assert met["text"].endswith(f"“{titles[0]}” ended it.")
    assert met["text"] in listed
    assert f"1. {titles[0]} free-what-lingers" in listed
    assert met["text"] in first
    assert met["text"] not in second
