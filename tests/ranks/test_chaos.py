"""Real gloo ranks that are killed, frozen, starved or wrong: the right rank and cause, however the logs lie. `chaos.py --runs 200` runs many more."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ranks import chaos

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ranks"),
    pytest.mark.skipif(sys.platform != "linux", reason="forks, signals and /proc as Linux has them"),
]

CASES = [
    ("kill", "torchrun"),
    ("kill", "kubectl"),
    ("stop", "srun-label"),
    ("busy", "files"),
    ("skip", "tee"),
    ("skip-gather", "slurm-split"),
    ("leave", "mpirun"),
    ("disk", "ray"),
    ("memory", "slurm"),
    ("checkpoint", "pods"),
    ("key", "tee"),
]


@pytest.fixture(scope="module")
def outcomes(nursery: chaos.Nursery, torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], chaos.Outcome]:
    """All runs, some at a time: they wait for time-outs more than they work."""
    place = tmp_path_factory.mktemp("chaos")
    runs = {case: chaos.draw(20_260 + number, 0.0, case[0])._replace(layout=case[1]) for number, case in enumerate(CASES)}
    runs["index", "real torchrun"] = chaos.draw(7, 1.0, "index")._replace(launcher=True)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda run: chaos.one(run, nursery, torch_python, place / str(run.seed), timeout=8.0), runs.values())
        return dict(zip(runs, found, strict=True))


@pytest.mark.parametrize("case", [*CASES, ("index", "real torchrun")], ids=" in ".join)
def test_the_rank_and_its_fault_are_named(case: tuple[str, str], outcomes: dict[tuple[str, str], chaos.Outcome]) -> None:
    outcome = outcomes[case]
    assert outcome.right, f"{outcome.draw}\n{outcome.said}"
