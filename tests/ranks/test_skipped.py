"""A two-rank gloo job under real torchrun in which one rank skips a collective, through the pipe: which rank, which calls, and where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ranks import chaos

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ranks"),
    pytest.mark.skipif(sys.platform == "win32", reason="torchrun and gloo as Linux has them"),
]

PROGRAM = Path(__file__).parent / "programs" / "skips.py"


@pytest.mark.parametrize("debug", ["OFF", "DETAIL"])
def test_the_pipe_names_the_rank_that_left_a_collective_out(torch_python: str, debug: str) -> None:
    command = [torch_python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(chaos.free_port()), str(PROGRAM)]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {"TORCH_DISTRIBUTED_DEBUG": debug, "OMP_NUM_THREADS": "1"}
    )
    pipe = subprocess.run(
        [sys.executable, "-m", "aifix", "--format", "json"],
        stdin=job.stdout,
        capture_output=True,
        env=os.environ | {"AIFIX_NO_PROBE": "1", "AIFIX_NO_HISTORY": "1"},
        timeout=150,
        check=False,
    )
    job.wait(60)
    assert pipe.returncode == 1, pipe.stderr
    first = json.loads(pipe.stdout)["diagnoses"][0]
    facts = {name: fact["text"] for name, fact in first["facts"].items()}
    assert first["id"] == "dist.desync"
    assert {facts["op_type"].lower().replace("_", ""), facts["other_op_type"].lower()} == {"allreduce", "broadcast"}
    lines = PROGRAM.read_text().splitlines()
    if debug == "OFF":  # gloo says nothing of the difference: it is read off where each rank stands
        assert facts["parted_rank"] == "1"
        assert "rank 1" in first["title"]
        assert "broadcast" in lines[first["location"]["line"] - 1]
        assert facts["waits_at"] == f"skips.py:{1 + next(at for at, line in enumerate(lines) if 'all_reduce' in line)}"
