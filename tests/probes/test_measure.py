"""A model's memory as a function: of a factory in a process of its own, of a live module here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import aifix
from aifix.probes import runner
from aifix.probes.measure import MeasureError

pytestmark = pytest.mark.slow

MODEL = "import torch\n\n\ndef make():\n    return torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))\n"
LIVE = """
import sys, torch, aifix
sys.path.insert(0, {folder!r})
import mine
model = mine.make().eval()
norm = torch.nn.BatchNorm1d(10)
whole = torch.nn.Sequential(model, norm.train())
whole(torch.randn(4, 256)).sum().backward()
grads = [item.grad.clone() for item in whole.parameters()]
mean = norm.running_mean.clone()
state = torch.get_rng_state()
found = aifix.model_memory(whole, 32, shape="256", budget=4 << 20)
assert all(torch.equal(item.grad, before) for item, before in zip(whole.parameters(), grads))
assert torch.equal(norm.running_mean, mean) and not model.training and norm.training
assert torch.equal(torch.get_rng_state(), state)
print(found.parameters, found.optimizer, found.largest_measured, found.largest_by_line, found.total)
given = aifix.model_memory(model, torch.randn(7, 256), optimizer="none")
print(given.batch, given.input, given.optimizer, given.largest_by_line)
try:
    aifix.model_memory(model, torch.randn(7, 9))
except Exception as error:
    print(type(error).__name__, str(error)[:60])
"""
WEIGHTS = 4 * (256 * 512 + 512 + 512 * 10 + 10)


def test_of_a_factory(torch_python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    found = aifix.model_memory("mine:make", 32, optimizer="sgd", python=torch_python, budget=4 << 20, timeout=90)
    assert (found.parameters, found.gradients, found.optimizer) == (WEIGHTS, WEIGHTS, WEIGHTS)
    assert found.largest_measured == found.largest_by_line
    assert found.largest_by_line is not None
    assert found.per_sample is not None
    assert 3 * WEIGHTS + found.largest_by_line * found.per_sample <= 4 << 20
    with pytest.raises(MeasureError, match="mine has no nothing"):
        aifix.model_memory("mine:nothing", python=torch_python)


def test_of_a_live_module_which_is_left_as_it_was(torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODEL)
    packages = os.pathsep.join([str(Path(runner.__file__).parents[2]), *[entry for entry in sys.path if entry.endswith("site-packages")]])
    if torch_python == sys.executable:
        packages = ""
    environ = os.environ | {"PYTHONPATH": packages}
    version = subprocess.run([torch_python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True, text=True, timeout=60, check=True)
    if version.stdout.split() != [str(part) for part in sys.version_info[:2]]:
        pytest.skip("the interpreter with torch is of another version than this one")
    done = subprocess.run(
        [torch_python, "-c", LIVE.format(folder=str(tmp_path))], capture_output=True, text=True, env=environ, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    parameters, optimizer, measured, line, total = map(int, first.split())
    assert parameters == WEIGHTS + 80
    assert 2 * parameters <= optimizer <= 2 * parameters + 200
    assert measured == line
    assert total > 4 * parameters
    assert second.split() == ["7", str(7 * 256 * 4), "0", "None"]
    assert third.startswith("MeasureError measure a batch of 1: RuntimeError")


def test_what_is_no_model_is_a_sentence() -> None:
    with pytest.raises(MeasureError, match="list is neither a torch module nor the name of a factory"):
        aifix.model_memory([1, 2])
    with pytest.raises(MeasureError, match=r"return \(model, batch\)"):
        aifix.model_memory("a:b", [1])
