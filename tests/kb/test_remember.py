"""Failures are remembered as they happen, known again, and seen to go away; nothing is written where that is not wanted."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest
from tests.kb.parts import AIFIX, CRASH, NOW, OOM, aifix, environ, incident, report

from aifix import api, kb
from aifix.kb import changes, fingerprint, recall
from aifix.kb.nouns import Environment
from aifix.model import Fact, Location

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pipe's other end is seen through /proc")
PROGRAM = f"""
import os, sys, time
print("step 1", flush=True)
time.sleep(0.4)
def step():
    raise RuntimeError({OOM!r})
if not os.path.exists("fixed"):
    step()
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    return folder


def history(home: Path) -> list[dict[str, object]]:
    return list(json.loads(aifix(home, "history", "--format", "json").out or "[]"))


def piped(home: Path, work: Path, *arguments: str, **more: str) -> str:
    """Run the program into aifix as a shell does; give what aifix says."""
    command = f"{sys.executable} train.py 2>&1 | {' '.join(AIFIX)} {' '.join(arguments)} >/dev/null"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=work, env=environ(home, **more), timeout=60, check=False)
    return done.stderr


# ---------------------------------------------------------------- what is written


@pytest.mark.parametrize(
    "arguments", [("python", "-c", "print('a \"b\"')"), ("sh", "x y.sh", ""), ("python", "train.py", "--lr=3e-4", "$HOME", "a;b")]
)
def test_a_command_can_be_typed_again(arguments: tuple[str, ...]) -> None:
    assert tuple(shlex.split(incident(arguments=arguments).command)) == arguments


@linux
def test_a_failed_pipe_is_remembered_with_its_command(home: Path, work: Path) -> None:
    piped(home, work)
    (one,) = history(home)
    assert (one["how"], one["diagnosis"], one["origin"], one["folder"]) == ("pipe", "cuda.oom", "here", str(work))
    assert one["command"] == f"{sys.executable} train.py"
    assert one["location"] == "train.py in step, line 6"
    assert 0.1 < float(str(one["seconds"])) < 30


@pytest.mark.parametrize(
    ("arguments", "more", "data"),
    [
        (["--remember", "--no-history"], {}, CRASH),
        (["--remember"], {"AIFIX_NO_HISTORY": "1"}, CRASH),
        ([], {}, "step 1\nstep 2\n"),
        ([], {}, ""),
        (["run", "--no-history", "--", "sh", "-c", f"echo '{OOM}' >&2; exit 1"], {}, ""),
        (["run", "--", "true"], {}, ""),
        (["run", "--", "sh", "-c", "echo KeyboardInterrupt >&2; exit 130"], {}, ""),
        ([], {}, CRASH),
        (["diagnose", "-"], {}, CRASH),
        (["why", "-"], {}, CRASH),
        (["explain", OOM], {}, ""),
        (["fix", "1", "-"], {}, CRASH),
    ],
)
def test_nothing_is_written(home: Path, arguments: list[str], more: dict[str, str], data: str) -> None:
    home.parent.mkdir(exist_ok=True)
    aifix(home, *arguments, data=data, **more)
    assert not home.exists()


def test_a_file_of_ones_choice(home: Path, tmp_path: Path) -> None:
    aifix(home, "--remember", "--kb", str(tmp_path / "team.db"), data=CRASH)
    assert not home.exists()
    assert aifix(home, "history", "stats", "--kb", str(tmp_path / "team.db")).out.startswith("1 failure")


@linux
def test_a_log_that_is_read_again_is_remembered_on_request(home: Path, work: Path) -> None:
    (work / "old.log").write_text(CRASH)
    for arguments in ("", "--remember"):
        subprocess.run(
            ["bash", "-c", f"cat old.log | {' '.join(AIFIX)} {arguments}"], capture_output=True, cwd=work, env=environ(home), timeout=60, check=False
        )
        assert len(history(home)) == (1 if arguments else 0)
    assert "remembered as failure 2" in aifix(home, "diagnose", "--remember", "old.log", cwd=work).err
    assert [(one["how"], one["command"], one["seconds"]) for one in history(home)] == [("diagnose", "", 0.0), ("pipe", "", 0.0)]


