"""Torch's own tools read the simulated snapshots, and count as aifix does."""

from __future__ import annotations

import json
import subprocess
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from tests.flight_recorder.conftest import ANALYZER
from tests.memory_snapshot.programs import PROGRAMS
from tests.torches import torch_python

from aifix.memory_snapshot import snapshot

if TYPE_CHECKING:
    from pathlib import Path

READ = """
    import json, pickle, sys
    from pathlib import Path
    from torch.cuda import _memory_viz as viz

    found = {}
    for file in Path(sys.argv[1]).glob("*.pickle"):
        data = pickle.loads(file.read_bytes())
        asked = sum(block["requested_size"] for segment in data["segments"] for block in segment["blocks"] if block["state"] == "active_allocated")
        found[file.stem] = {
            "stats": viz.segsum(data),  # raises where sizes do not add up
            "trace": viz.trace(data).count("\\n"),
            "segments": viz.segments(data, format_flamegraph=lambda lines: lines),
            "memory": viz.memory(data, format_flamegraph=lambda lines: lines).count("\\n"),
            "page": len(viz.trace_plot(data)),
            "asked": asked,
            "reserved": sum(segment["total_size"] for segment in data["segments"]),
            "unpaired": sum(len(trace) for trace in viz.filter_alloc_free_pairs(data)["device_traces"]),
        }
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def torch_says(snapshots: Path) -> dict[str, Any]:
    python = torch_python(ANALYZER)
    done = subprocess.run(
        [python, "-c", textwrap.dedent(READ), str(snapshots)], cwd=snapshots, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_torch_accepts_them_and_counts_the_same(name: str, torch_says: dict[str, Any], snapshots: Path) -> None:
    says = torch_says[name]
    (device,) = snapshot(snapshots / f"{name}.pickle").devices
    assert (says["asked"], says["reserved"]) == (device.now.asked, device.now.reserved)
    assert f"segments: {device.now.segments}\n" in says["stats"]
    assert says["trace"] >= device.events
    assert says["memory"] > 0
    assert says["page"] > 1000
