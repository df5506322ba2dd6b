"""The file of the history: its forms, two writers at once, and everything that can be wrong with it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.kb.parts import AIFIX, CRASH, Done, aifix, environ, incident

from aifix import kb
from aifix.kb import schema

if TYPE_CHECKING:
    from pathlib import Path

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="made of /proc, limits and signals")


def diagnosed(done: Done) -> list[str]:
    """Check that the failure was diagnosed all the same, and give the lines that aifix said beside it."""
    assert done.status == 1
    assert done.out == CRASH
    assert "cuda.oom" in done.err
    assert "Traceback" not in done.err.partition("cuda.oom")[2]
    return [line for line in done.err.splitlines() if line.startswith("aifix:")]


def test_an_incident_comes_back_as_it_went_in(store: kb.Store) -> None:
    made = incident(seconds=12.5, status=1)
    number = kb.add(store, made)
    found = kb.get(store, number)
    assert found is not None
    assert found == kb.Incident(**{name: getattr(made, name) for name in made.__struct_fields__} | {"number": number})
    assert kb.add(store, made) == number
    assert [one.number for one in kb.recent(store)] == [number]


def test_numbers_are_never_given_twice(store: kb.Store) -> None:
    first = kb.add(store, incident())
    assert kb.remove(store, [first, 99]) == 1
    assert kb.get(store, first) is None
    assert kb.find(store, "memory") == []
    assert kb.add(store, incident()) == first + 1


def test_only_its_owner_may_read_it(store: kb.Store) -> None:
    if os.name == "posix":
        assert os.stat(store.path).st_mode & 0o077 == 0  # noqa: PTH116


@pytest.mark.parametrize("form", range(schema.VERSION))
def test_older_forms_are_brought_up_to_date(home: Path, form: int) -> None:
    path = home / "old.db"
    home.mkdir()
    connection = sqlite3.connect(path)
    for step in schema.STEPS[:form]:
        for statement in step:
            connection.execute(statement)
    if form:
        connection.execute(
            "INSERT INTO incidents (uid, at, host, how, origin, attempt, command, command_key, folder, project, revision, seconds, environment,"
            " diagnosis, title, confidence, fingerprint, location) VALUES ('a', 1, 'h', 'run', 'here', 1, '', '', '', '', '', 0, '', 'x.y', 't', 1, 'f', '')"
        )
        connection.execute("INSERT INTO details VALUES (1, '{}', '[]', '[]', '[]', '[]', 'an old word')")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    connection.execute(f"PRAGMA user_version = {form}")
    connection.commit()
    connection.close()
    with kb.open_store(str(path)) as store:
        assert schema.version_of(store.connection) == schema.VERSION
        kb.add(store, incident())
        assert len(kb.find(store, "old word")) == (1 if form else 0)


def newer(path: Path) -> None:
    with kb.open_store(str(path)) as store:
        store.connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE songs (name)")
    connection.commit()
    connection.close()


def damaged(path: Path) -> None:
    with kb.open_store(str(path)) as store:
        for _ in range(30):
            kb.add(store, incident())
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    path.write_bytes(data[:5000] + b"\xa5" * (len(data) - 9000) + data[-4000:])


def emptied(path: Path) -> None:
    path.write_bytes(b"this is no database at all " * 400)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(newer, "newer aifix"), (foreign, "another program's"), (damaged, "is damaged"), (emptied, "is damaged")],
)
def test_a_file_that_cannot_be_used_costs_one_line_and_is_left_alone(home: Path, spoil: object, said: str) -> None:
    home.mkdir()
    path = home / "history.db"
    spoil(path)  # type: ignore[operator]
    before = path.read_bytes()
    (line,) = diagnosed(aifix(home, "--remember", data=CRASH))
    assert said in line
    assert str(path) in line
    assert path.read_bytes() == before
    for command in (["history"], ["history", "stats"], ["resolved", "--note", "x"]):
        done = aifix(home, *command)
        assert (done.status, done.out) == (2, "")
        assert said in done.err
        assert "Traceback" not in done.err


@linux
@pytest.mark.parametrize("place", ["/proc/1/aifix", "/dev/null", "/dev/null/x"])
def test_a_home_that_cannot_be_written(tmp_path: Path, place: str) -> None:
    (line,) = diagnosed(aifix(tmp_path / "none", "--remember", data=CRASH, AIFIX_HOME=place))
    assert line.startswith(f"aifix: this failure is not in the history: {place}")


@linux
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_home(home: Path) -> None:
    diagnosed(aifix(home, "--remember", data=CRASH))
    for path in (*home.rglob("*"), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    (line,) = diagnosed(aifix(home, "--remember", data=CRASH))
    assert "read-only" in line or "cannot be opened" in line
    assert aifix(home, "history", "stats").out.startswith("1 failure")


@linux
@pytest.mark.parametrize("room", [0, 20_000, 100_000])
def test_a_full_disk(home: Path, room: int) -> None:
    """The limit on the size of files stands for the disk: writing beyond it fails as ENOSPC does."""
    home.mkdir()
    limited = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2);"
        "runpy.run_module('aifix', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", limited, str(room), "--remember"],
        input=CRASH,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environ(home),
    )
    lines = diagnosed(Done(done.returncode, done.stdout, done.stderr))
    assert len(lines) == 1
    assert "not in the history" in lines[0]
    assert diagnosed(aifix(home, "--remember", data=CRASH)) == []  # there is room again
    assert aifix(home, "history", "stats").out.startswith("1 failure")


DISK = """
set -e
mount -t tmpfs -o size=120k none "$AIFIX_HOME"
aifix() { "$PYTHON" -m aifix "$@" 2>&1 >/dev/null | grep -e ^aifix: -e 'You met' || true; }
echo full; aifix --remember < "$LOG"
mount -o remount,size=4m "$AIFIX_HOME"
echo room; aifix --remember < "$LOG"
mount -o remount,ro "$AIFIX_HOME"
echo read-only; aifix --remember < "$LOG"
"$PYTHON" -m aifix history stats | head -1
"""


@linux
def test_a_small_disk_and_a_read_only_one(home: Path) -> None:
    home.mkdir()
    (home.parent / "run.log").write_text(CRASH)
    more = environ(home, PYTHON=sys.executable, LOG=str(home.parent / "run.log"))
    alone = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if shutil.which("unshare") is None or subprocess.run([*alone, "mount", "-t", "tmpfs", "none", home], capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    done = subprocess.run([*alone, "bash", "-c", DISK], capture_output=True, text=True, timeout=120, check=False, env=more)
    lines = done.stdout.splitlines()
    assert lines[0] == "full", done
    assert "the disk or a quota is full" in lines[1]
    assert lines[2:4] == ["room", "read-only"]
    assert "history.db is read-only" in lines[4]
    assert lines[5].startswith("1 failure, ")  # what is there can still be read


def test_a_locked_file(home: Path) -> None:
    diagnosed(aifix(home, "--remember", data=CRASH))
    holder = sqlite3.connect(home / "history.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    (line,) = diagnosed(aifix(home, "--remember", data=CRASH))
    assert "is locked by another process" in line
    holder.execute("ROLLBACK")
    assert diagnosed(aifix(home, "--remember", data=CRASH)) == []
    assert aifix(home, "history", "stats").out.startswith("2 failures")


WRITER = """
import sys
from aifix.kb.incidents import add
from aifix.kb.nouns import Cited, Environment, Incident
from aifix.kb.store import open_store
name, count = sys.argv[2], int(sys.argv[3])
environment = Environment("linux", "3.11", "/venv/bin/python", {f"package-{number}": "1.0" for number in range(100)})
lines = tuple(Cited(number, f"RuntimeError: something of {name} went wrong, " + "and so on " * 40) for number in range(8))
with open_store(sys.argv[1], patience=30) as store:
    for number in range(count):
        made = Incident(uid=f"{name}-{number}", at=1.0 + number, host=name, how="run", diagnosis="cuda.oom", evidence=lines, environment=environment)
        add(store, made)
        print(number, flush=True)
