"""Who failed first, and how, from logs as libraries and launchers write them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import aifix

if TYPE_CHECKING:
    from collections.abc import Callable

    Lay = Callable[[dict[str, str]], str]

STEPS = "".join(f"2026-03-02 10:00:{second:02d},000 - INFO - step {second} loss 0.5 step_time 0.5s data_time 0.01s\n" for second in range(30))
OOM = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 12, in <module>\n    model(x)\n'
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free.\n"
)
KEY = 'Traceback (most recent call last):\n  File "/workspace/train.py", line 9, in <module>\n    batch["labels"]\nKeyError: \'labels\'\n'
LOST = (
    'Traceback (most recent call last):\n  File "/workspace/train.py", line 30, in <module>\n    dist.all_reduce(t)\n'
    '  File "/opt/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252, in all_reduce\n    work.wait()\n'
    "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.3]:51635\n"
)


def watchdog(rank: int, sequence: int = 52, operation: str = "ALLREDUCE") -> str:
    """What NCCL's watchdog prints on a rank that waited."""
    work = f"WorkNCCL(SeqNum={sequence}, OpType={operation}, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000)"
    return (
        f"[rank{rank}]:[E302 10:10:30.482911 ProcessGroupNCCL.cpp:685] [Rank {rank}] Watchdog caught collective operation timeout: {work}"
        " ran for 600012 milliseconds before timing out.\n"
        f"[rank{rank}]:[E302 10:10:30.482990 ProcessGroupNCCL.cpp:2168] [PG ID 0 PG GUID 0 Rank {rank}] failure detected by watchdog at work sequence id: "
        f"{sequence} PG status: last enqueued work: {sequence + 3}, last completed work: {sequence - 1}\n"
    ).replace("E302", "E0302")


def table(entries: list[tuple[int, int, str]], first: int) -> str:
    """What torchrun prints at its end: (rank, exit code, signal)."""

    def entry(number: int, rank: int, code: int, signal: str) -> str:
        end = (
            f"Signal {-code} ({signal}) received by PID {100 + rank}"
            if signal
            else "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
        )
        named = f" ({signal})" if signal else ""
        return (
            f"[{number}]:\n  time      : 2026-03-02_10:00:31\n  host      : node0\n  rank      : {rank} (local_rank: {rank})\n"
            f"  exitcode  : {code} (pid: {100 + rank}) {named}\n  error_file: <N/A>\n  traceback : {end}\n"
        )

    others = [one for one in entries if one[0] != first]
    text = "".join(entry(number, *one) for number, one in enumerate(others, 1))
    root = next(one for one in entries if one[0] == first)
    return (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n====\ntrain.py FAILED\n----\nFailures:\n"
        f"{text}----\nRoot Cause (first observed failure):\n{entry(0, *root)}====\n"
    )


def prefixed(rank: int, text: str) -> str:
    """What torch prints of a rank's traceback."""
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


