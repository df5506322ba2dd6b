"""Nothing of a stranger's paints the terminal: neither a log, nor names of files, rules, variables or processes, in any command that prints."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
from tests.e2e.harness import OOM, Installed
from tests.memory_snapshot.allocator import Allocator

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names of files as POSIX allows them")
PAINT = {
    "colour": "\x1b[31m",
    "screen": "\x1b[2J\x1b[1;1H",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil.example/\x1b\\here\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJm\x07",
    "device control": "\x1bP$q\x1b\\",
    "program command": "\x1b_Gq\x1b\\\x1b^x\x1b\\\x1bXy\x1b\\",
    "unfinished": "\x1b]0;rest of the line",
    "C1": "\x9b31m\x9d0;owned\x9c\x90q\x9c\x85",
    "bidi": "\u202e\u2066\u2069\u202a\u202c\u200f\u061c",
    "zero width": "\u200b\u200d\u2060\ufeff\u00ad",
    "tags": "\U000e0041\U000e0042\U000e007f",
    "separators": "\u2028\u2029",
    "bells": "\x07\x08\x0b\x0c\x0e\x0f\x7f\x00",
    "returns": "hidden\rshown",
    "private": "\ue000\U000f0000",
}
MARK = "".join(PAINT.values())
RAW = b"\x9b31m\x9d0;owned\x07\x90q\x9c\xff\xfe"
"""C1 controls as bytes that are no UTF-8."""


def hostile(text: str = MARK) -> bytes:
    """Put strange characters wherever the log of a failure has room for them."""
    log = OOM.decode()
    log = log.replace("CUDA out of memory. Tried", f"CUDA out of memory. Tried{text}" if "\n" not in text else "CUDA out of memory. Tried")
    log = log.replace("/workspace/model.py", f"/work{text}space/model.py").replace("in forward", f"in for{text}ward")
    rest = f"{text}\nKeyError: '{text}'\n[rank1]: ValueError: no{text} such\nTraceback (most recent call last):\n  File \"{text}.py\", line 3, in x{text}\n"
    return rest.encode() + OOM + log.encode() + RAW + b"\n" + RAW + OOM.splitlines(keepends=True)[50] + RAW


def is_plain(data: bytes) -> bool:
    text = data.decode("utf-8")  # raises where raw bytes got through
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def strange(here: Installed, tmp_path: Path) -> Installed:
    """Give an aifix whose folder, variables and rules are a stranger's."""
    (tmp_path / "log").write_bytes(hostile())
    named = tmp_path / f"a{MARK.replace(chr(0), '').replace('/', '')[:80]}.log"
    named.write_bytes(hostile())
    os.link(named, tmp_path / "named.log")
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    for rank in range(2):
        (ranks / f"rank_{rank}.log").write_bytes(hostile())
    (ranks / f"x\x1b[31m{chr(0x202E)}_rank_2.log").write_bytes(hostile())
    (tmp_path / "dumps").mkdir()
    for rank in range(2):
        entry = {"collective_seq_id": 3, "p2p_seq_id": 0, "op_id": 3, "profiling_name": f"nccl:all_reduce{MARK}", "state": f"sched{MARK}", "frames": [],
                 "process_group": ["0", f"def{MARK}"], "pg_id": 0, "input_sizes": [[rank + 2]], "output_sizes": [[2]], "input_dtypes": [f"Float{MARK}"],
                 "output_dtypes": ["Float"], "time_created_ns": 1, "timeout_ms": 1000, "is_p2p": False, "retired": False}  # fmt: skip
        entry["frames"] = [{"name": f"step{MARK}", "filename": f"/w/{MARK}.py", "line": 3}]
        dump = {"version": "2.5", "pg_config": {"0": {"name": "0", "desc": f"d{MARK}", "ranks": "[0, 1]"}}, "pg_status": {}, "entries": [entry]}
        (tmp_path / "dumps" / f"nccl_trace_rank_{rank}").write_text(json.dumps(dump))
    safe = '"' + "".join(f"\\U{ord(c):08x}" for c in MARK) + '"'  # a YAML string, its characters as escapes
    memory = Allocator()
    memory.malloc(3 << 20, [{"name": f"step{MARK}", "filename": f"/w/{MARK}/train.py", "line": 3}])
    (tmp_path / "memory.pickle").write_bytes(pickle.dumps(memory.snapshot()))
    for name, needs in (("cuda.oom", "programs"), ("cuda.no-gpu", "")):
        specimen = tmp_path / "lab" / name
        specimen.mkdir(parents=True)
        (specimen / "fail.py").write_text(f"import sys\nsys.stdout.buffer.write({hostile()!r})\nsys.exit(1)\n")
        (specimen / f"fixed-x{chr(0x1B)}[31m{chr(0x202E)}.py").write_text(f"import sys\nsys.stdout.buffer.write({hostile()!r})\n")
        (specimen / "specimen.yaml").write_text(f"says: {safe}\nprograms: [{safe}]\n" if needs else f"says: {safe}\n")
    rules = tmp_path / ".aifix" / "rules"
    rules.mkdir(parents=True)
    (rules / "mine.yaml").write_text(
        f"id: my.rule\ntitle: {safe}\nseverity: error\nexplain: {safe}\nsignatures:\n  - pattern: 'no{{what:text}} such'\n"
        f"fixes:\n  - {{id: pet, title: {safe}, prior: 0.5, effort: low, risk: {safe}, do: [{{kind: note, text: {safe}}}, {{kind: command, text: {safe}}}]}}\n"
    )
    (rules / "broken.yaml").write_text(f"id: my.broken\ntitle: {safe}\nseverity: {safe}\nexplain: x\nsignatures: []\n{safe}: 3\n")
    (rules / f"b{chr(0x1B)}[2J{chr(0x202E)}.yaml").write_text("id: [\n")
    paint = MARK.replace("\0", "")
    here.environ |= {"CUDA_VISIBLE_DEVICES": paint, "LD_LIBRARY_PATH": paint, "HOSTNAME": paint, "PYTHONPATH": f"/x{paint}", "NCCL_DEBUG": paint,
                     "MASTER_ADDR": paint, "MASTER_PORT": paint, "RANK": paint, "VIRTUAL_ENV": f"/v{paint}", "TMPDIR": str(tmp_path), "LANG": paint}  # fmt: skip
    return here


