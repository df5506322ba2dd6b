"""Real trainings under `aifix watch`: each fault is named, with its layer and step, and a healthy one is left in peace."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.rerun.parts import Done, environ
from tests.torches import torch_python
from tests.watch import programs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def watch(folder: Path, text: str, *options: str, name: str = "train.py", **more: str) -> Done:
    (folder / name).write_text(programs.HEAD + text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "watch", *options, "--", torch_python(), name],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=environ(**more),
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("text", "identity", "line"),
    [
        pytest.param(programs.NAN, "train.nan-loss", r"the loss is nan at step 40, first out of layer ratio \(LogBackward0\)", id="nan"),
        pytest.param(
            programs.OVERFLOW, "train.nan-loss", r"the loss is (?:nan|inf) at step 30, first out of layer 2 \(\w+Backward0\)", id="overflow"
        ),
        pytest.param(
            programs.EXPLODING, "train.grad-nonfinite", r"exploding gradients: norm \S+ at step (?:6|7)\d, .* largest in layer \d", id="exploding"
        ),
        pytest.param(programs.DIVERGING, "train.diverging", r"the loss diverges: \S+ at step \d+, after \S+ at step \d+", id="diverging"),
        pytest.param(programs.VANISHING, "train.no-learning", r"vanishing gradients: norm \S+ in layer 0 against \S+ in layer 28", id="vanishing"),
        pytest.param(programs.FLAT, "train.no-learning", r"the weights do not move: \d+ steps at learning rate 0$", id="flat"),
        pytest.param(programs.STANDING, "train.no-learning", r"the loss stands still: 2\.\d+ over \d+ steps", id="standing"),
        pytest.param(programs.SCALE, "train.loss-scale", r"the loss scale is 0\.5 at step \d+, down from 65536$", id="loss scale"),
        pytest.param(programs.LEAK, "train.memory-growth", r"host memory grows by \S+ [MK]iB a step: .* nothing is left in about", id="leak"),
        pytest.param(programs.STARVED, "data.starved", r"the input starves the model: [5-9]\d % of a step of \d+ ms", id="starved"),
    ],
)
def test_a_training_with_a_fault_raises_its_alarm(text: str, identity: str, line: str, tmp_path: Path) -> None:
    # the steps are tiny and the runs short: with the default budget a busy machine would see too few of them closely
    done = watch(tmp_path, text, "--format", "json", "--budget", "3")
    assert done.status == 0, done.err
    said = [re.sub(r"^aifix: watch: ", "", one) for one in done.err.splitlines() if one.startswith("aifix: watch: ")]
    assert any(re.search(line, one) for one in said), done.err
    report = done.report
    assert report["failed"] is True
    found = {one["id"]: one for one in report["diagnoses"]}
    assert identity in found
    assert found[identity]["fixes"], "each alarm comes with something to try"
    assert len(said) <= 3, said


@pytest.mark.parametrize("name", programs.HEALTHY)
def test_a_healthy_training_raises_none(name: str, tmp_path: Path) -> None:
    done = watch(tmp_path, programs.HEALTHY[name])
    assert done.status == 0, done.err
    assert "no alarm" in done.err, done.err
    assert "watch:" not in done.err
    assert not re.search(r" 0 steps", done.err)
