"""The fuzzy stage: mistyped, cut and reworded messages; never progress lines; never another number."""

from __future__ import annotations

import pytest
from tests.rules_of import base_of, diagnose

SHAPES = r"id: tensor.matmul-shape" + "\nsignatures: [{pattern: 'mat1 and mat2 shapes cannot be multiplied \\({a:shape} and {b:shape}\\)'}]"
KILLED = r"id: host.oom-killed" + "\nsignatures: [{pattern: 'failed \\(exitcode: -9\\) local_rank: {rank:int}'}]"


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("RuntimeErrcr: mat1 and nat2 shapes cannot be multqplied (32x512 and 256x10)", {"a": "32x512", "b": "256x10"}),
        ("RuntimeError: mat1 and mat2 shapes can not be multiplied (32x512 and 256x10)", {"a": "32x512", "b": "256x10"}),
        ("mat1 and mat2 shapes cannot be multipl", {}),
    ],
    ids=["mistyped", "reworded", "cut"],
)
def test_a_message_is_recognised_by_likeness_and_still_yields_its_numbers(line: str, facts: dict[str, str]) -> None:
    first = diagnose(line, SHAPES).diagnoses[0]
    assert first.id == "tensor.matmul-shape"
    assert first.match.kind == "fuzzy"
    assert 0.8 < first.match.score < 1
    assert first.confidence < 0.85
    assert {name: fact.text for name, fact in first.facts.items() if name in {"a", "b"}} == facts


HIDDEN = r"id: tensor.norm-shape" + "\nsignatures: [{pattern: 'Expected hidden\\[{at:int}\\] size {a:shape}, got {b:shape}'}]"
MISMATCH = r"""
id: autograd.non-scalar
signatures: [{pattern: 'Mismatch in shape: grad_output\[{at:int}\] has a shape of {a:shape} and output\[\d+\] has a shape of {b:shape}'}]
"""
DECODE = r"""
id: data.decode
signatures: [{pattern: '''{a:name}'' codec can''t decode bytes? {b:word} in position {at:int}'}]
"""


@pytest.mark.parametrize(
    ("line", "a", "b"),
    [
        ("RuntimeError: Expegted hidden[0] syze (1, 4, 8), got [1, 3, 8]", "(1, 4, 8)", "[1, 3, 8]"),
        (
            "RuntimeError: Mismgtch in shape: yrad_output[0] has a shape ov torch.Size([2]) and output[0] has a shape of torch.Size([3])",
            "torch.Size([2])",
            "torch.Size([3])",
        ),
        ("'utf-8' codec can't decade byte 0x8b in position 1: invalid start byte", "utf-8", "0x8b"),
    ],
    ids=["short-word", "part-that-stands-twice", "letter-left-out"],
)
def test_a_message_of_short_parts_and_many_numbers_is_recognised_too(line: str, a: str, b: str) -> None:
    first = diagnose(line, HIDDEN, MISMATCH, DECODE).diagnoses[0]
    assert first.match.kind == "fuzzy"
    assert (first.facts["a"].text, first.facts["b"].text) == (a, b)


@pytest.mark.parametrize(("word", "read"), [("tabe", True), ("type", False)])
def test_a_word_that_other_wordings_know_is_no_typo(word: str, *, read: bool) -> None:
    known = "id: a.b\nsignatures: [{pattern: 'the type of the operand is unknown'}]"
    wanted = "id: a.c\nsignatures: [{pattern: 'Expected hidden state of the layer {a:int} tape {b:int}'}]"
    first = diagnose(f"Expected hiddem state of the layer 3 {word} 4", known, wanted).diagnoses[0]
    assert first.id == "a.c"
    assert ("b" in first.facts) is read


@pytest.mark.parametrize(
    "line",
    [
        "epoch 3 step 120 loss 0.31 shapes ok, matmul time 12 ms",
        "ValueError: the table of shapes cannot be read",
        "torch.distributed.elastic: failed (exitcode: 1) local_rank: 4 (pid: 20534)",
        "error: multiplied shapes",
    ],
)
def test_what_is_only_near_is_left_unclaimed(line: str) -> None:
    assert diagnose(line, SHAPES, KILLED).diagnoses == ()


