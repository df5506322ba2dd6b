"""What `aifix watch` adds to a training step: real small models on the CPU, the same process with and without, in turns.

    python bench/watch.py [--python PATH] [--turns N]

Each model runs in the interpreter PATH (with torch) under the watcher; stretches of steps with the watcher on and off alternate, so that
both meet the same machine. Given are the medians of CPU seconds a step, their ratio, and the fixed cost of the hooks. The clock of a busy
machine tells little: CPU time does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SRC))

from aifix import injected  # noqa: E402

PROGRAM = """
import json
import statistics
import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
turns = int(sys.argv[1])


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def convolutions():
    first, second = (nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)), (nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU())
    return nn.Sequential(*first, *second, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


perceptron = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
blocks = nn.Sequential(nn.Linear(64, 64), *[Block(64) for _ in range(8)], nn.Linear(64, 10))
models = {
    "perceptron, 400 thousand weights, batch 128": (perceptron, torch.randn(128, 256), 10),
    "convolutions, 3 × 32 × 32, batch 16": (convolutions(), torch.randn(16, 3, 32, 32), 10),
    "eight residual blocks of 64, batch 64": (blocks, torch.randn(64, 64), 10),
}
watcher = torch._aifix_watcher
for name, (net, x, classes) in models.items():
    y = torch.randint(0, classes, (len(x),))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)

    def stretch(seconds):
        begun, steps = time.process_time(), 0
        while time.process_time() - begun < seconds:
            for _ in range(10):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                optimizer.step()
            steps += 10
        return (time.process_time() - begun) / steps

    watcher.steps.clear()
    watcher.step = 0
    stretch(1.0)
    bare, seen = [], []
    for turn in range(turns):
        for closed, times in [(True, bare), (False, seen)][:: 1 if turn % 2 else -1]:
            watcher.closed, watcher.at = closed, None
            times.append(stretch(0.25))
    watcher.closed = False
    ratios = [after / before for before, after in zip(bare, seen)]
    print(json.dumps({"model": name, "bare": statistics.median(bare), "watched": statistics.median(seen), "ratio": statistics.median(ratios)}))
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--python", default=sys.executable, help="an interpreter with torch")
    arguments.add_argument("--turns", type=int, default=24)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environ = injected.inside({**os.environ, "OMP_NUM_THREADS": "1"}, folder, ["watching"])
        done = subprocess.run([given.python, "-c", PROGRAM, str(given.turns)], env=environ, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            print(f"{row['model']:45} {row['bare'] * 1e3:8.3f} ms {row['watched'] * 1e3:8.3f} ms  {100 * (row['ratio'] - 1):+.2f} %")


if __name__ == "__main__":
    main()
