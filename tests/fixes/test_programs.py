"""End to end, with real parts: a program fails, its log is diagnosed, `aifix fix --apply` changes the program, and it runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.torches import torch_python

PROGRAMS = Path(__file__).parent / "programs"
LINUX = sys.platform == "linux"


class Program(NamedTuple):
    """A failing program: the diagnosis, the fix that is applied, and what it prints when it runs."""

    name: str
    diagnosis: str
    fix: str
    says: str
    meta: bool = False  # the meta device stands for a GPU: the log is read with the GPU's name in its place


CASES = [
    Program("autocast", "tensor.dtype-mismatch", "autocast", "loss "),
    Program("batch_size", "host.cpu-alloc", "smaller-batch", "epoch 1 loss"),
    Program("checkpointing", "host.cpu-alloc", "checkpointing", "loss "),
    Program("clip_grad", "train.nan-loss", "clip", "epoch 59 loss"),
    Program("contiguous", "tensor.view-stride", "contiguous", "flat (2, 12)"),
    Program("create_on_device", "tensor.device-mismatch", "create-on-device", "out (2,)", meta=True),
    Program("detach_loss", "host.cpu-alloc", "free-what-lingers", "mean loss"),
    Program("detach_state", "autograd.second-backward", "detach-state", "loss "),
    Program("drop_last", "tensor.bn-single-value", "drop-last", "out (8, 8)"),
    Program("find_unused", "dist.ddp-unused", "find-unused", "loss "),
    Program("long_targets", "tensor.index-dtype", "long", "loss "),
    Program("main_guard", "data.main-guard", "guard", "total 28.0"),
    Program("map_location", "cuda.deserialize-no-cuda", "map-location", "loaded"),
    Program("num_workers", "data.unpicklable", "workers-zero", "batch [8.0, 10.0, 12.0, 14.0]"),
    Program("numpy_alias", "deps.numpy-alias", "replace-name", "sum 0.0"),
    Program("numpy_detach", "tensor.numpy-grad", "detach", "scores (3, 1)"),
    Program("pad_collate", "data.collate-unequal", "pad", "batch (2, 4)"),
    Program("reshape", "tensor.view-stride", "reshape", "flat (2, 12)"),
    Program("to_device", "tensor.device-mismatch", "move-batch", "out (4, 2)", meta=True),
    Program("weights_only", "ckpt.weights-only", "weights-only-false", "step 3"),
    Program("zero_grad", "train.nan-loss", "zero-grad", "epoch 2990 loss"),
]
LIMITED = {"batch_size", "checkpointing", "detach_loss"}
"""Programs that limit their own memory; Linux tells them how much they have."""


def run(program: Path, python: str) -> tuple[int, str]:
    """Run a program in its folder; memory limits count what is asked for, not how the C library cuts it up."""
    environ = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, program.name],
        cwd=program.parent,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=240,
        check=False,
    )
    return done.returncode, done.stdout


def aifix(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"AIFIX_STATE": str(folder / "state"), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "aifix", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_fix_turns_a_failing_program_into_a_running_one(case: Program, tmp_path: Path) -> None:
    pytest.importorskip("libcst")
    python = torch_python()
    if case.name in LIMITED and not LINUX:
        pytest.skip("the memory of a process is limited through /proc and RLIMIT_AS")
    program = tmp_path / f"{case.name}.py"
    shutil.copy(PROGRAMS / program.name, program)
    source = program.read_text("utf-8")

    status, log = run(program, python)
    assert status != 0, log
    if case.meta:
        log = log.replace("device meta", "device cuda:0")
    (tmp_path / "run.log").write_text(f"$ python {program.name}\n{log}", "utf-8")

    shown = aifix(tmp_path, "fix", case.fix, "run.log")
    assert shown.returncode == 0, shown.stdout + shown.stderr + log
    assert f"({case.diagnosis}, {case.fix})" in shown.stdout
    assert f"+++ b/{program.name}" in shown.stdout
    assert program.read_text("utf-8") == source, "nothing is written without --apply"

    applied = aifix(tmp_path, "fix", case.fix, "run.log", "--apply")
    assert applied.returncode == 0, applied.stdout + applied.stderr
    status, output = run(program, python)
    assert status == 0, output
    assert case.says in output

    assert aifix(tmp_path, "fix", "--undo").returncode == 0
    assert program.read_text("utf-8") == source


def test_every_patch_has_a_program() -> None:
    from aifix.fixes.patch import PATCHES

    assert {case.name.replace("_", "-") for case in CASES} == set(PATCHES)