@pytest.mark.parametrize(
    "message", ["mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "mat1 and nat2 shapes cannot be multqplied (2x3 and 4x5)"]
)
def test_a_line_of_source_that_a_search_found_is_no_failure(message: str) -> None:
    assert diagnose(f'src/layers.py:88:        raise RuntimeError("{message}")', SHAPES).diagnoses == ()
    assert diagnose(f"src/layers.py:88: RuntimeError: {message}", SHAPES).diagnoses[0].id == "tensor.matmul-shape"


META = r"""
id: hf.meta-tensor
signatures: [{pattern: 'NotImplementedError.{0,80}(?:Meta backend|meta device)'}]
"""
REMAINDER = r"""
id: tensor.divisible
signatures: [{pattern: 'AssertionError: \w+ ?% ?\w+ should be (?:zero|0)\b'}]
"""


@pytest.mark.parametrize(
    "line",
    [
        "NotImplementedError: cute-dsl decode backend does not support NVFP4 KV cache",
        "AssertionError: mode should be either `linear` or `exponential`",
    ],
)
def test_the_name_of_an_exception_is_no_likeness(line: str) -> None:
    assert not diagnose(line, META, REMAINDER).diagnoses


def test_an_exact_root_makes_likeness_unnecessary() -> None:
    report = diagnose("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)\nfailed (exitcqde: -9) local_rank: 0", SHAPES, KILLED)
    assert [diagnosis.id for diagnosis in report.diagnoses] == ["tensor.matmul-shape"]


def test_the_nearest_wordings_are_leads_for_an_unknown_failure() -> None:
    from aifix.match.fuzzy import nearest

    found = nearest(base_of(SHAPES, KILLED), ["RuntimeError: mat1 and mat2 cannot be added"])
    assert [near.id for near in found] == ["tensor.matmul-shape"]


@pytest.mark.parametrize(
    "line",
    [
        "AttributeError: 'Config' object has no attribute 'hidden_size'",
        "NameError: name 'F' is not defined",
        "TypeError: _DropoutNd.__init__() got an unexpected keyword argument 'prob'",
        "TypeError: Meter.update() missing 1 required positional argument: 'weight'",
        "ZeroDivisionError: division by zero",
        "ValueError: shard 2 is empty: data/shard-00002.tar",
    ],
)
def test_what_python_says_of_every_program_leads_nowhere(line: str) -> None:
    from aifix import api
    from aifix.match.fuzzy import nearest

    assert nearest(api.rule_base(), [line]) == ()


RENAMED = r"""
id: deps.attr-missing
signatures:
  - pattern: '{function:name}\(\) got an unexpected keyword argument ''{argument:name}'''
    within: 0
    with: 'unexpected keyword argument ''(?:gpus|auto_lr_find)'''
"""
INSIDE = r"""
id: deps.protobuf
signatures:
  - pattern: '{function:name}\(\) got an unexpected keyword argument ''{argument:name}'''
    within: 0
    with: 'argument ''serialized_options'''
"""


@pytest.mark.parametrize(("argument", "expected"), [("gpus", ("deps.attr-missing",)), ("serialized_options", ("deps.protobuf",)), ("colour", ())])
def test_conditions_on_the_line_itself_read_it_with_the_wording_put_right(argument: str, expected: tuple[str, ...]) -> None:
    report = diagnose(f"TypeError: Trainer.__init__() got an unexpectec keyword argument '{argument}'", RENAMED, INSIDE)
    assert tuple(diagnosis.id for diagnosis in report.diagnoses) == expected


def test_a_better_wording_is_looked_for_where_only_a_warning_was_recognised() -> None:
    rule = r"""
id: cuda.oom
signatures:
  - pattern: 'CUDA out of memory\. Tried to allocate {requested:bytes}'
  - {pattern: '(?i)CUDA[^\n]{0,60}out of memory', level: warning, strength: 0.6}
"""
    (first,) = diagnose("RuntimeError: CUDA out of memory. Tried to allopate 54.00 MiB", rule).diagnoses
    assert (first.match.kind, first.facts["requested"].text) == ("fuzzy", "54.00 MiB")


def test_a_line_with_most_words_of_a_wording_is_compared_even_where_its_error_word_is_mistyped() -> None:
    rule = r"id: gpu.nvml-unknown" + "\nsignatures: [{pattern: 'Failed to initialize NVML: GPU access blocked by the operating system'}]"
    assert [one.id for one in diagnose("Faqled to initialize NVML: GPU access blocked by the operating systen", rule).diagnoses] == [
        "gpu.nvml-unknown"
    ]
    assert diagnose("the operating system blocks access to the GPU for others", rule).diagnoses == ()


MISTYPED = "RuntimeErrcr: mat1 and nat2 shapes cannot be multqplied (32x512 and 256x10)"


@pytest.mark.parametrize("at", [0, 15, 2985, 2999], ids=["the first line", "near the start", "near the end", "the last line"])
def test_of_very_many_lines_that_read_like_errors_those_at_both_ends_are_compared(at: int) -> None:
    lines = [f"worker {number}: cannot open shard {number}, trying the next one" for number in range(3000)]
    lines[at] = MISTYPED
    found = diagnose("\n".join(lines), SHAPES).diagnoses
    assert [diagnosis.id for diagnosis in found] == ["tensor.matmul-shape"]
    assert found[0].evidence[0].line == at + 1
