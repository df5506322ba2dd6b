"""Facts that no rule names: the numbers of the lines that were hit, and what stands around any failure."""

from __future__ import annotations

import pytest
from tests.rules_of import diagnose

RULE = "id: a.b\nsignatures: [{pattern: 'the reactor refuses'}]"


def facts(log: str) -> dict[str, str]:
    return {name: fact.text for name, fact in diagnose(log, RULE).diagnoses[0].facts.items()}


@pytest.mark.parametrize(
    ("line", "figures"),
    [
        ("RuntimeError: the reactor refuses at non-singleton dimension 3", ["non-singleton dimension 3"]),
        ("the reactor refuses with error 4, opcode 5327 (pos 2)", ["with error 4", "opcode 5327", "pos 2"]),
        ("the reactor refuses: expecting compute 8.0 got compute 8.9", ["expecting compute 8.0", "got compute 8.9"]),
        ("the reactor refuses (8, 0, 3), [256,112,112,64]", ["(8, 0, 3)", "[256,112,112,64]"]),
        (
            "the reactor refuses '--local_rank=7' as torch.cuda.device_count() is 1 and cuda>=11.0",
            ["torch.cuda.device_count() is 1", "cuda>=11.0"],
        ),
        ("the reactor refuses the node Relu(1)", ["node Relu(1)"]),
    ],
)
def test_every_number_of_a_hit_line_is_listed_with_its_words(line: str, figures: list[str]) -> None:
    text = facts(line)["figures"]
    assert [figure for figure in figures if figure not in text] == []


def test_a_number_that_a_fact_says_is_not_said_again() -> None:
    rule = "id: a.b\nsignatures: [{pattern: 'the reactor refuses {what:word} in core {core:int}'}]"
    found = diagnose("the reactor refuses some_name in core 12 after 7 s", rule).diagnoses[0].facts
    assert found["figures"].value == ["after 7"]


def test_a_line_that_one_pattern_reads_is_not_read_again_as_another_one_mistyped() -> None:
    rule = r"""
id: a.b
signatures: [{pattern: 'Parameters which did not receive grad for rank {at:int}: {names:rest}'}]
collect: [{pattern: 'Parameter indices which did not receive grad for rank \d+: {indices:rest}'}]
"""
    found = diagnose("Parameters which did not receive grad for rank 0: decoder.weight, decoder.bias", rule).diagnoses[0].facts
    assert found["names"].text == "decoder.weight, decoder.bias"
    assert "indices" not in found


def test_what_stands_around_a_failure_is_read() -> None:
    log = """
    PyTorch version: 2.6.0+cu124, CUDA 12.4, driver 550.54.15
    Device 0: NVIDIA A100-SXM4-80GB, compute capability 8.0
    Epoch: [3][120/508] loss 0.4
    RuntimeError: the reactor refuses
    ERROR:api:failed (exitcode: 1) local_rank: 5 (pid: 26536) of binary: /usr/bin/python3
      host      : node-7
    """
    found = facts(log)
    assert set(found["versions"].split(", ")) == {"PyTorch 2.6.0+cu124", "CUDA 12.4", "driver 550.54.15"}
    assert found["gpu_name"] == "NVIDIA A100-SXM4-80GB"
    assert found["progress"] == "Epoch: [3][120/508]"
    assert found["local_rank"] == "5"
    assert found["pids"] == "26536"
    assert found["machine"] == "node-7"


def test_a_worker_s_pid_stands_in_the_prefix_of_its_lines() -> None:
    log = "(Worker pid=13359) ERROR the reactor refuses\n(Worker pid=13360) ERROR the reactor refuses\n"
    assert facts(log)["pids"] == "13359, 13360"


def test_a_process_nearby_is_not_taken_for_the_one_that_a_message_names() -> None:
    assert "pid" not in facts("the reactor refuses\nKilling subprocess 27637\n")
