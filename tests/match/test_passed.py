"""What a test run that passed prints is no failure; the same lines of one that failed are."""

from __future__ import annotations

import textwrap

import pytest

from aifix import api
from aifix.intake import document
from aifix.match.passed import passed

PYTEST = """\
    ============================= test session starts ==============================
    collected 2 items

    tests/test_loop.py {dots}                                                    [100%]

    ==================================== PASSES ====================================
    ______________________________ test_worker_dies ________________________________
    ----------------------------- Captured stderr call -----------------------------
    RuntimeError: DataLoader worker (pid 4421) is killed by signal: Killed.
    {verdict}
    """
UNITTEST = """\
    test_missing (tests.test_data.DataTest.test_missing) ... FileNotFoundError: [Errno 2] No such file or directory: 'ckpt/last.pt'
    {result}
    test_resume (tests.test_loop.LoopTest.test_resume) ... ok

    ----------------------------------------------------------------------
    Ran 2 tests in 0.912s

    {verdict}
    """
JEST = """\
     PASS  src/api/retry.test.ts
      Console

        console.warn
          FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory

     {mark}  src/chart.test.tsx

    Test Suites: 2 total
    Tests:       {verdict}
    """
CARGO = """\
    running 2 tests
    CUDA out of memory. Tried to allocate 2.00 GiB
    test gpu::full ... {result}
    test gpu::free ... ok

    test result: {verdict}; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
    """
GO = """\
    === RUN   TestFull
        gpu_test.go:12: CUDA out of memory. Tried to allocate 2.00 GiB
    --- {result}: TestFull (0.00s)
    {verdict}
    """
CTEST = """\
    Test project /src/build
        Start 1: full
    1: CUDA out of memory. Tried to allocate 2.00 GiB
    1/1 Test #1: full .............   {result}    0.41 sec

    {verdict} out of 1
    """
CASES = {
    "pytest": (PYTEST, {"dots": "..", "verdict": "============================== 2 passed in 3.41s =============================="},
               {"dots": ".F", "verdict": "========================= 1 failed, 1 passed in 3.41s =========================="}),
    "unittest": (UNITTEST, {"result": "ok", "verdict": "OK"}, {"result": "ERROR", "verdict": "FAILED (errors=1)"}),
    "jest": (JEST, {"mark": "PASS", "verdict": "9 passed, 9 total"}, {"mark": "FAIL", "verdict": "1 failed, 8 passed, 9 total"}),
    "cargo": (CARGO, {"result": "ok", "verdict": "ok. 2 passed; 0 failed"}, {"result": "FAILED", "verdict": "FAILED. 1 passed; 1 failed"}),
    "go": (GO, {"result": "PASS", "verdict": "PASS"}, {"result": "FAIL", "verdict": "FAIL"}),
    "ctest": (CTEST, {"result": "Passed", "verdict": "100% tests passed, 0 tests failed"},
              {"result": "***Failed", "verdict": "0% tests passed, 1 tests failed"}),
}  # fmt: skip


def told(text: str, values: dict[str, str]) -> str:
    return textwrap.dedent(text).format(**values)


@pytest.mark.parametrize("runner", CASES)
def test_what_passing_tests_print_is_no_failure(runner: str) -> None:
    text, green, _ = CASES[runner]
    report = api.diagnose_text(told(text, green))
    assert not report.failed


@pytest.mark.parametrize("runner", CASES)
def test_the_same_lines_of_a_run_that_failed_are_diagnosed(runner: str) -> None:
    text, _, red = CASES[runner]
    assert api.diagnose_text(told(text, red)).diagnoses


@pytest.mark.parametrize("runner", CASES)
def test_a_failure_before_or_after_the_tests_is_one(runner: str) -> None:
    text, green, _ = CASES[runner]
    failure = "NVRM: Xid (PCI:0000:1b:00): 79, pid=4411, GPU has fallen off the bus.\n"
    quiet = told(text, green)
    for log in (failure + quiet, quiet + failure):
        assert [item.id for item in api.diagnose_text(log).diagnoses] == ["gpu.fallen-off-bus"]


def test_a_run_that_never_reached_its_verdict_passed_nothing() -> None:
    text, green, _ = CASES["pytest"]
    cut = told(text, green).rpartition("====")[0].rpartition("\n")[0]
    assert passed(document.read(cut.encode()).lines) == []
    assert api.diagnose_text(cut + "\n").diagnoses
