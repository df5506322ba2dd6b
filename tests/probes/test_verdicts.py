"""What verdicts do to a report, and how the pipe and the commands come by them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.probes.parts import here
from tests.rules_of import base_of

from aifix import api
from aifix.commands.main import cli
from aifix.model import ProbeResult
from aifix.probes import registry, run
from aifix.probes.finding import Case, Finding, confirmed, refuted
from aifix.probes.probing import PASSIVE_LIMIT, Probing
from aifix.reason import verdicts

if TYPE_CHECKING:
    from pathlib import Path

PORT = """
id: dist.addr-in-use
signatures: [{pattern: 'address already in use on port {port:int}', strength: 0.8}]
probes: [{id: host.port, confirmed: 6, refuted: 0.2}]
fixes:
  - {id: other, title: Take another port, prior: 0.5, effort: low, risk: none, do: [{kind: note, text: another}]}
  - {id: end, title: 'End process {probed("host.port", "pid")}', prior: 0.9, effort: low, risk: none, when: 'probe("host.port") == "confirmed"', do: [{kind: command, text: 'kill {probed("host.port", "pid")}'}]}
"""
FILE = """
id: host.file-not-found
signatures: [{pattern: 'No such file or directory: {path:word}', strength: 0.8}]
probes: [{id: host.files, confirmed: 3, refuted: 0.2}]
"""


def ask(log: str, *rules: str, probing: Probing | None = None) -> api.Report:
    return api.diagnose_text(log, genre="log", base=base_of(*rules), probe=probing)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_confirmed_suspicion_raises_confidence_and_brings_its_fix() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        log = f"Error: address already in use on port {number}\n"
        without, found = ask(log, PORT).diagnoses[0], ask(log, PORT, probing=Probing(limit=5)).diagnoses[0]
        assert without.probes == ()
        assert without.confidence == pytest.approx(0.8)
        assert found.confidence == pytest.approx(0.96)  # odds 4 x 6
        assert found.probes[0].status == "confirmed"
        assert found.probes[0].ratio == 6
        assert any(step.what == "probe" and "odds x 6, 0.80 -> 0.96" in step.detail for step in found.derivation)
        assert [fix.id for fix in without.fixes] == ["other"]
        assert found.fixes[0].title == f"End process {os.getpid()}"
        assert found.fixes[0].do[0].text == f"kill {os.getpid()}"


def test_a_refuted_root_steps_behind_a_later_one(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1\n")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        log = f"Error: No such file or directory: {tmp_path}/there.csv\nError: address already in use on port {listener.getsockname()[1]}\n"
        assert [one.id for one in ask(log, PORT, FILE).diagnoses] == ["host.file-not-found", "dist.addr-in-use"]
        found = ask(log, PORT, FILE, probing=Probing(limit=5)).diagnoses
    assert [one.id for one in found] == ["dist.addr-in-use", "host.file-not-found"]
    assert found[1].confidence < 0.5


GIVEN = """
id: dist.addr-in-use
signatures: [{pattern: 'address already in use on port {port:int}', strength: 0.8}]
probes: [{id: host.port, confirmed: 6, refuted: 0.2}]
fixes:
  - {id: other, title: Take another port, prior: 0.6, effort: low, risk: none, do: [{kind: note, text: another}]}
  - id: end
    title: End what holds it
    prior: 0.5
    effort: low
    risk: none
    do: [{kind: note, text: kill}]
    given:
      - {when: 'probe("host.port") == "confirmed"', odds: 4}
      - {when: 'probe("host.port") == "refuted"', odds: 0.25}
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_verdicts_move_the_chances_of_fixes_and_their_order_and_why_says_so() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        log = f"Error: address already in use on port {listener.getsockname()[1]}\n"
        taken = ask(log, GIVEN, probing=Probing(limit=5)).diagnoses[0]
        assert [(fix.id, fix.score) for fix in ask(log, GIVEN).diagnoses[0].fixes] == [("other", 0.6), ("end", 0.5)]
    assert [(fix.id, fix.score) for fix in taken.fixes] == [("end", 0.8), ("other", 0.6)]  # odds 1 x 4
    told = [step.detail for step in taken.derivation if step.what == "fixes"]
    assert told[0] == 'end: probe("host.port") == "confirmed" holds: odds x 4'
    assert "end: place 2 -> 1, by the verdicts" in told
    free = ask(log, GIVEN, probing=Probing(limit=5)).diagnoses[0]
    assert [(fix.id, fix.score) for fix in free.fixes] == [("other", 0.6), ("end", 0.2)]


