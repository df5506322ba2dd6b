"""The checks of others, and ours beside them: pip check, npm ls, torch's collect_env and its reader of flight-recorder dumps."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]


class Pair(NamedTuple):
    """Two commands that answer the same question: their names, and in which folder they run."""

    ours: str
    mine: list[str]
    yardstick: str
    other: list[str]


def pairs(aifix: str, target: str, scratch: Path) -> Iterator[Pair]:
    """Give what can be compared here.

    Args:
        aifix: the command.
        target: a Python, best one with torch.
        scratch: where trees and dumps are made.
    """
    yield Pair("probe deps.python", [aifix, "probe", "deps.python", "--python", target], "pip check", [target, "-m", "pip", "check"])
    npm = shutil.which("npm")
    if npm:
        folder = _tree(scratch / "tree", 150)
        # npm ls exits with an error over the two versions that stand apart from the lock file's; both look at the same tree
        yield Pair(
            "probe deps.node, which asks npm too",
            [aifix, "probe", "deps.node", "--node", str(folder)],
            "npm ls --all",
            [npm, "ls", "--all", "--json", "--prefix", str(folder)],
        )
    if subprocess.run([target, "-c", "import torch.utils.collect_env"], capture_output=True, check=False).returncode:
        print("no torch in the target: --target PYTHON names one; collect_env and the flight recorder's reader are left out", file=sys.stderr)
        return
    log = ROOT / "src" / "aifix" / "examples" / "cuda-oom.log"
    yield Pair(
        "report, without importing torch",
        [aifix, "report", str(log), "--python", target],
        "collect_env",
        [target, "-m", "torch.utils.collect_env"],
    )
    dumps = _dumps(scratch / "flight", 32, 2000)
    analyzer = "torch.distributed.flight_recorder.fr_trace"
    if subprocess.run([target, "-c", f"import {analyzer}"], capture_output=True, check=False).returncode == 0:
        yield Pair(
            "flight, 32 ranks x 2,000 calls",
            [aifix, "flight", str(dumps)],
            "torchfrtrace",
            [target, "-m", analyzer, "-p", "nccl_trace_rank_", str(dumps)],
        )


def _tree(folder: Path, packages: int) -> Path:
    """Write a project with a lock file and its installed packages, each of which needs the next."""
    names = [f"package-{number}" for number in range(packages)]
    root = {"name": "app", "version": "1.0.0", "dependencies": dict.fromkeys(names[::10], "^1.0.0")}
    locked: dict[str, Any] = {"": root}
    for number, name in enumerate(names):
        needed = {names[number + 1]: "^1.0.0"} if number + 1 < packages else {}
        inside = folder / "node_modules" / name
        inside.mkdir(parents=True, exist_ok=True)
        (inside / "package.json").write_text(json.dumps({"name": name, "version": "1.0.0", "dependencies": needed}), "utf-8")
        locked[f"node_modules/{name}"] = {"version": "1.0.0", "dependencies": needed}
    (folder / "package.json").write_text(json.dumps(root), "utf-8")
    (folder / "package-lock.json").write_text(
        json.dumps({"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": locked}), "utf-8"
    )
    return folder


def _dumps(folder: Path, ranks: int, calls: int) -> Path:
    """Write dumps in the flight recorder's form, of ranks of which one did not come to the last call."""
    sys.path.insert(0, str(ROOT))
    from tests.flight_recorder.parts import call, dump

    folder.mkdir(parents=True, exist_ok=True)
    group = {("0", "default_pg"): tuple(range(ranks))}
    done = [call("all_reduce", number) for number in range(1, calls)]
    for rank in range(ranks):
        entries = done if rank == 5 else [*done, call("all_reduce", calls, state="started")]
        (folder / f"nccl_trace_rank_{rank}").write_bytes(pickle.dumps(dump(entries, group), protocol=2))
    return folder
