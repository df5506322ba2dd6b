"""Putting a specimen's claims to the test: it fails so, it is diagnosed so, and each fix ends it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from aifix import api
from aifix.lab.environment import missing
from aifix.lab.running import WarmError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aifix.lab.environment import Target
    from aifix.lab.running import Ran, Runner
    from aifix.lab.specimen import Proof, Specimen
    from aifix.model import Diagnosis, Report

_ONE_AT_A_TIME = threading.Lock()
"""The matcher's scratch memory is one for the process."""
LOG = "aifix-lab.log"
SKIP = shutil.ignore_patterns("specimen.yaml", "fixed-*", "__pycache__", "node_modules")


class Proven(msgspec.Struct, frozen=True):
    """Whether one fix ended the failure; `reason` says why not."""

    fix: str
    how: str
    ended: bool
    reason: str = ""
    seconds: float = 0.0
    output: str = ""


class Row(msgspec.Struct, frozen=True):
    """What became of one specimen."""

    name: str
    id: str
    verdict: Literal["right", "wrong", "skipped"]
    wrong: tuple[str, ...] = ()
    """Each claim that did not hold, in a sentence."""
    needs: str = ""
    """What it lacks here, where it was skipped."""
    status: int | None = None
    fails: bool = False
    diagnosed: bool = False
    found: tuple[str, ...] = ()
    """The ids of the report, the first root cause first."""
    confidence: float = 0.0
    fixes: tuple[Proven, ...] = ()
    unproven: dict[str, str] = {}
    seconds: float = 0.0
    output: str = ""


def verify(specimen: Specimen, target: Target, runner: Runner) -> Row:
    """Run a specimen and its fixed versions, and judge them."""
    lack = missing(specimen, target)
    if lack:
        return Row(specimen.name, specimen.id, "skipped", needs=lack)
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as place:
        folder = _copy(specimen, Path(place), "failing")
        ran = _run(specimen, runner, folder)
        report = _diagnose(specimen, ran, folder)
        wrong = list(_failing(specimen, ran))
        diagnosis, misjudged = _judge(specimen, report)
        wrong += misjudged
        proven = tuple(_prove(specimen, proof, runner, Path(place)) for proof in specimen.proofs)
        wrong += [f"fix {one.fix}: {one.reason}" for one in proven if not one.ended]
        if diagnosis is not None:
            wrong += _claims(specimen, diagnosis)
    return Row(
        specimen.name,
        specimen.id,
        "wrong" if wrong else "right",
        wrong=tuple(wrong),
        status=ran.status,
        fails=not any(_failing(specimen, ran)),
        diagnosed=diagnosis is not None and not misjudged,
        found=tuple(one.id for one in (*report.diagnoses, *report.hints)),
        confidence=diagnosis.confidence if diagnosis is not None else 0.0,
        fixes=proven,
        unproven=dict(specimen.form.unproven),
        seconds=ran.seconds + sum(one.seconds for one in proven),
        output=ran.output.decode("utf-8", "replace"),
    )


def _copy(specimen: Specimen, place: Path, name: str) -> Path:
    folder = place / name
    shutil.copytree(specimen.folder, folder, ignore=SKIP, symlinks=True)
    return folder