def test_what_another_machine_says_chooses_no_fix(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        frame = f'Traceback (most recent call last):\n  File "{tmp_path}/gone/train.py", line 3, in <module>\n'
        log = f"{frame}OSError: address already in use on port {listener.getsockname()[1]}\n"
        found = ask(log, GIVEN, PORT, probing=Probing(limit=5)).diagnoses[0]
    assert found.probes[0].status == "confirmed"
    assert found.probes[0].ratio == 1
    assert [fix.id for fix in found.fixes] == [fix.id for fix in ask(log, GIVEN, PORT).diagnoses[0].fixes]


def test_a_root_that_steps_behind_says_so_in_why(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1\n")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        log = f"Error: No such file or directory: {tmp_path}/there.csv\nError: address already in use on port {listener.getsockname()[1]}\n"
        found = ask(log, PORT, FILE, probing=Probing(limit=5)).diagnoses
    order = {one.id: [step.detail for step in one.derivation if step.what == "order"] for one in found}
    assert order["host.file-not-found"] == ["place 1 -> 2: the verdicts multiply its odds by 0.2, and from 0.5 down it steps behind"]
    assert order["dist.addr-in-use"] == ["place 2 -> 1: this machine speaks against host.file-not-found"]


def test_the_ratios_of_all_rules_are_sane() -> None:
    """A confirmation never speaks against a diagnosis nor a refutation for it; passive looks are never taken for proof; one thing is weighed once."""
    base = api.rule_base()
    for rule in base.values():
        named = [use.id for use in rule.probes]
        assert len(named) == len(set(named)), rule.id
        for use in rule.probes:
            assert 1 <= use.confirmed <= 20, (rule.id, use.id)
            assert 0.1 <= use.refuted <= 1, (rule.id, use.id)
            assert use.confirmed > 1 or use.refuted < 1, (rule.id, use.id, "it moves nothing")
        for fix in rule.fixes:
            asked = {item.when for item in fix.given}
            assert len(asked) == len(fix.given), (rule.id, fix.id)


@pytest.mark.parametrize("start", [0.3, 0.6, 0.9])
def test_each_verdict_moves_the_confidence_of_every_rule_the_right_way(start: float) -> None:
    for rule in api.rule_base().values():
        for use in rule.probes:
            moved = {}
            for status, ratio in (("refuted", use.refuted), ("inconclusive", 1.0), ("confirmed", use.confirmed)):
                one = SimpleNamespace(probes=[ProbeResult(use.id, status, "", {}, ratio)])
                moved[status], steps = verdicts.moved(start, one)
                assert bool(steps) == (ratio != 1 or status != "not-run")
            assert moved["refuted"] <= moved["inconclusive"] == start <= moved["confirmed"] < 1, (rule.id, use.id, moved)


def test_a_log_from_another_machine_is_not_judged_by_this_one(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1\n")
    log = f'Traceback (most recent call last):\n  File "/nowhere/train.py", line 3, in <module>\nError: No such file or directory: {tmp_path}/there.csv\n'
    found = ask(log, FILE, probing=Probing(limit=5)).diagnoses[0]
    assert found.probes[0].status == "refuted"
    assert found.probes[0].ratio == 1
    assert "another machine" in found.probes[0].summary
    assert found.confidence == ask(log, FILE).diagnoses[0].confidence


def test_active_and_unknown_probes_are_not_run() -> None:
    rule = "id: data.label-range\nsignatures: [{pattern: 'Target {t:int} is out of bounds'}]\nprobes: [data.labels, no.such]"
    found = ask("IndexError: Target 9 is out of bounds.\n", rule, probing=Probing()).diagnoses[0]
    assert [one.status for one in found.probes] == ["not-run"]
    assert "--dataset" in found.probes[0].summary


def test_a_probe_that_raises_or_hangs_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_case: Case) -> Finding:
        raise RuntimeError("boom")

    def hanging(_case: Case) -> Finding:
        time.sleep(30)
        return confirmed("late")

    chosen = {"a.b": broken, "c.d": hanging, "e.f": lambda _case: refuted("fine")}
    monkeypatch.setattr(registry.Probe, "load", lambda self: chosen[self.id])
    asked = [(registry.Probe(name, "", ""), Case(here())) for name in chosen]
    started = time.monotonic()
    answers = run.passive(asked, 0.3)
    assert time.monotonic() - started < 2
    assert [answer.status for answer in answers] == ["not-available", "not-run", "refuted"]
    assert "boom" in answers[0].summary


def test_all_passive_probes_answer_within_their_time(tmp_path: Path) -> None:
    machine = here(cwd=str(tmp_path), environ=dict(os.environ))
    passive = [one for one in registry.PROBES if not one.active]
    for one in passive:
        one.load()
    started = time.process_time()
    answers = run.passive([(one, Case(machine)) for one in passive], limit=10)
    assert time.process_time() - started < PASSIVE_LIMIT
    assert [one.id for one, answer in zip(passive, answers, strict=True) if answer.status == "not-run"] == []
    assert [one.id for one, answer in zip(passive, answers, strict=True) if "probe itself failed" in answer.summary] == []


def test_every_probe_that_a_rule_names_exists() -> None:
    base = api.rule_base()
    assert {use.id for rule in base.values() for use in rule.probes} - registry.ids() == set()


def test_every_probe_is_listed_and_can_be_loaded() -> None:
    listed = CliRunner().invoke(cli, ["probe", "--list", "--format", "json"])
    assert {one["id"] for one in json.loads(listed.stdout)} == registry.ids()
    assert len(registry.BY_ID) == len(registry.PROBES)
    for one in registry.PROBES:
        assert callable(one.load())
        assert one.question.endswith("?")


def test_families_and_ids_select() -> None:
    assert {one.id for one in registry.select(["gpu"])} == {"gpu.memory", "gpu.processes", "gpu.health"}
    assert "cuda.kernels" not in {one.id for one in registry.select(["cuda"])}
    assert "cuda.kernels" in {one.id for one in registry.select(["cuda"], active=True)}
    assert [one.id for one in registry.select(["memory.model"])] == ["memory.model"]
    assert "memory.model" in {one.id for one in registry.select(["memory"], given=["--model"])}
    assert not any(one.active for one in registry.select([]))
    with pytest.raises(registry.UnknownProbeError):
        registry.select(["nonsense"])


def test_the_command_answers_in_json_and_by_its_status(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    done = CliRunner().invoke(cli, ["probe", "data.files", "--path", str(tmp_path / "x.json"), "--format", "json"])
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert answer["failed"]
    assert answer["probes"][0]["status"] == "confirmed"
    (tmp_path / "x.json").write_text("{}")
    assert CliRunner().invoke(cli, ["probe", "data.files", "--path", str(tmp_path / "x.json")]).exit_code == 0
    unknown = CliRunner().invoke(cli, ["probe", "gpu.memroy"])
    assert unknown.exit_code == 2
    assert "gpu.memory" in unknown.output


def test_no_escape_of_a_strangers_file_name_reaches_the_terminal(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["probe", "host.files", "--path", f"{tmp_path}/\x1b[31mred", "--color"])
    assert "\x1b[31mred" not in done.output


def test_diagnose_looks_at_this_machine_only_when_asked(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nModuleNotFoundError: No module named 'surely_absent'\n")
    plain = json.loads(CliRunner().invoke(cli, ["diagnose", "--format", "json", str(log)]).stdout)
    assert plain["diagnoses"][0]["probes"] == []
    probed = json.loads(CliRunner().invoke(cli, ["diagnose", "--probe", "--python", sys.executable, "--format", "json", str(log)]).stdout)
    assert probed["diagnoses"][0]["probes"][0]["id"] == "deps.python"
    off = CliRunner().invoke(cli, ["diagnose", "--probe", "--format", "json", str(log)], env={"AIFIX_NO_PROBE": "1"})
    assert json.loads(off.stdout)["diagnoses"][0]["probes"] == []
    why = CliRunner().invoke(cli, ["why", "--probe", "--python", sys.executable, str(log)])
    assert "probe: deps.python confirmed" in why.output


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_the_pipe_looks_into_the_environment_of_its_writer(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import time\nprint('start', flush=True)\ntime.sleep(2)\nimport yaml\n")
    command = f"{bare}/bin/python train.py 2>&1 | {sys.executable} -m aifix --format json"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": ""}, timeout=60, check=False
    )
    found = json.loads(done.stdout)["diagnoses"][0]
    assert found["id"] == "deps.module-missing"
    assert found["probes"][0]["status"] == "confirmed"
    assert str(bare) in found["probes"][0]["summary"]
    silent = subprocess.run(
        ["bash", "-c", command + " --no-probe"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        timeout=60,
        check=False,
    )
    assert json.loads(silent.stdout)["diagnoses"][0]["probes"] == []
