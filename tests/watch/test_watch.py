"""What watching leaves alone, what it costs, and how it is used from Python and from the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.rerun.parts import environ
from tests.torches import torch_python
from tests.watch import programs
from tests.watch.test_alarms import watch

SRC = str(Path(__file__).parents[2] / "src")

MODELS = {
    "plain": "net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.3), nn.BatchNorm1d(64), nn.Linear(64, 1))\ncalled = net",
    "compiled": """
torch._dynamo.config.suppress_errors = False
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 1))
called = torch.compile(net, backend="aot_eager")""",
}
EXACT = """
import random

{model}
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
data = DataLoader(TensorDataset(torch.randn(256, 8)), batch_size=32, shuffle=True, num_workers=1)
for epoch in range(4):
    for (x,) in data:
        loss = (called(x) - x.sum(-1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(repr([p.double().sum().item() for p in net.parameters()]), torch.rand(1).item(), random.random() is None)
"""


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_number_stays_the_same(model: str, tmp_path: Path) -> None:
    text = EXACT.replace("{model}", MODELS[model])
    (tmp_path / "bare.py").write_text(programs.HEAD + text, encoding="utf-8")
    bare = subprocess.run([torch_python(), "bare.py"], cwd=tmp_path, capture_output=True, text=True, env=environ(), check=False, timeout=200)
    assert bare.returncode == 0, bare.stderr
    done = watch(tmp_path, text, "--budget", "20")
    assert (done.status, done.out) == (0, bare.stdout), done.err
    assert re.search(r"32 steps watched, [1-9]\d* of them closely", done.err), done.err
    assert "no alarm" in done.err


DISTRIBUTED = """
import os
import sys

import torch.distributed as dist
import torch.multiprocessing as mp

{body}


def rank_main(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo")
    torch.manual_seed(rank)
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for step in range(40):
        x = torch.randn(16, 8)
        loss = (net(x) - x.sum(-1, keepdim=True)).pow(2).mean()
        if {fault} and step == 20 and rank == 1:
            loss = loss + torch.log(net.module[2].bias.sum() * 0 - 1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    store = dist.TCPStore("127.0.0.1", 0, 1, True, wait_for_workers=False)
    port = str(store.port)
    del store
    mp.start_processes(rank_main, (port,), nprocs=2, start_method={method!r})
"""


@pytest.mark.slow
@pytest.mark.parametrize(("method", "fault"), [("spawn", "True"), ("spawn", "False")])
def test_two_ranks_of_a_distributed_model(method: str, fault: str, tmp_path: Path) -> None:
    text = DISTRIBUTED.replace("{body}", "").replace("{fault}", fault).replace("{method!r}", repr(method))
    done = watch(tmp_path, text)
    assert done.status == 0, done.err
    assert "40 steps watched" in done.err
    if fault == "True":
        assert len(re.findall(r"aifix: watch: the loss is nan at step 20", done.err)) == 1  # once, whoever tells
        assert "first after layer 2 (AddBackward0)\n  train.nan-loss on rank 1" in done.err
    else:
        assert "no alarm" in done.err


HERE = """
import sys

sys.path.insert(0, {src!r})
import aifix

x = torch.randn(64, 8)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
with aifix.watch(net, optimizer, quiet={quiet}) as watching:
    train(net, optimizer, 2000, lambda _: (x, None))
print([one.id for one in watching.report().diagnoses], watching.alarms)
"""


@pytest.mark.slow
@pytest.mark.parametrize("quiet", [True, False])
def test_one_line_in_the_program_does_the_same(quiet: bool, tmp_path: Path) -> None:
    python = torch_python()
    code = "import msgspec, click, rapidfuzz, re2"
    if subprocess.run([python, "-c", code], capture_output=True, check=False).returncode:
        path = [entry for entry in sys.path if entry.endswith("site-packages")]
    else:
        path = []
    (tmp_path / "train.py").write_text(programs.HEAD + HERE.replace("{src!r}", repr(SRC)).replace("{quiet}", str(quiet)), encoding="utf-8")
    done = subprocess.run(
        [python, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200, env=environ(PYTHONPATH=":".join(path))
    )
    assert done.returncode == 0, done.stderr
    assert "['train.no-learning'] ('watch: the " in done.stdout
    assert ("aifix: watch: the " in done.stderr) is not quiet
    assert ("Try to overfit a single batch" in done.stderr) is not quiet


def test_the_import_stays_light() -> None:
    code = "import sys, aifix; assert 'torch' not in sys.modules and 'msgspec' not in sys.modules; print(callable(aifix.watch))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environ())
    assert done.stdout == "True\n", done.stderr


def test_a_command_without_torch_is_left_alone_and_said(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "watch", "--", sys.executable, "-c", "print(7); raise SystemExit(3)"],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=environ(), timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (3, "7\n")
    assert "nothing was watched: no torch optimizer made a step" in done.stderr


def test_a_failed_run_is_diagnosed_as_under_run(tmp_path: Path) -> None:
    code = "raise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB')"
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "watch", "--format", "json", "--", sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True, check=False, env=environ(), timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert json.loads(done.stdout)["diagnoses"][0]["id"] == "cuda.oom"


COST = """
import resource
import time

torch.set_num_threads(1)
net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.AdamW(net.parameters())
x, y = torch.randn(128, 256), torch.randint(0, 10, (128,))


def stretch(steps):
    begun = time.process_time()
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    return (time.process_time() - begun) / steps


stretch(30)
watched = getattr(torch, "_aifix_watcher", None)
bare, seen = [], []
for turn in range(16):
    for off, times in ((True, bare), (False, seen)) if turn % 2 else ((False, seen), (True, bare)):
        if watched is not None:
            watched.closed, watched.at = off, None
        times.append(stretch(12))
print("ratio", sorted(seen)[len(seen) // 4] / sorted(bare)[len(bare) // 4])
"""


@pytest.mark.slow
def test_a_step_of_a_small_model_costs_next_to_nothing_more(tmp_path: Path) -> None:
    """The figure is bench/watch.py's (below 2 %); here the machine may be busy, so the bound is generous."""
    ratios = []
    for _ in range(3):
        done = watch(tmp_path, COST)
        ratios.append(float(done.out.split()[-1]))
        if ratios[-1] < 1.06:
            break
    assert min(ratios) < 1.06, ratios