WAITED = LOST.replace(
    "pair.cc:553] Connection closed by peer [10.0.0.3]:51635", "unbound_buffer.cc:78] Timed out waiting 600000ms for recv operation to complete"
)
FORCED = (
    "W0302 10:00:30.1 99 torch/distributed/elastic/multiprocessing/api.py:1047] Unable to shutdown process 101 via 15, forcefully exiting via 9\n"
)
CASES: dict[str, tuple[dict[str, str], str, tuple[int, ...]]] = {
    "one failed by itself, the others lost it": (
        {"rank_0.log": STEPS + LOST, "rank_1.log": STEPS + KEY, "rank_2.log": STEPS + LOST},
        "failed",
        (1,),
    ),
    "two failed by themselves, a minute apart": (
        {
            "rank_0.log": STEPS + "2026-03-02 10:02:00,000 - ERROR - stopped\n" + KEY,
            "rank_1.log": STEPS + LOST,
            "rank_2.log": STEPS + "2026-03-02 10:00:31,000 - ERROR - stopped\n" + OOM,
        },
        "failed",
        (2,),
    ),
    "all have the same bug": ({f"rank_{rank}.log": STEPS + KEY for rank in range(3)}, "failed", (0, 1, 2)),
    "one log just ends, the others lost a peer": ({"rank_0.log": STEPS + LOST, "rank_1.log": STEPS + LOST, "rank_2.log": STEPS}, "vanished", (2,)),
    "one is silent, NCCL waited for it": (
        {"rank_0.log": STEPS + watchdog(0), "rank_1.log": STEPS[:1500], "rank_2.log": STEPS + watchdog(2), "rank_3.log": STEPS + watchdog(3)},
        "frozen",
        (1,),
    ),
    "NCCL waited on all, one in another collective": (
        {f"rank_{rank}.log": STEPS + watchdog(rank, 52, "ALLGATHER" if rank == 2 else "ALLREDUCE") for rank in range(4)},
        "diverged",
        (2,),
    ),
    "NCCL waited on all, one is a collective behind": (
        {f"rank_{rank}.log": STEPS + watchdog(rank, 51 if rank == 3 else 52) for rank in range(4)},
        "diverged",
        (3,),
    ),
    "killed, says torchrun": (
        {"rank_0.log": STEPS, "rank_1.log": STEPS, "launcher.log": table([(0, -15, "SIGTERM"), (1, -9, "SIGKILL")], first=1)},
        "killed",
        (1,),
    ),
    "killed, says srun": (
        {
            "slurm-7_0.out": STEPS + LOST,
            "slurm-7_1.out": STEPS,
            "slurm-7.out": "srun: error: node01: task 1: Killed\nsrun: error: node01: task 0: Exited with exit code 1\n",
        },
        "killed",
        (1,),
    ),
    "through before the others": (
        {"rank_0.log": STEPS + LOST, "rank_1.log": STEPS + LOST, "rank_2.log": STEPS + "training finished in 30 s\n"},
        "left-early",
        (2,),
    ),
    "no log of the one that all lost": ({f"rank_{rank}.log": "world_size=4\n" + STEPS + LOST for rank in (0, 1, 3)}, "missing", (2,)),
    "a barrier names it": (
        {
            "rank_0.log": STEPS
            + "RuntimeError: [../torch/csrc/distributed/c10d/ProcessGroupGloo.cpp:3037]: Rank 1 failed to pass monitoredBarrier in 30000 ms\n",
            "rank_1.log": STEPS[:900],
        },
        "frozen",
        (1,),
    ),
    "in one file without prefixes, one did not end when asked": (
        {"job.log": STEPS + prefixed(0, WAITED) + prefixed(2, WAITED) + FORCED + table([(0, 1, ""), (1, -9, "SIGKILL"), (2, 1, "")], first=0)},
        "frozen",
        (1,),
    ),
    "in one file without prefixes, one was killed": (
        {"job.log": STEPS + prefixed(0, LOST) + prefixed(2, LOST) + table([(0, -15, "SIGTERM"), (1, -9, "SIGKILL"), (2, 1, "")], first=1)},
        "killed",
        (1,),
    ),
    "one is silent, and the first to abort is one that waited for it": (
        {
            "rank_0.log": STEPS + WAITED,
            "rank_1.log": STEPS,
            "rank_2.log": STEPS + WAITED + "terminate called without an active exception\n",
            "launcher.log": table([(0, -15, "SIGTERM"), (1, -15, "SIGTERM"), (2, -6, "SIGABRT")], first=2),
        },
        "frozen",
        (1,),
    ),
    "nothing failed": ({f"rank_{rank}.log": STEPS + "training finished\n" for rank in range(3)}, "healthy", ()),
}


@pytest.mark.parametrize("name", CASES)
def test_how_it_began(name: str, lay: Lay) -> None:
    files, kind, ranks = CASES[name]
    verdict = aifix.ranks(lay(files)).verdict
    assert (verdict.kind, verdict.ranks) == (kind, ranks), f"{verdict.title}; {verdict.why}"


def test_the_rank_that_failed_is_diagnosed_and_the_others_follow(lay: Lay) -> None:
    report = aifix.ranks(lay({"rank_0.log": STEPS + watchdog(0), "rank_1.log": STEPS + OOM, "rank_2.log": STEPS + watchdog(2)}))
    assert report.verdict.report is not None
    assert report.verdict.report.diagnoses[0].id == "cuda.oom"
    assert [(one.rank, one.role, one.detail) for one in report.ranks] == [
        (0, "follower", "waited in vain in ALLREDUCE number 52"),
        (1, "first", "CUDA out of memory on GPU 0"),
        (2, "follower", "waited in vain in ALLREDUCE number 52"),
    ]
    collective = report.ranks[0].collective
    assert collective is not None
    assert (collective.operation, collective.sequence, collective.elements) == ("ALLREDUCE", 52, 4096)
    assert report.ranks[1].silence == pytest.approx(601.5, abs=1)


def test_an_error_that_was_survived_is_not_the_end(lay: Lay) -> None:
    early = "2026-03-02 09:59:00,000 - WARNING - retrying: HTTPError: 429 Client Error: Too Many Requests for url: https://hub.example/x\n" + KEY
    report = aifix.ranks(lay({"rank_0.log": early + STEPS * 20 + LOST, "rank_1.log": STEPS * 20 + OOM}))
    assert (report.verdict.kind, report.verdict.ranks) == ("failed", (1,))


def test_an_error_of_its_own_counts_though_a_long_end_follows(lay: Lay) -> None:
    stack = "".join(
        f"frame #{number}: c10d::ProcessGroupNCCL::ncclCommWatchdog() + 0x{number:x} (0x7f in libtorch_cuda.so)\n" for number in range(900)
    )
    report = aifix.ranks(lay({"rank_0.log": STEPS * 9 + OOM + stack + watchdog(0), "rank_1.log": STEPS * 9 + watchdog(1)}))
    assert (report.verdict.kind, report.verdict.ranks) == ("failed", (0,))


