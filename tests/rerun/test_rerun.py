"""What is announced and set, that the program runs as it would without, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect
import pytest
from tests.rerun.parts import environ, rerun
from tests.supervise.parts import supervise
from tests.torches import torch_python

from aifix.rerun.instruments import ALSO, ASKED, EXCLUSIVE, GENERAL, INSTRUMENTS, asked_for

CRASH = "import faulthandler\nprint('before', flush=True)\nfaulthandler._sigsegv()\n"
SEGFAULT = "Segmentation fault (core dumped)\n"


def log(folder: Path, text: str) -> str:
    file = folder / "first.log"
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("identity", "names"),
    [
        ("cuda.oom", {"memory-history"}),
        ("cuda.oom-fragmentation", {"memory-history"}),
        ("cuda.device-assert-label", {"synchronous", "faulthandler"}),
        ("cuda.illegal-memory-access", {"synchronous", "faulthandler"}),
        ("rocm.oom", {"synchronous-rocm", "faulthandler"}),
        ("autograd.inplace", {"anomaly", "inplace"}),
        ("autograd.nan-backward", {"anomaly", "nan"}),
        ("dist.nccl-timeout", {"flight-recorder", "distributed-detail", "nccl-debug", "faulthandler"}),
        ("data.worker-died", {"single-process", "samples", "faulthandler"}),
        ("host.segfault", {"faulthandler", "imports", "samples"}),
        ("host.lib-missing", {"loader", "imports"}),
        ("npm.eresolve", set(GENERAL)),
    ],
)
def test_each_diagnosis_asks_for_its_instruments(identity: str, names: set[str]) -> None:
    chosen, _ = asked_for([identity])
    assert {one.name for one in chosen} == names


def test_the_tables_name_only_instruments_and_ids_that_exist() -> None:
    from fnmatch import fnmatchcase

    from aifix import api

    rows = [names for _, names in (*ASKED, *ALSO)] + [GENERAL, tuple(EXCLUSIVE), tuple(EXCLUSIVE.values())]
    assert {name for row in rows for name in row} <= set(INSTRUMENTS)
    ids = list(api.rule_base())
    assert [pattern for pattern, _ in ASKED if not any(fnmatchcase(one, pattern) for one in ids)] == []


def test_a_dry_run_says_what_it_would_set_and_runs_nothing(tmp_path: Path) -> None:
    first = log(tmp_path, "RuntimeError: CUDA error: device-side assert triggered\n")
    done = rerun("--from", first, "--dry-run", "--", "touch", "made", cwd=tmp_path)
    assert done.status == 0
    assert "would run again: touch made" in done.err
    assert "sets CUDA_LAUNCH_BLOCKING=1 TORCH_SHOW_CPP_STACKTRACES=1 PYTHONFAULTHANDLER=1" in done.err
    assert not (tmp_path / "made").exists()


def test_what_the_environment_has_already_is_not_announced(tmp_path: Path) -> None:
    first = log(tmp_path, "RuntimeError: CUDA error: device-side assert triggered\n")
    done = rerun("--from", first, "-n", "--", "true", cwd=tmp_path, CUDA_LAUNCH_BLOCKING="1")
    assert "CUDA_LAUNCH_BLOCKING" not in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no command was given, and the history is switched off"),
        (("--from", "x.log"), "no command was given"),
        (("--with", "magic", "--", "true"), "there is no instrument 'magic'"),
        (("--from", "absent.log", "--", "true"), "absent.log cannot be read: No such file or directory"),
        (("--log", "absent/x.log", "--", "true"), "absent/x.log cannot be written: No such file or directory"),
        (("--stall", "soon", "--", "true"), "no length of time"),
    ],
)
def test_bad_usage_ends_with_2_and_one_sentence(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = rerun(*arguments, cwd=tmp_path)
    assert done.status == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_the_list_of_instruments_has_them_all(tmp_path: Path) -> None:
    done = rerun("--instruments", cwd=tmp_path)
    assert done.status == 0
    assert [name for name in INSTRUMENTS if name not in done.out] == []


def test_the_exit_status_is_the_command_s_own_and_a_well_run_is_said(tmp_path: Path) -> None:
    assert rerun("--", "sh", "-c", "exit 7", cwd=tmp_path).status == 7
    assert rerun("--", "no-such-command-here", cwd=tmp_path).status == 127
    done = rerun("--from", log(tmp_path, SEGFAULT), "--", sys.executable, "-c", "print('fine')", cwd=tmp_path)
    assert done.status == 0
    assert done.out == "fine\n"
    assert "with the instruments it ended well; host.segfault did not come back" in done.err


def test_without_a_first_run_a_crash_still_comes_out_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text(CRASH, encoding="utf-8")
    done = rerun("--", sys.executable, "crash.py", cwd=tmp_path)
    assert done.status == 139
    assert "the first run's diagnosis is not known" in done.err
    assert done.out == "before\n"
    assert "crash.py:3 in <module>: faulthandler._sigsegv()" in done.err.splitlines()[-1]


def test_the_last_failure_of_the_history_is_run_again_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "crash it.py").write_text(CRASH, encoding="utf-8")
    kept = {"AIFIX_HOME": str(tmp_path / "home"), "AIFIX_NO_HISTORY": ""}
    first = supervise("--", sys.executable, "crash it.py", cwd=tmp_path / "job", **kept)
    assert first.status == 139
    done = rerun("--format", "json", cwd=tmp_path, **kept)
    assert "the first run ended with host.segfault: Segmentation fault (failure 1 of the history)" in done.err
    assert (done.status, done.blame) == (139, ("crash it.py", 3))
    named = rerun("--dry-run", "--", sys.executable, "crash it.py", cwd=tmp_path / "job", **kept)
    assert "host.segfault" in named.err
    assert "host.segfault" not in rerun("--dry-run", "--", sys.executable, "crash it.py", cwd=tmp_path, **kept).err


def test_a_command_that_held_a_secret_is_not_run_without_it(tmp_path: Path) -> None:
    kept = {"AIFIX_HOME": str(tmp_path / "home"), "AIFIX_NO_HISTORY": ""}
    supervise("--", sys.executable, "-c", "raise SystemExit(3)", "--api-key", "hf_" + "a" * 34, cwd=tmp_path, **kept)
    done = rerun(cwd=tmp_path, **kept)
    assert done.status == 2
    assert "is not kept whole (it held a secret" in done.err


def test_the_output_passes_through_a_terminal_as_before(tmp_path: Path) -> None:
    (tmp_path / "crash.py").write_text("import sys\nprint('tty', sys.stdout.isatty(), sys.stderr.isatty())\n" + CRASH, encoding="utf-8")
    child = pexpect.spawn(sys.executable, ["-m", "aifix", "rerun", "--", sys.executable, "crash.py"], cwd=str(tmp_path), env=environ(), timeout=60)
    child.expect("tty True True")
    child.expect(r"to blame: .*crash\.py:5 in <module>")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 139


# ---------------------------------------------------------------- the program is left as it is


def inside(folder: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
    done = rerun("--from", log(folder, SEGFAULT), "-q", "--", sys.executable, *arguments, cwd=folder, **more)
    return done.status, done.out, done.err


def test_the_user_s_own_sitecustomize_runs(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = __file__\n", encoding="utf-8")
    code = "import sitecustomize, sys; print(mine, sitecustomize.__file__, any('injected' in entry for entry in sys.path))"
    status, out, _ = inside(tmp_path, "-c", code, PYTHONPATH=str(tmp_path / "own"))
    own = str(tmp_path / "own" / "sitecustomize.py")
    assert (status, out) == (0, f"{own} {own} False\n")


def test_a_sitecustomize_that_fails_is_reported_by_python_as_ever(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("raise ValueError('mine')\n", encoding="utf-8")
    status, out, err = inside(tmp_path, "-c", "print('on')", PYTHONPATH=str(tmp_path / "own"))
    assert (status, out) == (0, "on\n")
    assert "Error in sitecustomize" in err
    assert "ValueError: mine" in err


def test_children_are_instrumented_too(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CRASH, encoding="utf-8")
    code = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, 'child.py']).returncode != 0)"
    done = rerun("--from", log(tmp_path, SEGFAULT), "--format", "json", "--", sys.executable, "-c", code, cwd=tmp_path)
    assert done.status == 1
    assert Path(done.blame[0]).name == "child.py"
    assert done.blame[1] == 3


def test_an_isolated_python_runs_as_ever_and_it_is_said_that_nothing_came_in(tmp_path: Path) -> None:
    status, out, err = inside(tmp_path, "-I", "-c", "print('alone')")
    assert (status, out) == (0, "alone\n")
    assert "no Python of this run took the instruments inside" in err


def test_events_that_cannot_be_written_do_not_disturb(tmp_path: Path) -> None:
    code = "import os, sys; os.environ['AIFIX_EVENTS'] = '/proc/none'; import json; print(json.dumps(1))"
    assert inside(tmp_path, "-c", code)[:2] == (0, "1\n")


@pytest.mark.slow
def test_a_healthy_training_gives_the_same_numbers_with_every_instrument(tmp_path: Path) -> None:
    python = torch_python()
    (tmp_path / "train.py").write_text(
        """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Dropout(0.2), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(net.parameters())
    data = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=8, num_workers=2, shuffle=True)
    for epoch in range(2):
        for x, y in data:
            loss = (net(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(repr([p.double().sum().item() for p in net.parameters()]))
""",
        encoding="utf-8",
    )
    import subprocess

    bare = subprocess.run([python, "train.py"], cwd=tmp_path, capture_output=True, text=True, check=True, env=environ()).stdout
    every = [word for name in INSTRUMENTS if name not in {"synchronous-rocm", "loader"} for word in ("--with", name)]
    done = rerun(*every, "--keep", "kept", "--", python, "train.py", cwd=tmp_path)
    assert (done.status, done.out) == (0, bare), done.err
    events = (tmp_path / "kept" / "events.jsonl").read_text(encoding="utf-8")
    assert '"kind": "single-process"' in events
    assert '"broken"' not in events


def test_every_written_file_goes_away_unless_it_is_kept(tmp_path: Path) -> None:
    rerun("--", sys.executable, "-c", "1", cwd=tmp_path, TMPDIR=str(tmp_path))
    assert list(tmp_path.glob("aifix-rerun*")) == []
    rerun("--keep", "kept", "--", sys.executable, "-c", "1", cwd=tmp_path)
    assert (tmp_path / "kept" / "output.log").exists()


def test_a_failure_that_was_not_known_before_is_run_once_more_with_what_it_asks_for(tmp_path: Path) -> None:
    words = "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.FloatTensor [4, 8]]"
    (tmp_path / "fail.py").write_text(f"raise SystemExit({words!r})\n")
    done = rerun("--", sys.executable, "fail.py", cwd=tmp_path)
    (line,) = [line.strip() for line in done.err.split("\n") if line.startswith("aifix:   aifix rerun --from")]
    assert "autograd.inplace asks for more (anomaly, inplace)" in done.err
    kept = Path(line.partition("--from ")[2].partition(" -- ")[0])
    assert words in kept.read_text(), "what is named is still there"
    once_more = rerun("--from", str(kept), "--dry-run", "--", sys.executable, "fail.py", cwd=tmp_path)
    assert "the first run ended with autograd.inplace" in once_more.err
