"""What leaves the machine: merged elsewhere, merged twice, and free of secrets and names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.kb.parts import NOW, aifix, incident
from tests.test_redact import PLANTED, leaks

from aifix import api, kb, redact
from aifix.kb import record
from aifix.kb.exchange import ExchangeError

TEXTS = [
    b"{}\n",
    b'{"schema":"aifix.history/2"}\n',
    b"\xff\xfe\n",
    b"[]\n",
    b'{"schema":"aifix.history/1"}\n{"incident":{"uid":"a"}}\n',
    b"[" * 100_000,
]


def contents(store: kb.Store) -> tuple[list[tuple[object, ...]], ...]:
    tables = ("incidents", "details", "environments", "outcomes")
    return tuple([tuple(row) for row in store.rows(f"SELECT * FROM {table} ORDER BY 1")] for table in tables)  # noqa: S608


def filled(path: Path, count: int = 5) -> kb.Store:
    store = kb.open_store(str(path))
    for number in range(count):
        made = incident(at=NOW + number)
        kb.add(store, made)
        kb.record_outcome(store, made, "smaller-batch", worked=number % 2 == 0, note="as joe said", at=NOW + 100)
    return store


def test_merging_twice_changes_nothing(tmp_path: Path) -> None:
    with filled(tmp_path / "ours.db") as ours, filled(tmp_path / "theirs.db") as theirs:
        lines = list(kb.export(theirs))
        merged = kb.merge(ours, lines)
        assert (merged.incidents, merged.outcomes) == (5, 5)
        once = contents(ours)
        again = kb.merge(ours, lines)
        assert (again.incidents, again.outcomes) == (0, 0)
        assert contents(ours) == once
        assert len(kb.find(ours, "memory", 100)) == 10


def test_the_order_of_merging_does_not_matter(tmp_path: Path) -> None:
    with filled(tmp_path / "a.db") as first, filled(tmp_path / "b.db") as second:
        exports = [list(kb.export(first, whole=False)), list(kb.export(second, whole=False))]
        one = kb.recent(first, 1)[0]
        kb.record_outcome(first, one, "smaller-batch", worked=False, at=NOW + 200)  # a later word on the same
        exports.append(list(kb.export(first, whole=False)))
    results = []
    for number, order in enumerate(([0, 1, 2], [2, 1, 0], [1, 2, 0, 2])):
        with kb.open_store(str(tmp_path / f"m{number}.db")) as store:
            for index in order:
                kb.merge(store, exports[index])
            results.append(kb.outcomes(store))
    assert results[0] == results[1] == results[2]
    assert len(results[0]) == 10


def test_outcomes_alone_hold_no_text(tmp_path: Path) -> None:
    with filled(tmp_path / "ours.db") as store:
        head, *lines = map(json.loads, kb.export(store, whole=False))
    assert head == {"schema": "aifix.history/1", "kind": "outcomes"}
    for line in lines:
        told = line["outcome"]
        assert {name: told[name] for name in ("diagnosis", "fix", "note")} == {"diagnosis": "cuda.oom", "fix": "smaller-batch", "note": ""}
        keys = {"uid", "incident", "project"}
        assert all(len(told[name]) == 16 and int(told[name], 16) >= 0 for name in keys)
        assert set(told) == keys | {"diagnosis", "fix", "note", "worked", "at"}


def test_pooled_outcomes_teach(tmp_path: Path) -> None:
    with filled(tmp_path / "theirs.db", 9) as theirs, kb.open_store(str(tmp_path / "ours.db")) as ours:
        kb.merge(ours, kb.export(theirs, whole=False))
        assert kb.recent(ours) == []
        memory = kb.Memory(ours.path, say=print)
        chances = memory.chances(api.rule_base()["cuda.oom"])
        memory.close()
        assert "worked 5 of 9 times" in chances["smaller-batch"].told


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_export_merges_nothing(home: Path, text: bytes) -> None:
    home.mkdir()
    (home / "x.jsonl").write_bytes(text)
    done = aifix(home, "history", "import", str(home / "x.jsonl"))
    assert done.status == 2
    assert "nothing was merged" in done.err
    assert "Traceback" not in done.err


def test_a_damaged_line_merges_nothing_of_the_file(tmp_path: Path) -> None:
    with filled(tmp_path / "theirs.db") as theirs, kb.open_store(str(tmp_path / "ours.db")) as ours:
        lines = list(kb.export(theirs))
        with pytest.raises(ExchangeError, match=r"x\.jsonl:4: "):
            kb.merge(ours, [*lines[:3], lines[3][:40], *lines[4:]], name="x.jsonl")
        assert kb.recent(ours) == []


def test_names_and_homes_stay_here(tmp_path: Path) -> None:
    person = redact.Person(("/home/joe",), ("joe",), ("gpu-7",))
    with kb.open_store(str(tmp_path / "a.db")) as store:
        made = incident(
            'Traceback (most recent call last):\n  File "/home/joe/x/train.py", line 3, in f\nKeyError: "gpu-7 of joe"\n', folder="/home/joe/x"
        )
        kb.add(store, kb.Incident(**{name: getattr(made, name) for name in made.__struct_fields__} | {"host": "gpu-7", "command": "ssh joe@gpu-7 x"}))
        text = b"".join(kb.export(store, person=person)).decode()
    assert "joe" not in text
    assert "gpu-7" not in text
    assert "train.py" in text


# ---------------------------------------------------------------- secrets


def log_with(text: str) -> str:
    shown = text.replace("\n", "\\n") if "PRIVATE KEY" not in text else text
    return f'{shown}\nTraceback (most recent call last):\n  File "/srv/p/train.py", line 3, in f\nValueError: bad setting {shown}\n'


def test_two_hundred_planted_secrets_and_none_in_the_store_or_an_export(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with kb.open_store(str(path)) as store:
        for number, (_, secret, text) in enumerate(PLANTED):
            environ = {"SOME_API_KEY": secret, "HF_TOKEN": secret, "NCCL_DEBUG": "INFO"}
            run = record.Run(how="run", arguments=("train", "--api-key", secret, f"--token={secret}", text), folder="/srv/p", environ=environ)
            report = api.diagnose_text(log_with(text))
            assert report.failed
            made = record.incident(report, run, at=NOW + number)
            kb.add(store, made)
            kb.record_outcome(store, made, kb.OWN, worked=True, note=text)
        exported = b"".join(kb.export(store)).decode()
        store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        dumped = "\n".join(store.connection.iterdump())
    raw = path.read_bytes().decode("utf-8", "replace")
    for where, shown in (("the export", exported), ("the tables", dumped), ("the file", raw)):
        assert [kind for kind, secret, _ in PLANTED if leaks(secret, shown)] == [], where


def test_a_secret_that_only_the_environment_tells_is_taken_out_of_the_log() -> None:
    report = api.diagnose_text("Traceback (most recent call last):\n  File \"/a/b.py\", line 1, in f\nKeyError: 'correct horse battery'\n")
    run = record.Run(how="run", arguments=("x",), environ={"DB_PASSWORD": "correct horse battery"})
    made = record.incident(report, run)
    assert "battery" not in json.dumps([made.title, *[item.text for item in made.evidence], *[fact.text for fact in made.facts.values()]])
    assert "<secret>" in made.evidence[-1].text


@pytest.mark.parametrize("everything", [False, True])
def test_what_is_removed_is_gone_from_the_file(tmp_path: Path, everything: bool) -> None:
    path = tmp_path / "history.db"
    with kb.open_store(str(path)) as store:
        kb.add(store, incident())
        number = kb.add(store, incident("Traceback (most recent call last):\nKeyError: 'zebrafinch'\n"))
        assert b"zebrafinch" in path.read_bytes() + Path(f"{path}-wal").read_bytes()
        if everything:
            assert kb.remove_all(store) == 2
        else:
            assert kb.remove(store, [number]) == 1
    assert b"zebrafinch" not in path.read_bytes()
    assert not Path(f"{path}-wal").exists()
