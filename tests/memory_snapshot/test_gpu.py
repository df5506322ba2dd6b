"""Real snapshots, recorded on a card: the same mistakes, the same verdicts as with the simulated ones."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from aifix.memory_snapshot import snapshot

if TYPE_CHECKING:
    from pathlib import Path

RECORD = """
    import sys, torch
    torch.cuda.memory._record_memory_history(max_entries=100_000)
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(6)]).to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    kept, total = [], 0
    for _ in range(60):
        out = model(torch.randn(256, 1024, device="cuda"))
        loss = out.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if sys.argv[1] == "kept":
            kept.append(out.detach())
        if sys.argv[1] == "graph":
            total = total + model(torch.randn(256, 1024, device="cuda")).mean()
    if sys.argv[1] == "oom":
        try:
            torch.empty(1 << 44, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            pass
    torch.cuda.memory._dump_snapshot(sys.argv[2])
"""


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("mistake", "ids"), [("none", []), ("kept", ["train.memory-growth"]), ("graph", ["train.memory-growth"]), ("oom", ["cuda.oom"])]
)
def test_of_a_real_card(mistake: str, ids: list[str], tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    file = tmp_path / "memory.pickle"
    subprocess.run([sys.executable, "-c", textwrap.dedent(RECORD), mistake, str(file)], timeout=280, check=True)
    found = snapshot(file)
    assert [diagnosis.id for diagnosis in found.diagnoses] == ids
    kinds = found.devices[0].kinds
    assert kinds["parameters"] >= 6 * 1024 * 1024 * 4
    assert kinds["optimizer"] >= 2 * 6 * 1024 * 1024 * 4