def test_a_supervised_failure_has_status_and_length(home: Path, work: Path) -> None:
    assert aifix(home, "run", "--", sys.executable, "train.py", cwd=work).status == 1
    (one,) = history(home)
    assert (one["how"], one["status"], one["attempt"]) == ("run", 1, 1)
    assert 0.1 < float(str(one["seconds"])) < 30


@linux
def test_each_attempt_is_an_incident_and_the_last_one_ends_them(home: Path, work: Path) -> None:
    lost = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error"
    script = f'[ "$AIFIX_ATTEMPT" = 3 ] || {{ echo "{lost}" >&2; exit 1; }}'
    done = aifix(home, "run", "--retry", "3", "--", "sh", "-c", script, cwd=work, AIFIX_SEED="1")
    assert done.status == 0, done.err
    assert "is gone" not in done.err  # the reader has just seen it
    found = history(home)
    assert [one["attempt"] for one in found] == [2, 1]
    assert all(one["ended"] == ["it was started again unchanged"] for one in found)


# ---------------------------------------------------------------- met again, and gone


@linux
def test_met_again_and_gone(home: Path, work: Path) -> None:
    assert "You met this" not in piped(home, work)
    again = piped(home, work)
    assert "You met this today at " in again
    assert "on this machine." in again
    run = aifix(home, "run", "--", sys.executable, "train.py", cwd=work).err
    assert "You met this 2 times, last today at" in run

    (work / "fixed").touch()
    (work / "train.py").write_text(PROGRAM + "# smaller\n")
    gone = piped(home, work, NCCL_DEBUG="INFO")
    assert "(cuda.oom) is gone; changed since: train.py changed, NCCL_DEBUG=INFO (was unset)" in gone
    assert "aifix resolved 3" in gone
    assert all(one["ended_at"] for one in history(home))
    assert "gone" not in piped(home, work)  # told once

    assert aifix(home, "resolved", "--fix", "checkpointing", "--worked").status == 0
    (work / "fixed").unlink()
    told = " ".join(piped(home, work).split())
    assert "“Recompute activations instead of storing them” ended it." in told
    shown = json.loads(
        subprocess.run([*AIFIX, "--format", "json"], input=CRASH, capture_output=True, text=True, env=environ(home), check=False).stdout
    )
    assert "history" not in shown  # another place, in another project
    first = json.loads(
        subprocess.run(
            ["bash", "-c", f"{sys.executable} train.py 2>&1 | {' '.join(AIFIX)} -f json"],
            capture_output=True,
            text=True,
            cwd=work,
            env=environ(home),
            check=False,
        ).stdout
    )
    (met,) = first["history"]
    assert (met["times"], met["here"], met["ended_by"], met["diagnosis"]) == (4, True, "checkpointing", "cuda.oom")


@linux
def test_the_same_log_is_not_met_before(home: Path, work: Path) -> None:
    aifix(home, "run", "--log", "run.log", "--", sys.executable, "train.py", cwd=work)
    assert "You met this" not in aifix(home, "diagnose", "run.log", cwd=work).out
    aifix(home, "run", "--", sys.executable, "train.py", cwd=work)
    assert "You met this today" in aifix(home, "diagnose", "run.log", cwd=work).out


