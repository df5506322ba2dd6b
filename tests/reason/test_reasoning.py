"""From hits to a report: refinement, cause and consequence, order, unknown failures."""

from __future__ import annotations

import pytest
from tests.rules_of import diagnose

OOM = r"""
id: cuda.oom
signatures: [{pattern: 'CUDA out of memory\. Tried to allocate {requested:bytes}'}]
collect:
  - {pattern: '{reserved:bytes} reserved in total', within: 0}
  - {pattern: '{allocated:bytes} already allocated', within: 0}
facts: {'unallocated:bytes': reserved - allocated}
refine: [{to: cuda.oom-fragmentation, when: unallocated >= requested}]
"""
FRAGMENTATION = r"""
id: cuda.oom-fragmentation
explain: The reserve of {unallocated} would have held the {requested}.
fixes:
  - {id: a, title: 'Use {unallocated}', prior: 0.2, effort: low, risk: none, do: [{kind: env, text: 'A=1'}]}
  - {id: b, title: Better, prior: 0.6, effort: low, risk: none, do: [{kind: env, text: 'B=1'}]}
  - {id: never, title: Never, when: 'requested > 100 * reserved', prior: 0.9, effort: low, risk: none, do: [{kind: env, text: 'C=1'}]}
  - {id: hole, title: 'Needs {batch}', prior: 0.9, effort: low, risk: none, do: [{kind: env, text: 'D=1'}]}
"""
TIMEOUT = r"""
id: dist.nccl-timeout
causes: ['cuda.*']
signatures: [{pattern: 'Watchdog caught collective operation timeout'}]
"""
CHILD = r"""
id: dist.child-failed
symptom: true
causes: ['*']
signatures: [{pattern: 'elastic\.multiprocessing\.errors\.ChildFailedError'}]
"""
MESSAGE = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 9.00 GiB total; 4.00 GiB already allocated; 6.00 GiB reserved in total)"
)


def test_the_numbers_select_the_more_specific_diagnosis_and_fill_its_texts() -> None:
    report = diagnose(MESSAGE, OOM, FRAGMENTATION)
    first = report.diagnoses[0]
    assert first.id == "cuda.oom-fragmentation"
    assert first.facts["unallocated"].text == "2.00 GiB"
    assert first.facts["unallocated"].value == 2 << 30
    assert first.explanation == "The reserve of 2.00 GiB would have held the 1.00 GiB."
    assert [fix.title for fix in first.fixes] == ["Better", "Use 2.00 GiB"]
    assert any("holds" in step.detail for step in first.derivation)


def test_the_general_diagnosis_stays_when_the_condition_fails_or_a_fact_is_missing() -> None:
    assert diagnose(MESSAGE.replace("6.00", "4.50"), OOM, FRAGMENTATION).diagnoses[0].id == "cuda.oom"
    assert diagnose("CUDA out of memory. Tried to allocate 1.00 GiB", OOM, FRAGMENTATION).diagnoses[0].id == "cuda.oom"


def test_seven_timeouts_and_the_launcher_hang_under_the_rank_that_ran_out_of_memory() -> None:
    log = "\n".join(
        [
            f"[rank3]: {MESSAGE}",
            *(
                f"[rank{rank}]:[E ProcessGroupNCCL.cpp:523] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL"
                for rank in (0, 1, 2, 4, 5, 6, 7)
            ),
            "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
        ]
    )
    report = diagnose(log, OOM, FRAGMENTATION, TIMEOUT, CHILD)
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["cuda.oom-fragmentation", "dist.nccl-timeout", "dist.child-failed"]
    root, timeout, child = report.diagnoses
    assert root.ranks == (3,)
    assert timeout.caused_by == root.id
    assert timeout.symptom
    assert timeout.ranks == (0, 1, 2, 4, 5, 6, 7)
    assert child.symptom


def test_a_cause_is_found_even_when_it_stands_after_its_consequences() -> None:
    log = f"Watchdog caught collective operation timeout\nmore\n{MESSAGE}"
    assert [diagnosis.id for diagnosis in diagnose(log, OOM, TIMEOUT).diagnoses] == ["cuda.oom", "dist.nccl-timeout"]


STRANGER = """
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/user/project/train.py", line 7, in main
[rank1]:     step(batch)
[rank1]: MyOwnError: the tokens ran out
"""


