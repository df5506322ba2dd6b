"""Chaos: real gloo jobs in which one rank is killed, frozen, starved or wrong, and whether `aifix.ranks` names that rank and why.

    python tests/ranks/chaos.py --runs 200 --seed 1 [--python /path/with/torch] [--torchrun 10] [--keep DIR]

Every run is drawn from its seed: how many ranks, which of them fails how and at which step, whether lines carry times and clocks differ,
and how the logs lie: torchrun's folders (some runs are real torchrun), Slurm's files, one file a rank, Kubernetes pods, one file of all with
the prefixes of torchrun, srun, mpirun, kubectl or Ray. Ends with 1 below 98 %.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

PROGRAMS = Path(__file__).resolve().parent / "programs"
PROGRAM = PROGRAMS / "train.py"
GOAL = 0.98
JUDGING = threading.Lock()
"""One at a time: `ast.parse` of Python 3.11 does not stand several threads (python/cpython#106905)."""

# What must be said of each fault: how it began, and (where the rank itself says it) the diagnosis or the exception.
FAILED = {
    "index": {"tensor.index-bounds"},
    "embedding": {"tensor.embedding-index"},
    "matmul": {"tensor.matmul-shape"},
    "broadcast": {"tensor.broadcast"},
    "label": {"data.label-range"},
    "dtype": {"tensor.dtype-mismatch"},
    "view": {"tensor.view-size"},
    "stack": {"data.collate-unequal", "tensor.cat-shape"},
    "key": {"KeyError"},
    "attribute": {"AttributeError"},
    "zero": {"ZeroDivisionError"},
    "assert": {"AssertionError"},
    "json": {"json.decoder.JSONDecodeError", "data.decode"},
    "unpickle": {"_pickle.UnpicklingError", "ckpt.corrupt", "EOFError"},
    "file": {"host.file-not-found"},
    "module": {"deps.module-missing", "deps.flash-attn"},
    "checkpoint": {"ckpt.corrupt"},
    "keys": {"ckpt.keys", "ckpt.module-prefix"},
    "size": {"ckpt.size-mismatch"},
    "nan": {"train.nan-loss", "ValueError"},
    "disk": {"host.disk-full"},
    "file-limit": {"host.file-size"},
    "save-limit": {"host.file-size", "host.disk-full"},
    "memory": {"host.cpu-alloc"},
    "python-memory": {"host.cpu-alloc"},
    "segfault": {"host.segfault"},
}
BEGAN = {
    "kill": {"killed", "vanished"},
    "abort": {"killed", "vanished", "failed"},
    "exit": {"vanished", "failed"},
    "stop": {"frozen"},
    "busy": {"frozen"},
    "skip": {"diverged", "left-early"},
    "skip-gather": {"diverged", "left-early"},
    "leave": {"left-early", "diverged"},
}
WEIGHTS = dict.fromkeys(FAILED, 3)
WEIGHTS |= {"kill": 20, "abort": 4, "exit": 4, "stop": 18, "busy": 6, "skip": 12, "skip-gather": 6, "leave": 6}
WEIGHTS |= {"disk": 6, "file-limit": 5, "save-limit": 5, "memory": 8, "python-memory": 6}
LAYOUTS = ("torchrun", "slurm", "slurm-split", "files", "pods", "tee", "srun-label", "mpirun", "kubectl", "ray")


class Draw(NamedTuple):
    """One run."""

    seed: int
    fault: str
    ranks: int
    victim: int
    step: int
    layout: str
    stamps: bool
    ahead: float
    launcher: bool
    torchrun: bool
    plain: bool


class Outcome(NamedTuple):
    """What aifix said of a run."""

    draw: Draw
    rank_right: bool
    cause_right: bool
    said: str

    @property
    def right(self) -> bool:
        """Whether both are."""
        return self.rank_right and self.cause_right


def draw(seed: int, torchrun_share: float = 0.08, fault: str = "") -> Draw:
    """Draw a run from its seed."""
    chance = random.Random(seed)  # noqa: S311 - a run must be drawn again from its seed
    names = list(WEIGHTS)
    chosen = chance.choices(names, [WEIGHTS[name] for name in names])[0]
    ranks = chance.choice((3, 4))
    found = Draw(
        seed=seed,
        fault=fault or chosen,
        ranks=ranks,
        victim=chance.randrange(ranks),
        step=chance.randrange(1, 6),
        layout=chance.choice(LAYOUTS),
        stamps=chance.random() < 0.6,
        ahead=chance.choice((0.0, 0.0, 90.0, -3600.0)),
        launcher=chance.random() < 0.5,
        torchrun=chance.random() < torchrun_share,
        plain=chance.random() < 0.4,
    )
    return found._replace(layout="torchrun") if found.torchrun else found


class Nursery:
    """One process with torch imported, from which all ranks are forked."""

    def __init__(self, python: str) -> None:
        self.process = subprocess.Popen(
            [python, str(PROGRAMS / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )
        self.waiting: dict[int, tuple[threading.Event, list[list[list[float]]]]] = {}
        self.lock = threading.Lock()
        self.count = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            event, box = self.waiting.pop(answer["id"])
            box.append(answer["ends"])
            event.set()

    def run(self, job: dict[str, object], timeout: float) -> list[list[float]]:
        """Run a job; gives (status, seconds) of each rank."""
        event: threading.Event = threading.Event()
        box: list[list[list[float]]] = []
        assert self.process.stdin is not None
        with self.lock:
            self.count += 1
            self.waiting[self.count] = (event, box)
            self.process.stdin.write(json.dumps(job | {"id": self.count}) + "\n")
            self.process.stdin.flush()
        if not event.wait(timeout):
            message = "the ranks did not end"
            raise TimeoutError(message)
        return box[0]

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)


def free_port() -> int:
    """Find a port that is free now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def environ_of(run: Draw, folder: Path, timeout: float) -> dict[str, str]:
    """Give what the program needs to know."""
    scratch = folder.parent / f"{folder.name}-scratch"
    scratch.mkdir()
    return {
        "FAULT": run.fault,
        "VICTIM": str(run.victim),
        "FAULT_STEP": str(run.step),
        "STEPS": "8",
        "TIMEOUT": str(timeout),
        "STAMPS": "1" if run.stamps else "0",
        "SCRATCH": str(scratch),
        "OMP_NUM_THREADS": "1",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
    }


def start_torchrun(run: Draw, folder: Path, python: str, timeout: float) -> list[str]:
    """Run it under real torchrun: with a log folder, or with all that it and its ranks print in one file."""
    command = [python, "-m", "torch.distributed.run", "--nproc-per-node", str(run.ranks)]
    if not run.plain:
        command += ["--log-dir", str(folder / "logs"), "--redirects", "3"]
    with (folder / "launcher.log").open("wb") as log:
        subprocess.run(
            [*command, "--master-port", str(free_port()), str(PROGRAM)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | environ_of(run, folder, timeout),
            timeout=180,
            check=False,
        )
    if run.plain:
        return [str(folder / "launcher.log")]
    return [str(folder / "logs"), *([str(folder / "launcher.log")] if run.launcher else [])]


def start(run: Draw, folder: Path, nursery: Nursery, timeout: float) -> list[str]:
    """Run it from the nursery and lay its logs out; gives what to read."""
    raw = folder.parent / f"{folder.name}-raw"
    raw.mkdir()
    common = environ_of(run, folder, timeout) | {"WORLD_SIZE": str(run.ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    environs, outputs = [], []
    merged = run.layout in {"slurm", "files", "pods"}
    for rank in range(run.ranks):
        ahead = run.ahead if rank >= run.ranks // 2 else 0.0
        environs.append(common | {"RANK": str(rank), "LOCAL_RANK": str(rank), "CLOCK_AHEAD": str(ahead)})
        outputs.append([str(raw / f"{rank}.out"), str(raw / (f"{rank}.out" if merged else f"{rank}.err"))])
    ends = nursery.run({"program": str(PROGRAM), "environ": environs, "outputs": outputs, "grace": timeout + 4, "deadline": timeout + 40}, 120)
    return LAY[run.layout](run, folder, raw, ends)


# ---------------------------------------------------------------- how the logs lie


def _torchrun(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
    del ends
    for rank in range(run.ranks):
        place = folder / "logs" / "none_x3k9q_1a" / "attempt_0" / str(rank)
        place.mkdir(parents=True)
        shutil.copy2(raw / f"{rank}.out", place / "stdout.log")
        shutil.copy2(raw / f"{rank}.err", place / "stderr.log")
    return [str(folder)]


def _srun_words(run: Draw, ends: list[list[float]]) -> str:
    """Say what srun says, in the order in which the ranks ended."""
    words = {-9: "Killed", -11: "Segmentation fault", -6: "Aborted", -15: "Terminated", -7: "Bus error"}
    lines = []
    for rank in sorted(range(run.ranks), key=lambda rank: ends[rank][1]):
        status = int(ends[rank][0])
        if status:
            lines.append(f"srun: error: node{rank // 2:02d}: task {rank}: {words.get(status) or f'Exited with exit code {status}'}\n")
    return "".join(lines)


def _slurm(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
    for rank in range(run.ranks):
        shutil.copy2(raw / f"{rank}.out", folder / f"slurm-4711_{rank}.out")
    if run.launcher:
        (folder / "slurm-4711.out").write_text("srun: job 4711 has been allocated resources\n" + _srun_words(run, ends))
    return [str(folder)]


def _slurm_split(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
    del ends
    for rank in range(run.ranks):
        for kind in ("out", "err"):
            shutil.copy2(raw / f"{rank}.{kind}", folder / f"train.node{rank // 2:02d}.{rank}.{kind}")
    return [str(folder)]


def _files(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
    del ends
    for rank in range(run.ranks):
        shutil.copy2(raw / f"{rank}.out", folder / f"rank_{rank}.log")
    return sorted(str(path) for path in folder.iterdir())


def _pods(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
    del ends
    for rank in range(run.ranks):
        name = "llm-master-0" if rank == 0 else f"llm-worker-{rank - 1}"
        shutil.copy2(raw / f"{rank}.out", folder / f"{name}.log")
    return [str(folder)]


def _interleaved(run: Draw, raw: Path, out: list[str], err: list[str]) -> str:
    """Let the lines of all ranks come in turns, each behind its prefix, as a launcher that reads many pipes writes them."""
    chance = random.Random(run.seed)  # noqa: S311 - likewise
    queues = []
    for rank in range(run.ranks):
        told = [out[rank] + line for line in (raw / f"{rank}.out").read_text(errors="replace").splitlines(keepends=True)]
        told += [err[rank] + line for line in (raw / f"{rank}.err").read_text(errors="replace").splitlines(keepends=True)]
        queues.append(told)
    lines: list[str] = []
    while any(queues):
        queue = chance.choice([queue for queue in queues if queue])
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            if queue:
                line = queue.pop(0)
                lines.append(line if line.endswith("\n") else line + "\n")
    return "".join(lines)


def _one_file(prefix_out: str, prefix_err: str, name: str, head: str = "") -> object:
    def lay(run: Draw, folder: Path, raw: Path, ends: list[list[float]]) -> list[str]:
        pids = {}
        for rank in range(run.ranks):
            found = re.search(r"on pid (\d+)", (raw / f"{rank}.out").read_text())
            pids[rank] = found[1] if found else str(9000 + rank)

        def filled(text: str, rank: int) -> str:
            pod = "llm-node-0-0-x7k2p" if rank == 0 else f"llm-node-0-{rank}-b{rank}c5d"
            return text.format(rank=rank, pid=pids[rank], pod=pod, ip=f"10.0.0.{2 + rank // 2}")

        told = "".join(filled(head, rank) for rank in range(run.ranks)) if head else ""
        if name.startswith("ray") and told:
            told = f"(TorchTrainer pid=4000) Started distributed worker processes: \n{told}"
        told += _interleaved(
            run, raw, [filled(prefix_out, rank) for rank in range(run.ranks)], [filled(prefix_err, rank) for rank in range(run.ranks)]
        )
        if run.launcher and name.startswith("slurm"):
            told += _srun_words(run, ends)
        (folder / name).write_text(told)
        return [str(folder / name)]

    return lay


LAY = {
    "torchrun": _torchrun,
    "slurm": _slurm,
    "slurm-split": _slurm_split,
    "files": _files,
    "pods": _pods,
    "tee": _one_file("[default{rank}]:", "[default{rank}]:", "job.log"),
    "srun-label": _one_file("{rank}: ", "{rank}: ", "slurm-4711.out"),
    "mpirun": _one_file("[1,{rank}]<stdout>:", "[1,{rank}]<stderr>:", "mpi.log"),
    "kubectl": _one_file("[pod/{pod}/pytorch] ", "[pod/{pod}/pytorch] ", "pods.log"),
    "ray": _one_file(
        "(RayTrainWorker pid={pid}, ip={ip}) ",
        "(RayTrainWorker pid={pid}, ip={ip}) ",
        "ray.log",
        "(TorchTrainer pid=4000) - (node_id=af3, ip={ip}, pid={pid}) world_rank={rank}, local_rank={rank}, node_rank=0\n",
    ),
}


# ---------------------------------------------------------------- what is said of it


def judged(run: Draw, paths: list[str]) -> Outcome:
    """Ask aifix, and compare."""
    import aifix

    report = aifix.ranks(paths, jobs=1)
    verdict = report.verdict
    own = verdict.report
    names = set()
    if own is not None:
        names = {own.diagnoses[0].id} if own.diagnoses else {own.unknown.kind} if own.unknown is not None else set()
    rank_right = verdict.ranks == (run.victim,)
    if run.fault in BEGAN:
        cause_right = verdict.kind in BEGAN[run.fault]
    else:
        # a crash in native code that prints no stack (the signal alone) is named by the launcher
        cause_right = verdict.kind == "failed" and bool(names & FAILED[run.fault])
        cause_right = cause_right or (run.fault == "segfault" and verdict.kind == "killed" and "SIGSEGV" in verdict.title)
    said = f"{verdict.kind} {verdict.ranks} {verdict.certainty} {sorted(names)}: {verdict.title} | {'; '.join(verdict.why)}"
    return Outcome(run, rank_right, cause_right, said)


def one(run: Draw, nursery: Nursery, python: str, folder: Path, timeout: float = 5.0) -> Outcome:
    """Run and judge."""
    folder.mkdir(parents=True)
    paths = start_torchrun(run, folder, python, timeout) if run.torchrun else start(run, folder, nursery, timeout)
    with JUDGING:
        return judged(run, paths)


def main() -> int:
    """Run them all and say how many came out right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, default=None, help="this run alone")
    parser.add_argument("--fault", default="", help="this fault in all runs")
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--torchrun", type=float, default=8, help="percent of the runs that are real torchrun")
    parser.add_argument("--python", default=os.environ.get("AIFIX_TEST_TORCH", sys.executable))
    parser.add_argument("--keep", default="", help="keep the logs in this folder")
    given = parser.parse_args()
    place = Path(given.keep or tempfile.mkdtemp(prefix="chaos-"))
    seeds = [given.only] if given.only is not None else [given.seed * 100_000 + number for number in range(given.runs)]
    nursery = Nursery(given.python)
    runs = [draw(seed, given.torchrun / 100, given.fault) for seed in seeds]
    try:
        with ThreadPoolExecutor(given.parallel) as pool:
            outcomes = list(pool.map(lambda run: one(run, nursery, given.python, place / str(run.seed)), runs))
    finally:
        nursery.close()
        if not given.keep:
            shutil.rmtree(place, ignore_errors=True)
    for outcome in outcomes:
        if not outcome.right:
            print(f"WRONG {outcome.draw}\n      {outcome.said}")
    right = sum(outcome.right for outcome in outcomes)
    by_fault = Counter(outcome.draw.fault for outcome in outcomes)
    wrong = Counter(outcome.draw.fault for outcome in outcomes if not outcome.right)
    print(" ".join(f"{fault} {count - wrong[fault]}/{count}" for fault, count in sorted(by_fault.items())))
    print(
        f"rank right {sum(outcome.rank_right for outcome in outcomes)}, rank and cause right {right} of {len(outcomes)} ({right / len(outcomes):.1%})"
    )
    return 0 if right >= GOAL * len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