@linux
def test_a_patch_that_was_applied_is_the_likeliest_answer(home: Path, work: Path) -> None:
    pytest.importorskip("libcst")
    code = PROGRAM.replace("def step():", "batch_size = 64\nloader = torch.utils.data.DataLoader(data, batch_size=batch_size)\ndef step():")
    (work / "train.py").write_text(
        code.replace(
            "import os, sys, time",
            "import os, sys, time\nclass torch:\n    class utils:\n        class data:\n            DataLoader = dict\ndata = []",
        )
    )
    state = {"AIFIX_STATE": str(home.parent / "state")}
    aifix(home, "run", "--log", "run.log", "--", sys.executable, "train.py", cwd=work, **state)
    fixed = aifix(home, "fix", "1", "run.log", "--apply", cwd=work, **state)
    assert fixed.status == 0, fixed.out + fixed.err
    (work / "fixed").touch()
    told = aifix(home, "run", "--", sys.executable, "train.py", cwd=work, **state).err
    assert "aifix resolved 1 --fix smaller-batch --worked" in told


def test_words_for_days() -> None:
    noon = 1_715_500_800.0 + 12 * 3600
    assert recall.day(noon, noon).startswith("today at ")
    assert recall.day(noon, noon + 40 * 86400) == "on 12 May"
    assert recall.day(noon, noon + 400 * 86400) == "on 12 May 2024"


@pytest.mark.parametrize(
    ("worked", "host", "said"),
    [
        (True, None, "You met this on 12 May 2024 on this machine; “Halve the batch and accumulate gradients over two steps” ended it."),
        (False, None, "You met this on 12 May 2024 on this machine; “Halve the batch and accumulate gradients over two steps” did not help."),
        (True, "gpu-7", "You met this on 12 May 2024 on gpu-7; “Halve the batch and accumulate gradients over two steps” ended it."),
    ],
)
def test_the_sentence(store: kb.Store, worked: bool, host: str | None, said: str) -> None:
    made = incident(at=1_715_500_800.0 + 12 * 3600)
    made = kb.Incident(**{name: getattr(made, name) for name in made.__struct_fields__} | {"origin": "here"} | ({"host": host} if host else {}))
    kb.add(store, made)
    kb.record_outcome(store, made, "smaller-batch", worked=worked)
    met = recall.met(store, report(), folder="/srv/project")
    assert met is not None
    assert met.text == said


def test_a_fix_of_ones_own_is_told_by_its_note(store: kb.Store) -> None:
    made = incident(at=NOW)
    kb.add(store, made)
    kb.record_outcome(store, made, kb.OWN, worked=True, note="turned the cache off")
    met = recall.met(store, report(), folder="/srv/project")
    assert met is not None
    assert met.text.endswith("“turned the cache off” ended it.")


# ---------------------------------------------------------------- recurrence

HERE = Location("/srv/project/train.py", 12, "step")


@pytest.mark.parametrize(
    ("location", "facts", "same"),
    [
        (Location("/srv/project/train.py", 80, "step"), {}, True),
        (Location("/other/place/project/train.py", 12, "step"), {}, False),
        (Location("/srv/project/train.py", 12, "evaluate"), {}, False),
        (Location("/srv/project/serve.py", 12, "step"), {}, False),
        (HERE, {"requested": Fact("3 GiB", 3 << 30, "bytes"), "rank": Fact("7", 7), "host": Fact("n9", "n9"), "step": Fact("9", 9)}, True),
        (HERE, {"key": Fact("embed.weight", "embed.weight")}, False),
        (HERE, {"batch": Fact("32", 32, None, "train.py:4")}, True),
    ],
)
def test_what_makes_a_failure_the_same(location: Location, facts: dict[str, Fact], same: bool) -> None:
    first = fingerprint.fingerprint("cuda.oom", HERE, {}, folder="/srv/project")
    assert (fingerprint.fingerprint("cuda.oom", location, facts, folder="/srv/project") == first) is same


def test_an_unknown_failure_is_known_again_by_its_message() -> None:
    first, second, third = (
        f'Traceback (most recent call last):\n  File "/srv/project/a.py", line {line}, in f\nmy.OddError: shard {number} of /tmp/x{number}/y {word}\n'
        for line, number, word in ((3, 7, "froze"), (9, 8, "froze"), (3, 7, "melted"))
    )
    keys = [incident(text).fingerprint for text in (first, second, third)]
    assert api.diagnose_text(first).unknown is not None
    assert keys[0] == keys[1] != keys[2]