def test_clocks_are_set_right_before_the_order_is_read(lay: Lay) -> None:
    def ahead(text: str) -> str:
        return text.replace(" 10:0", " 10:3")  # half an hour

    late, soon = "2026-03-02 10:02:00,000 - ERROR - stopped\n", "2026-03-02 10:00:31,000 - ERROR - stopped\n"
    report = aifix.ranks(lay({"n.node0.0.log": STEPS + late + KEY, "n.node1.1.log": ahead(STEPS + soon) + OOM}))
    assert report.verdict.ranks == (1,)
    assert [(skew.name, skew.seconds) for skew in report.skews] == [("node1", 1800.0)]


def test_a_clock_that_was_set_back_proves_nothing(lay: Lay) -> None:
    def back(text: str) -> str:
        return text.replace(" 10:0", " 08:0")

    later = STEPS.replace(" 10:00", " 10:01").replace("step ", "step 1")
    late = "2026-03-02 10:02:00,000 - ERROR - stopped\n"
    report = aifix.ranks(lay({"rank_0.log": STEPS + later + late + KEY, "rank_1.log": STEPS + back(later) + back(late) + OOM}))
    assert (report.verdict.certainty, report.verdict.kind) == ("open", "failed")
    assert "before the next" not in " ".join(report.verdict.why)
    assert [one.silence for one in report.ranks] == [0.0, None]
    assert report.start is not None
    assert report.end is not None
    assert report.start < report.end
    quiet = aifix.ranks(lay({"rank_0.log": STEPS + later, "rank_1.log": STEPS + back(later)}))
    assert quiet.verdict.kind == "healthy"
    assert not any("silent" in one.detail for one in quiet.ranks)


def test_torchruns_folders_of_two_nodes_and_two_attempts(lay: Lay) -> None:
    files = {f"job_{node}/attempt_{attempt}/{local}/stdout.log": STEPS for node in "ab" for attempt in (0, 1) for local in (0, 1)}
    files |= {
        f"job_{node}/attempt_1/{local}/stderr.log": f"[rank{2 * at + local}]: " + LOST.replace("\n", f"\n[rank{2 * at + local}]: ", 4)
        for at, node in enumerate("ab")
        for local in (0, 1)
    }
    files["job_b/attempt_1/1/stderr.log"] = "[rank3]: " + OOM.replace("\n", "\n[rank3]: ", 3)
    stack = {"message": {"message": "KeyError: 'labels'", "extraInfo": {"py_callstack": KEY, "timestamp": "1772445631"}}}
    files["job_a/attempt_0/0/error.json"] = json.dumps(stack)
    report = aifix.ranks(lay(files))
    assert (report.attempts, report.world, report.verdict.ranks) == ((0, 1), 4, (3,))
    before = aifix.ranks(report.sources, attempt=0)
    assert (before.verdict.kind, before.verdict.ranks) == ("failed", (0,))
    assert before.ranks[0].error is not None
    assert before.ranks[0].error.time == 1772445631


def test_stragglers_by_step_and_by_data(lay: Lay) -> None:
    files = {f"rank_{rank}.log": STEPS for rank in range(6)}
    files["rank_4.log"] = STEPS.replace("data_time 0.01s", "data_time 0.31s")
    files["rank_5.log"] = STEPS.replace("step_time 0.5s", "step_time 0.9s")
    report = aifix.ranks(lay(files))
    assert [(one.rank, one.measure, one.seconds, one.typical) for one in report.stragglers] == [(5, "step", 0.9, 0.5), (4, "data", 0.31, 0.01)]


def test_a_pool_of_processes_says_the_same(lay: Lay, monkeypatch: pytest.MonkeyPatch) -> None:
    from aifix.ranklogs import gather

    files, *_ = CASES["one is silent, NCCL waited for it"]
    folder = lay(files)
    alone = aifix.ranks(folder, jobs=1)
    monkeypatch.setattr(gather, "ALONE", 0)
    assert aifix.ranks(folder, jobs=2) == alone


def test_the_json_form_reads_back(lay: Lay) -> None:
    import msgspec

    from aifix.ranklogs import RanksReport
    from aifix.show import json as shown

    report = aifix.ranks(lay(CASES["killed, says torchrun"][0]))
    assert msgspec.json.decode(shown.dump(report), type=RanksReport).verdict.title == report.verdict.title


def test_ranks_of_gloo_are_told_of_no_variable_of_nccl(lay: Lay) -> None:
    gloo = aifix.ranks(lay({"rank_0.log": STEPS + WAITED, "rank_1.log": STEPS[:1500], "rank_2.log": STEPS + WAITED}))
    assert gloo.verdict.kind == "frozen"
    assert "NCCL" not in " ".join(gloo.verdict.advice)
    assert "aifix run --stall" in " ".join(gloo.verdict.advice)


def test_ranks_of_nccl_are_told_of_the_flight_recorder(lay: Lay) -> None:
    nccl = aifix.ranks(lay({"rank_0.log": STEPS + watchdog(0), "rank_1.log": STEPS[:1500], "rank_2.log": STEPS + watchdog(2)}))
    assert "TORCH_NCCL_DUMP_ON_TIMEOUT=1" in " ".join(nccl.verdict.advice)
