"""Times, clocks that differ, progress and stragglers."""

from __future__ import annotations

import datetime as dt

import pytest

from aifix.model import Line
from aifix.ranklogs.clock import Clock, skews, was_set_back
from aifix.ranklogs.progress import Progress, stragglers

WRITTEN = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02 03:04:05,250 - INFO - step 1", "2026-01-02T03:04:05.250000+00:00"),
        ("2026-01-02T03:04:05.5Z stdout F step 1", "2026-01-02T03:04:05.500000+00:00"),
        ("[2026-01-02 05:04:05 +0200] step 1", "2026-01-02T03:04:05+00:00"),
        ("01/02/2026 03:04:05 step 1", "2026-01-02T03:04:05+00:00"),
        ("[rank1]:[E102 03:04:05.876380772 ProcessGroupGloo.cpp:67] Rank 1", None),
        ("[rank1]:[E0102 03:04:05.876380772 ProcessGroupGloo.cpp:67] Rank 1", "2026-01-02T03:04:05.876381+00:00"),
        ("I1231 23:59:59.000001 4711 torch/distributed/run.py:874] x", "2025-12-31T23:59:59.000001+00:00"),
        ("Jan  2 03:04:05 node7 kernel: NVRM", "2026-01-02T03:04:05+00:00"),
        ("[03:04:05] step 1", "2026-01-02T03:04:05+00:00"),
        ("step 2026 of 1-2-3", None),
        ("2026-13-45 99:99:99 nonsense", None),
    ],
)
def test_the_time_of_a_line(text: str, expected: str | None) -> None:
    found = Clock(WRITTEN).read(text)
    assert (dt.datetime.fromtimestamp(round(found, 6), dt.timezone.utc).isoformat() if found is not None else None) == expected


@pytest.mark.parametrize(
    ("moments", "back"),
    [
        ([0, 10, 20, 30], False),
        ([0, 10, 3600, 20, 30], True),
        ([0, 3600, 3590, 3580, 3601], False),  # threads and buffers mix lines
        ([0, 3600, 30], False),  # one line names an earlier time
    ],
)
def test_a_clock_that_was_set_back(moments: list[float], back: bool) -> None:
    assert was_set_back([(moment, "year") for moment in moments]) is back
    zoned = [one for moment in moments for one in ((moment, "year"), (moment + 7200.0, "g_month"))]  # another library, another time zone
    assert was_set_back(zoned) is back


def test_midnight_sets_no_clock_back() -> None:
    assert not was_set_back([(moment, "t_clock") for moment in (86000.0, 86300.0, 10.0, 20.0)])


def test_a_wrong_clock_is_told_from_a_slow_rank() -> None:
    events = {f"node{number}": {step: 1000.0 + step for step in range(50)} for number in range(4)}
    events["node2"] = {step: moment + 90.0 for step, moment in events["node2"].items()}
    events["node3"] = {step: moment + 0.4 for step, moment in events["node3"].items()}  # late by a part of a step: slow, no clock
    assert skews(events) == {"node2": (pytest.approx(90.0, abs=0.5), 50)}


def test_two_clocks_differ_from_each_other() -> None:
    events = {"a": {step: 10.0 * step for step in range(9)}, "b": {step: 10.0 * step - 3600.0 for step in range(9)}}
    assert skews(events) == {"b": (-3600.0, 9)}


@pytest.mark.parametrize(
    ("text", "step", "step_seconds", "data_seconds"),
    [
        ("step 40 loss 0.5 step_time 0.482s data_time 0.0121s", 40, 0.482, 0.0121),
        ("Epoch: [0][ 10/5005]\tTime  0.512 ( 0.9)\tData  0.013 ( 0.2)\tLoss 6.9", 10, 0.512, 0.013),
        (" iteration      100/  500 | consumed samples: 800 | elapsed time per iteration (ms): 1234.5 | loss 2.0", 100, 1.2345, None),
        ("{'loss': 0.5, 'step': 12, 'time': 0.25}", 12, 0.25, None),
        ("Iter(train) [ 50/100]  lr: 1e-2  time: 0.4560  data_time: 0.0120  loss: 1.2", 50, 0.456, 0.012),
        (" 40%|####  | 40/100 [00:20<00:30,  2.00it/s, loss=0.5]", None, 0.5, None),
        ("saved 12 files", None, None, None),
    ],
)
def test_progress_as_trainers_print_it(text: str, step: int | None, step_seconds: float | None, data_seconds: float | None) -> None:
    progress = Progress()
    progress.read(Line(1, text), Clock(WRITTEN))
    assert progress.step == step
    assert progress.seconds() == (pytest.approx(step_seconds) if step_seconds else None, pytest.approx(data_seconds) if data_seconds else None)


def test_a_straggler_stands_out_of_the_ranks_own_scatter() -> None:
    usual = [(rank, 0.5 + rank % 5 / 100) for rank in range(30)]
    found = stragglers([*usual, (30, 0.9), (31, 0.55)])
    assert found is not None
    assert [rank for rank, _ in found.slow] == [30]
    assert stragglers([(0, 1.0), (1, 9.0)]) is None  # of two nobody knows which is usual