def test_a_symptom_gives_way_to_an_error_that_no_rule_knows() -> None:
    report = diagnose(STRANGER + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n", CHILD)
    assert report.failed
    assert report.diagnoses == ()
    assert report.unknown is not None
    assert report.unknown.kind == "MyOwnError"
    assert report.unknown.message == "the tokens ran out"
    assert report.unknown.location is not None
    assert report.unknown.location.line == 7


IN_A_WORKER = """
Traceback (most recent call last):
  File "/workspace/train.py", line 13, in <module>
    for batch in loader:
  File "/venv/lib/python3.11/site-packages/torch/_utils.py", line 794, in reraise
    raise exception
KeyError: Caught KeyError in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py", line 57, in fetch
    return self.collate_fn(data)
  File "/workspace/train.py", line 7, in collate
    return torch.tensor([s["labels"] for s in samples])
KeyError: 'labels'
"""
RAISED_AGAIN = """
Traceback (most recent call last):
  File "/workspace/plan.py", line 4, in load
    return MODELS[name]
KeyError: 'resnet5O'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/workspace/train.py", line 40, in <module>
    load("resnet5O")
  File "/workspace/plan.py", line 6, in load
    raise PlanError(name)
plan.PlanError: no model resnet5O
"""


def test_an_unknown_error_in_a_worker_process_is_told_by_the_workers_own_traceback() -> None:
    unknown = diagnose(IN_A_WORKER, OOM).unknown
    assert unknown is not None
    assert (unknown.kind, unknown.message) == ("KeyError", "'labels'")
    assert unknown.location is not None
    assert (unknown.location.line, unknown.location.function) == (7, "collate")
    assert [item.text for item in unknown.evidence] == ["KeyError: 'labels'"]


def test_of_unknown_errors_that_hang_together_the_one_that_ended_the_run_is_told() -> None:
    unknown = diagnose(RAISED_AGAIN, OOM).unknown
    assert unknown is not None
    assert (unknown.kind, unknown.message) == ("plan.PlanError", "no model resnet5O")
    assert [item.text for item in unknown.evidence] == ["KeyError: 'resnet5O'", "plan.PlanError: no model resnet5O"]


def test_waiting_ranks_give_way_to_an_unknown_error_that_came_first_but_not_to_a_later_one() -> None:
    timeout = "[rank0]: Watchdog caught collective operation timeout\n"
    assert diagnose(STRANGER + timeout, TIMEOUT).diagnoses == ()
    assert [diagnosis.id for diagnosis in diagnose(timeout + STRANGER, TIMEOUT).diagnoses] == ["dist.nccl-timeout"]


def test_a_symptom_alone_is_an_answer_with_less_confidence() -> None:
    report = diagnose("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ", CHILD)
    assert report.diagnoses[0].id == "dist.child-failed"
    assert report.diagnoses[0].confidence < 0.8


VAGUE = "id: deps.import-name\nyields_to: [deps.triton]\nsignatures: [{pattern: 'cannot import name {name:quoted}'}]"
EXACT = "id: deps.triton\nsignatures: [{pattern: 'cannot import name .* from .triton'}]"


def test_the_vaguer_name_of_the_same_event_is_dropped() -> None:
    report = diagnose("ImportError: cannot import name 'Config' from 'triton'", VAGUE, EXACT)
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["deps.triton"]


WARNING = "id: tf.no-gpu\nsignatures: [{pattern: 'Cannot dlopen some GPU libraries', level: warning}]"


def test_a_survived_warning_is_a_hint_and_not_a_failure() -> None:
    report = diagnose("W gpu_device.cc Cannot dlopen some GPU libraries\nepoch 1 done\nsaved\n", WARNING)
    assert not report.failed
    assert report.diagnoses == ()
    assert [hint.id for hint in report.hints] == ["tf.no-gpu"]


ASSERT = "id: cuda.device-assert\nsignatures: [{pattern: 'Assertion `{assertion:text}` failed'}]"
RELAYED = [
    "Loss.cu:250: block: [0,0,0], thread: [9,0,0] Assertion `t < n_classes` failed.",
    "Traceback (most recent call last):",
    '  File "train.py", line 7, in <module>',
    "    loss.item()",
    "ValueError: late",
]


@pytest.mark.parametrize(
    ("head", "lines", "failed"),
    [
        pytest.param("[2026-03-01, 09:00:12 UTC] {subprocess.py:93} INFO - ", RELAYED[:1], True, id="an operator passes on what the task prints"),
        pytest.param("[2026-03-01T09:00:12.101+0000] {pod_manager.py:472} INFO - ", RELAYED[:1], True, id="likewise, of a newer version"),
        pytest.param("2026-03-01 09:00:12,101 INFO ", RELAYED, True, id="a logger that passes a traceback on passes on the assert too"),
        pytest.param("2026-03-01 09:00:12,101 INFO ", RELAYED[:1], False, id="a program's own information"),
    ],
)
def test_what_is_logged_as_information_fails_only_where_the_logger_passes_on_anothers_output(head: str, lines: list[str], *, failed: bool) -> None:
    report = diagnose("".join(f"{head}{line}\n" for line in [*lines, "the end"]), ASSERT)
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["cuda.device-assert"] * failed


def test_a_message_within_quoted_source_is_not_an_utterance() -> None:
    log = """
    Traceback (most recent call last):
      File "/home/user/project/train.py", line 7, in main
        raise RuntimeError("CUDA out of memory. Tried to allocate 1.00 GiB")
    RuntimeError: something else
    """
    assert diagnose(log, OOM).diagnoses == ()


def test_catalogues_speak_in_rules() -> None:
    rule = 'id: gpu.xid\nsignatures: [{pattern: \'NVRM: Xid .*: {xid:int},\'}]\nexplain: \'It means: {catalogue("xid", xid, "meaning")}. Unknown {catalogue("xid", 1)}.\''
    assert diagnose("NVRM: Xid (PCI:0000:01:00): 79, GPU lost", rule).diagnoses[0].explanation == "It means: GPU has fallen off the bus."


RETRIED = """
step 40 | loss 2.31
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB
Retrying with batch size 8
step 41 | loss 2.30
step 42 | loss 2.28
step 43 | loss 2.21
epoch 1 done, loss 2.20
saved out/last.pt
"""


def test_a_failure_that_was_tried_again_in_a_run_that_ends_well_is_a_hint() -> None:
    report = diagnose(RETRIED, OOM)
    assert not report.failed
    assert [hint.id for hint in report.hints] == ["cuda.oom"]


@pytest.mark.parametrize("last", ["6 passed in 12.41s", "tests/a.py::test_errors_are_logged PASSED", "saved out/last.pt"])
def test_what_a_test_run_logs_as_a_warning_and_passes_is_a_hint(last: str) -> None:
    log = f"""
tests/a.py::test_one PASSED [ 33%]
WARNING  store:store.py:41 CUDA out of memory. Tried to allocate 1.00 GiB; trying another size
tests/a.py::test_errors PASSED [ 66%]
{last}
"""
    assert not diagnose(log, OOM).failed


def test_the_same_failure_counts_when_the_run_does_not_end_well() -> None:
    assert diagnose(RETRIED + "Aborted (core dumped)\n", OOM).diagnoses[0].id == "cuda.oom"
    assert diagnose("\n".join(RETRIED.splitlines()[:5]), OOM).diagnoses[0].id == "cuda.oom"


CAUGHT = """
[2023-11-29 22:29:33,093] torch._dynamo.convert_frame: [WARNING] Traceback (most recent call last):
[2023-11-29 22:29:33,093] torch._dynamo.convert_frame: [WARNING]   File "/venv/lib/python3.10/site-packages/torch/_inductor/codecache.py", line 43, in f
[2023-11-29 22:29:33,093] torch._dynamo.convert_frame: [WARNING]     raise Missing()
[2023-11-29 22:29:33,093] torch._dynamo.convert_frame: [WARNING] Missing: CUDA out of memory. Tried to allocate 1.00 GiB
step 41 | loss 2.30
step 42 | loss 2.28
"""


def test_a_traceback_that_was_logged_as_a_warning_in_a_run_that_goes_on_is_a_hint() -> None:
    report = diagnose(CAUGHT, OOM)
    assert not report.failed
    assert [hint.id for hint in report.hints] == ["cuda.oom"]


def test_what_was_logged_as_a_warning_counts_where_the_run_ended_with_it() -> None:
    assert diagnose(CAUGHT + "Aborted (core dumped)\n", OOM).diagnoses[0].id == "cuda.oom"
    assert diagnose(CAUGHT + "INFO: Shutting down\n", OOM).diagnoses[0].id == "cuda.oom"
    assert diagnose("\n".join(CAUGHT.splitlines()[:5]), OOM).diagnoses[0].id == "cuda.oom"


OOMD = r"id: host.oom-killed" + "\nsignatures: [{pattern: 'systemd-oomd\\[\\d+\\]: Killed {unit:word} due to {reason:rest}'}]"


def test_a_message_that_is_told_by_who_says_it_is_found_below_the_journals_prefix() -> None:
    log = "Apr 02 21:33:50 node-1 systemd-oomd[1021]: Killed /user.slice/x.scope due to memory pressure\n"
    first = diagnose(log, OOMD).diagnoses[0]
    assert first.facts["unit"].text == "/user.slice/x.scope"
    assert first.evidence[0].text.startswith("Killed")


def test_of_two_that_name_each_other_as_cause_the_earlier_is_the_root() -> None:
    one = "id: a.one\ncauses: [b.two]\nsignatures: [{pattern: 'the reactor stopped'}]"
    two = "id: b.two\ncauses: [a.one]\nsignatures: [{pattern: 'the turbine stopped'}]"
    assert [item.id for item in diagnose("the turbine stopped\nthe reactor stopped", one, two).diagnoses] == ["b.two", "a.one"]
    assert [item.id for item in diagnose("the reactor stopped\nthe turbine stopped", one, two).diagnoses] == ["a.one", "b.two"]