"""


def writer(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(count)], stdout=subprocess.PIPE, text=True, env=environ(path.parent))


def test_several_processes_at_once_make_and_fill_one_file(home: Path) -> None:
    home.mkdir()
    path = home / "history.db"
    writers = [writer(path, name, 40) for name in "abc"]
    assert [one.wait(60) for one in writers] == [0, 0, 0]
    for one in writers:
        assert one.stdout is not None
        one.stdout.close()
    with kb.open_store(str(path)) as store:
        assert {one.uid for one in kb.recent(store, 1000)} == {f"{name}-{number}" for name in "abc" for number in range(40)}


def killed_in_the_middle(path: Path, name: str, after: float) -> int:
    """Kill a writer some time after its first write; give how many writes it had reported."""
    process = writer(path, name, 100_000)
    assert process.stdout is not None
    reported = process.stdout.readline()
    time.sleep(after)
    process.kill()
    rest = process.stdout.read().splitlines()
    assert process.wait(30) == -signal.SIGKILL
    process.stdout.close()
    return int((rest or [reported])[-1]) + 1


def check_kills(path: Path, times: int) -> None:
    for number in range(times):
        reported = killed_in_the_middle(path, f"w{number}", 0.0007 * (number % 29))
        with kb.open_store(str(path)) as store:
            assert store.rows("PRAGMA quick_check(1)")[0][0] == "ok"
            written = {row["uid"] for row in store.rows("SELECT uid FROM incidents WHERE uid LIKE ?", (f"w{number}-%",))}
            assert {f"w{number}-{index}" for index in range(reported)} <= written
            assert len(written) <= reported + 1  # the one in flight may have arrived, whole
            whole = store.rows("SELECT count(*) FROM incidents JOIN details USING (number) JOIN search ON search.rowid = number")[0][0]
            assert whole == store.rows("SELECT count(*) FROM incidents")[0][0]
            kb.remove_all(store)


@linux
def test_killed_in_the_middle_of_a_write(home: Path) -> None:
    home.mkdir()
    check_kills(home / "history.db", 6)


@linux
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_two_hundred_times(home: Path) -> None:
    home.mkdir()
    check_kills(home / "history.db", 200)


@linux
@pytest.mark.slow
def test_a_pipe_killed_while_it_remembers(home: Path) -> None:
    """Whenever it dies: what was remembered before stays, and the file is whole."""
    for number in range(20):
        process = subprocess.Popen(
            [*AIFIX, "--remember"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environ(home)
        )
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(CRASH.encode())
        process.stdin.close()
        process.stderr.read(10)  # the report begins
        time.sleep(0.002 * number)
        process.kill()
        process.wait(30)
        process.stderr.close()
        with kb.open_store(str(home / "history.db")) as store:
            assert store.rows("PRAGMA integrity_check(1)")[0][0] == "ok"
            assert all(kb.get(store, one.number) is not None for one in kb.recent(store, 1000))