COMMANDS = [
    "diagnose log", "diagnose --verbose --probe log", "diagnose named.log log", "diagnose -f json log", "diagnose -f sarif log", "diagnose -f github log",
    "why log", "explain", "ranks ranks", "ranks ranks -f json", "flight dumps", "flight dumps -f json", "rules list", "rules lint", "rules test my.rule",
    "kb list", "kb show my.rule", "kb search widget", "report log", "fix 1 log", "fix 2 log", "history", "history show 1", "history stats", "resolved 1",
    "history -f json", "history show 1 -f json", "history export -", "snapshot memory.pickle", "snapshot memory.pickle -f json",
    "snapshot --verbose memory.pickle", "lab list --specimens lab", "lab run --specimens lab --verbose", "lab run --specimens lab -f json",
    "kb show my.rule -f json", "kb search widget -f json", "probe -f json deps", "why -f json log",
    "probe host", "probe cuda", "probe dist", "probe deps", "probe data", "probe memory", "probe -f json host", "rerun --dry-run -- x", "rules show my.rule",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_paints(strange: Installed, command: str) -> None:
    if command.split(maxsplit=1)[0] in {"history", "resolved"}:
        strange.run("diagnose", "--remember", "log")
    if command.startswith("lab"):  # which proves nothing by rules that cannot be read
        shutil.rmtree(strange.folder / ".aifix")
    more = [f"RuntimeError: no{MARK.replace(chr(0), '')} such"] if command == "explain" else []
    done = strange.run(*command.split(), *more, timeout=120)
    assert done.status in {0, 1, 2}, done.err
    assert is_plain(done.out), [line for line in done.out.decode().split("\n") if not line.isprintable()]
    assert is_plain(done.err.encode()), [line for line in done.err.split("\n") if not line.isprintable()]
    assert done.out or done.err
    assert "fault of aifix" not in done.err
    if command.startswith("lab"):
        assert "no-gpu" in done.out.decode()  # it was read


@pytest.mark.parametrize("kind", PAINT)
def test_the_pipe_passes_it_and_does_not_say_it(here: Installed, kind: str) -> None:
    data = hostile(PAINT[kind])
    done = here.run(data=data)
    assert done.out == data
    assert done.status == 1
    assert "cuda.oom" in done.err
    assert is_plain(done.err.encode()), [line for line in done.err.split("\n") if not line.isprintable()]


@pytest.mark.parametrize("command", ["run", "watch"])
def test_a_supervised_run_passes_it_and_does_not_say_it(strange: Installed, command: str) -> None:
    done = strange.run(command, "--", "sh", "-c", "cat log; exit 3", timeout=120)
    assert done.status == 3
    assert done.out == hostile()
    assert is_plain(done.err.encode()), [line for line in done.err.split("\n") if not line.isprintable()]


def test_the_name_of_a_command_is_said_plainly(here: Installed) -> None:
    done = here.run("run", "--", f"no{MARK.replace(chr(0), '').replace('/', '')}such")
    assert done.status == 127
    assert is_plain(done.err.encode())
    for arguments in (["diagnose", f"{MARK.replace(chr(0), '')}"], ["kb", "show", f"x{MARK.replace(chr(0), '')}"], [f"{MARK.replace(chr(0), '')}"]):
        done = here.run(*arguments)
        assert done.status == 2
        assert is_plain(done.err.encode()), (arguments, done.err)
