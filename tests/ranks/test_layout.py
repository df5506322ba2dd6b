"""Whose log a file is, by its path; whose a line is, by its prefix."""

from __future__ import annotations

import pytest

from aifix.intake import document
from aifix.ranklogs import streams
from aifix.ranklogs.layout import files_of, name_files

RAY = """\
(TorchTrainer pid=400) - (node_id=a, ip=10.0.0.2, pid=41) world_rank=1, local_rank=1, node_rank=0
(TorchTrainer pid=400) - (node_id=a, ip=10.0.0.2, pid=40) world_rank=0, local_rank=0, node_rank=0
(RayTrainWorker pid=40, ip=10.0.0.2) step 1
(RayTrainWorker pid=41, ip=10.0.0.2) step 1
"""


@pytest.mark.parametrize(
    ("paths", "ranks"),
    [
        (["logs/none_a1b2/attempt_0/0/stdout.log", "logs/none_a1b2/attempt_0/0/stderr.log", "logs/none_a1b2/attempt_0/1/stderr.log"], [0, 0, 1]),
        (["out/slurm-4711_0.out", "out/slurm-4711_1.out", "out/slurm-4711_2.out"], [0, 1, 2]),
        (["4711.node01.0.err", "4711.node01.1.err", "4711.node02.2.err", "4711.node02.3.err"], [0, 1, 2, 3]),
        (["train_rank_0.log", "train_rank_11.log"], [0, 11]),
        (["rank0/log.txt", "rank1/log.txt"], [0, 1]),
        (["llm-master-0.log", "llm-worker-0.log", "llm-worker-1.log"], [0, 1, 2]),
        (["pods/llm-worker-0.log", "pods/llm-worker-1.log"], [0, 1]),
        (["js-workers-0-0-x7k2p.log", "js-workers-0-1-b5c5d.log", "js-workers-1-0-q2w4z.log"], [0, 1, 2]),
        (["job.0.log", "job.1.log", "job.3.log"], [0, 1, 3]),
        (["out.400.log", "out.401.log", "out.402.log"], [400, 401, 402]),
        (["step_1000.log", "step_2000.log"], [None, None]),
        (["train.log"], [None]),
        (["launcher.log", "rank_0.log", "rank_1.log"], [None, 0, 1]),
    ],
)
def test_the_rank_of_a_path(paths: list[str], ranks: list[int | None]) -> None:
    assert [one.rank for one in name_files(paths)] == ranks


def test_of_several_runs_in_a_log_folder_the_last_one_counts(lay) -> None:  # noqa: ANN001 - a fixture
    import os

    folder = lay({f"{run}_x1y2/attempt_0/0/stderr.log": "" for run in ("old", "new")})
    os.utime(f"{folder}/old_x1y2", (1, 1))
    assert [one.group.rpartition("/")[2] for one in name_files(files_of([folder]))] == ["new_x1y2"]


def test_what_is_no_log_is_left_alone(lay) -> None:  # noqa: ANN001 - a fixture
    folder = lay({"rank_0.log": "", "model.safetensors": "", "train.py": "", "events.out.tfevents.17.node": "", ".hidden": "", "error.json": "{}"})
    assert [path.rpartition("/")[2] for path in files_of([folder])] == ["error.json", "rank_0.log"]


@pytest.mark.parametrize(
    ("text", "owners"),
    [
        ("[default0]:step 1\n[default1]:step 1\n[default1]:[rank1]: Traceback (most recent call last):\n", {("", 0), ("", 1)}),
        ("[default0]:step 1\n[default0]:[rank8]: Traceback (most recent call last):\n[default1]:[rank9]: KeyError: 1\n", {("", 8), ("", 9)}),
        ("[1,0]<stdout>:step 1\n[1,1]<stderr>:step 1\n", {("", 0), ("", 1)}),
        ("0: step 1 of it\n1: step 1 of it\n0: step 2 of it\n1: step 2 of it\n0: step 3 of it\n1: step 3 of it\n", {("", 0), ("", 1)}),
        (
            "[pod/llm-master-0/pytorch] step 1\n[pod/llm-worker-0/pytorch] step 1\n[pod/llm-worker-1/pytorch] step 1\n",
            {("llm-master-0", 0), ("llm-worker-0", 1), ("llm-worker-1", 2)},
        ),
        (
            RAY,
            {("RayTrainWorker pid=40, ip=10.0.0.2", 0), ("RayTrainWorker pid=41, ip=10.0.0.2", 1), ("TorchTrainer pid=400", None)},
        ),
        ("worker-1  | step 1\nworker-2  | step 1\nworker-1  | step 2\nworker-2  | step 2\n", {("worker-1", 0), ("worker-2", 1)}),
    ],
)
def test_the_rank_of_a_line(text: str, owners: set[tuple[str, int | None]]) -> None:
    parts = streams.split(document.read(text.encode(), genre="log").lines)
    assert {(owner.source, owner.rank) for owner in parts} == owners


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Initializing distributed: GLOBAL_RANK: 3, MEMBER: 4/8", (3, 8, "")),
        ("node7:4211:4390 [1] NCCL INFO comm 0x55 rank 9 nranks 16 cudaDev 1 busId 1b000 - Init START", (9, 16, "node7")),
        ("rank 2 of 4 on pid 4711", (2, 4, "")),
        ("world_size=64, local batch 8", (None, 64, "")),
        ("step 3 loss 0.5", (None, None, "")),
    ],
)
def test_what_a_rank_says_of_itself(line: str, expected: tuple[int | None, int | None, str]) -> None:
    assert streams.declared(document.read(line.encode() + b"\n", genre="log").lines) == expected