# ---------------------------------------------------------------- what changed


def git(folder: Path, *arguments: str) -> str:
    identity = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b.c",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b.c",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    return subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **identity}, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_changes_of_code_are_counted_by_git(tmp_path: Path) -> None:
    from aifix.kb import surroundings

    git(tmp_path, "init", "-q", "-b", "main")
    for name in ("train.py", "model.py", "early.py"):
        (tmp_path / name).write_text("a\nb\nc\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert surroundings.revision(str(tmp_path)) == commit
    (tmp_path / "early.py").write_text("edited before the failure\n")
    since = (tmp_path / "early.py").stat().st_mtime
    os.utime(tmp_path / "early.py", (since - 10, since - 10))
    (tmp_path / "train.py").write_text("a\nB\nc\nd\n")
    (tmp_path / "new.py").write_text("x\n")
    assert changes.files(str(tmp_path), commit, since - 5) == ["train.py +2 -1", "new.py new"]
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "y")
    git(tmp_path, "pack-refs", "--all")
    assert changes.files(str(tmp_path), commit, since - 5) == ["new.py +1 -0", "train.py +2 -1"]
    assert surroundings.revision(str(tmp_path / ".")) == git(tmp_path, "rev-parse", "HEAD") != commit


def test_a_project_is_the_same_however_it_was_cloned(tmp_path: Path) -> None:
    from aifix.kb import surroundings

    keys = set()
    for number, url in enumerate(("https://joe:token@example.org/team/app.git", "git@example.org:team/app.git", "ssh://git@example.org/team/app")):
        folder = tmp_path / str(number) / "src"
        (folder.parent / ".git").mkdir(parents=True)
        folder.mkdir()
        (folder.parent / ".git" / "config").write_text(f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n')
        keys.add(surroundings.project(str(folder)))
    assert len(keys) == 1
    assert keys != {surroundings.project(str(tmp_path))}


def test_changes_of_the_environment() -> None:
    before = Environment(python="3.10", packages={"torch": "2.3.0", "apex": "0.1", "numpy": "2.0"}, variables={"A": "1", "B": "2"}, driver="535.1")
    after = Environment(
        python="3.11", packages={"torch": "2.4.1", "numpy": "2.0", "xformers": "0.0.27"}, variables={"A": "1", "C": "3"}, driver="550.2"
    )
    assert changes.between(before, after) == [
        "apex 0.1 removed", "torch 2.3.0 -> 2.4.1", "xformers 0.0.27 installed", "B unset (was 2)", "C=3 (was unset)", "Python 3.10 -> 3.11", "driver 535.1 -> 550.2",
    ]  # fmt: skip


# ---------------------------------------------------------------- on a terminal


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal")
def test_resolved_asks_on_a_terminal(home: Path, store: kb.Store) -> None:
    kb.add(store, incident())
    child = pexpect.spawn(AIFIX[0], [*AIFIX[1:], "resolved"], env=environ(home), encoding="utf-8", timeout=20)  # type: ignore[arg-type]
    child.expect("Which fix did you try")
    child.sendline("2")
    child.expect("Did it end the failure")
    child.sendline("y")
    child.expect("Noted: checkpointing ended failure 1")
    child.expect(pexpect.EOF)
    assert [(one.fix, one.worked) for one in kb.outcomes(store)] == [("checkpointing", True)]
    child = pexpect.spawn(AIFIX[0], [*AIFIX[1:], "resolved", "1"], env=environ(home), encoding="utf-8", timeout=20)  # type: ignore[arg-type]
    for question, answer in (("Which fix", "0"), ("in a few words", "closed the browser"), ("Did it end", "n")):
        child.expect(question)
        child.sendline(answer)
    child.expect("Noted: own did not end failure 1")
    child.expect(pexpect.EOF)
    assert ("own", False, "closed the browser") in [(one.fix, one.worked, one.note) for one in kb.outcomes(store)]