def command_of(specimen: Specimen, python: str, program: str) -> list[str]:
    """Give the command that runs a program of a specimen, by its kind."""
    stem, suffix = os.path.splitext(program)  # noqa: PTH122 - a name, no path
    if suffix == ".py" and specimen.form.ranks:
        return [python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={specimen.form.ranks}", program]
    compiled = {".c": f"gcc {program} -o {stem} -lm", ".cpp": f"g++ {program} -o {stem}", ".cu": f"nvcc {program} -o {stem}"}
    if suffix in compiled:
        return ["bash", "-c", f"{compiled[suffix]} && ./{stem}"]
    starters = {".py": [python], ".sh": ["bash"], ".go": ["go", "run"], ".js": ["node"], ".mjs": ["node"]}
    return [*starters[suffix], program]


def _run(specimen: Specimen, runner: Runner, folder: Path, program: str = "", *, env: dict[str, str] | None = None, command: str = "") -> Ran:
    program = program or specimen.program
    settings = {**specimen.form.env, **(env or {})}
    usual = program == specimen.program
    command = command or (specimen.form.command if usual else "")
    if command:
        return runner.anew(["bash", "-c", command], folder, settings, specimen.form.limit)
    if specimen.warm and program.endswith(".py"):
        try:
            return runner.warm(specimen.preload, folder, program, settings, specimen.form.limit)
        except WarmError:
            pass  # it died, or never came up: the program itself may still run
    return runner.anew(command_of(specimen, runner.python, program), folder, settings, specimen.form.limit)


def _log(specimen: Specimen, ran: Ran, folder: Path) -> Path:
    """Write a program's output into its folder, below the command that a terminal shows (and that the pipe knows from the process)."""
    called = (
        f"$ {' '.join(command_of(specimen, 'python', specimen.program))}\n" if specimen.program.endswith(".py") and not specimen.form.command else ""
    )
    path = folder / LOG
    path.write_bytes(called.encode() + ran.output)
    return path


def _diagnose(specimen: Specimen, ran: Ran, folder: Path) -> Report:
    """Diagnose a run as a user's log of it, beside its sources."""
    path = _log(specimen, ran, folder)
    with _ONE_AT_A_TIME:
        report = api.diagnose_file(path)
    path.unlink()
    return report


def _failing(specimen: Specimen, ran: Ran) -> Iterator[str]:
    wanted = specimen.form.status
    if ran.status is None:
        yield f"it did not end within {specimen.form.limit:.0f} s"
    elif wanted is None and ran.status == 0 and specimen.form.stands != "hint":
        yield "it does not fail: exit status 0"
    elif wanted is not None and ran.status != wanted:
        yield f"it ends with {ran.status}, not {wanted}"


def _judge(specimen: Specimen, report: Report) -> tuple[Diagnosis | None, list[str]]:
    """Find the diagnosis where it must stand; say what is wrong with it."""
    stands = specimen.form.stands
    listed = report.hints if stands == "hint" else report.diagnoses
    found = next((one for one in listed if one.id == specimen.id), None)
    ids = ", ".join(one.id for one in report.diagnoses) or "nothing"
    if report.hints:
        ids += f"; hints {', '.join(one.id for one in report.hints)}"
    if found is None:
        return None, [f"diagnosed as {ids}"]
    if stands == "first" and report.diagnoses[0].id != specimen.id:
        return found, [f"diagnosed, and not first: {ids}"]
    wrong = []
    for name, text in specimen.form.facts.items():
        got = found.facts[name].text if name in found.facts else None
        if got != str(text):
            wrong.append(f"fact {name} is {got!r}, not {str(text)!r}")
    return found, wrong


def _claims(specimen: Specimen, diagnosis: Diagnosis) -> Iterator[str]:
    """Compare what is proven with what the report offers: the best fix that can be tried here must be proven, and each proven one offered."""
    offered = [fix.id for fix in diagnosis.fixes]
    proofs = {proof.fix for proof in specimen.proofs}
    for fix in (*proofs, *specimen.form.unproven):
        if fix not in offered:
            yield f"fix {fix} is not offered for it; {', '.join(offered) or 'none is'}"
    best = next((fix for fix in offered if fix not in specimen.form.unproven), None)
    if best is not None and best not in proofs:
        yield f"the best fix, {best}, has no proof (and `unproven` does not say why)"


def _prove(specimen: Specimen, proof: Proof, runner: Runner, place: Path) -> Proven:
    folder = _copy(specimen, place, f"fixed-{proof.fix}")
    program = specimen.program
    if proof.how == "apply":
        refused = _apply(specimen, proof.fix, folder, runner)
        if refused:
            return Proven(proof.fix, proof.how, ended=False, reason=refused)
    elif proof.path is not None and proof.how == "folder":
        shutil.copytree(proof.path, folder, dirs_exist_ok=True, symlinks=True)
    elif proof.path is not None:
        program = program if proof.path.suffix == Path(program).suffix else proof.path.name
        shutil.copy(proof.path, folder / program)
    ran = _run(specimen, runner, folder, program, env=proof.form.env, command=proof.form.command)
    reason = _still(specimen, proof, ran, folder)
    return Proven(proof.fix, proof.how, not reason, reason, ran.seconds, ran.output.decode("utf-8", "replace"))


def _still(specimen: Specimen, proof: Proof, ran: Ran, folder: Path) -> str:
    """Say what is wrong with a fixed run; nothing when it ended well."""
    if ran.status is None:
        return f"the fixed program did not end within {specimen.form.limit:.0f} s"
    report = _diagnose(specimen, ran, folder)
    ids = ", ".join(one.id for one in report.diagnoses)
    if ran.status != proof.form.status:
        return f"the fixed program ends with {ran.status}" + (f" ({ids})" if ids else "")
    if report.failed:
        return f"the fixed program ends well, and is diagnosed as {ids or 'failed'}"
    if any(one.id == specimen.id for one in report.hints):
        return "the fixed program still gives the hint"
    says = proof.form.says or specimen.form.says
    if says and says not in ran.output.decode("utf-8", "replace"):
        return f"the fixed program does not say {says!r}"
    return ""


def _apply(specimen: Specimen, fix: str, folder: Path, runner: Runner) -> str:
    """Run the program again in the folder that is to be patched, and let `aifix fix --apply` patch it; say why it did not."""
    log = _log(specimen, _run(specimen, runner, folder), folder)
    environ = {**os.environ, "AIFIX_STATE": str(folder.parent / f"state-{fix}"), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "aifix", "fix", fix, log.name, "--apply", "--for", specimen.id]
    done = subprocess.run(command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    log.unlink()
    if done.returncode == 0:
        return ""
    return f"aifix fix --apply refuses: {(done.stderr or done.stdout).strip().rpartition(chr(10))[2]}"


def verify_all(specimens: Sequence[Specimen], target: Target, runner: Runner, jobs: int) -> Iterator[Row]:
    """Verify specimens, several at a time; rows come in the given order as they are done."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        yield from pool.map(lambda one: verify(one, target, runner), specimens)
