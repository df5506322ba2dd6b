from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from aifix import api
from aifix.fixes import command_line, source, values
from aifix.intake import document as intake

if TYPE_CHECKING:
    from pathlib import Path

    from aifix.model import Fact

PROGRAM = """\
import argparse
p = argparse.ArgumentParser()
p.add_argument("--batch-size", "-b", type=int, default=64)
p.add_argument("--lr", type=float, default=1e-3)
args = p.parse_args()
WORKERS = 8
val_loader = DataLoader(val, batch_size=7)
train_loader = DataLoader(train, batch_size=args.batch_size, num_workers=WORKERS, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
with torch.autocast("cuda"):
    loss = model(x)
loss.backward()
optimizer.step()
"""


def log_of(path: Path, line: int, text: str, head: str = "") -> str:
    return (
        f'{head}Traceback (most recent call last):\n  File "{path}", line {line}, in <module>\n    {text}\n'
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB already allocated; "
        "1.00 GiB free; 6.50 GiB reserved in total by PyTorch)\n"
    )


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("AIFIX_NO_PROBE", raising=False)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM, "utf-8")
    return path


def read(text: str, options: dict[str, Fact] | None = None) -> dict[str, str]:
    item = source.SourceFile("t.py", "/w/t.py", textwrap.dedent(text).encode())
    return {name: f"{fact.text} {fact.origin}" for name, fact in values.read(item, options or {}).items()}


def test_values_of_a_source(program: Path) -> None:
    found = read(PROGRAM)
    assert found["batch"] == found["batch_size"] == "64 t.py:3"
    assert found["workers"] == "8 t.py:6"
    assert found["lr"] == "0.001 t.py:4"
    assert found["drop_last"] == "True t.py:8"
    assert found["optimizer"] == "AdamW t.py:9"
    assert found["autocast"] == "True t.py:10"
    assert found["clears_gradients"] == "False t.py:12"
    assert program.exists()


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ('cfg = {"bs": 12}\nDataLoader(d, cfg["bs"])', "batch", "12"),
        ("@dataclass\nclass C:\n    bs: int = 5\nDataLoader(d, batch_size=c.bs)", "batch", "5"),
        ("TrainingArguments(out, per_device_train_batch_size=4, bf16=True)", "bf16", "True"),
        ("TrainingArguments(out, per_device_train_batch_size=4, gradient_accumulation_steps=2)", "accumulation", "2"),
        ("SGD(p, 0.1)", "lr", "0.1"),
        ("o.zero_grad()\nl.backward()\no.step()", "clears_gradients", "True"),
    ],
)
def test_values_by_other_ways(text: str, name: str, wanted: str) -> None:
    assert read(text)[name].split()[0] == wanted


def test_what_is_computed_is_no_value() -> None:
    assert "batch" not in read("DataLoader(d, batch_size=f(3))")
    assert read("this is no Python (") == {}


def test_the_report_says_where_a_value_was_read(program: Path) -> None:
    report = api.diagnose_text(log_of(program, 11, "loss = model(x)"), genre="log")
    facts = report.diagnoses[0].facts
    assert (facts["batch"].value, facts["batch"].origin) == (64, "train.py:3")
    assert facts["requested"].origin == ""
    smaller = next(fix for fix in report.diagnoses[0].fixes if fix.id == "smaller-batch")
    assert any("32" in action.text and "was 64" in action.text for action in smaller.do)
    assert [action.text for action in smaller.do if action.kind == "patch"] == ["batch-size"]


def test_the_command_line_overrides_the_default(program: Path) -> None:
    report = api.diagnose_text(log_of(program, 11, "loss = model(x)", "$ python train.py --batch-size 16\n"), genre="log")
    assert (report.diagnoses[0].facts["batch"].value, report.diagnoses[0].facts["batch"].origin) == (16, "command line, line 1")


TRAINER = """\
from transformers import Trainer, TrainingArguments
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=16,
    gradient_accumulation_steps=4,
)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
"""
LIGHTNING = """\
import lightning as L
loader = DataLoader(train, batch_size=64, num_workers=4)
trainer = L.Trainer(max_epochs=5, accumulate_grad_batches=3)
trainer.fit(model, loader)
"""


@pytest.mark.parametrize(
    ("source", "line", "text", "head", "fix", "title", "parts"),
    [
        (PROGRAM, 11, "loss = model(x)", "$ python train.py --batch-size 128\n", "smaller-batch", "from 128 to 64",
         ['train.py:3: p.add_argument("--batch-size", "-b", type=int, default=64)', "python train.py --batch-size 64", "batch_size = 64  # was 128"]),
        (PROGRAM, 11, "loss = model(x)", "", "smaller-batch", "from 64 to 32", ["train.py:3: p.add_argument", "batch_size = 32  # was 64"]),
        (TRAINER, 8, "trainer.train()", "", "smaller-batch-trainer", "per device from 16 to 8",
         ["train.py:4: per_device_train_batch_size=16,", "TrainingArguments(..., per_device_train_batch_size=8, gradient_accumulation_steps=8)"]),
        (PROGRAM.replace("--batch-size", "--per_device_train_batch_size"), 11, "loss = model(x)", "$ accelerate launch train.py --per_device_train_batch_size=8\n",
         "smaller-batch", "from 8 to 4", ["accelerate launch train.py --per_device_train_batch_size=4 --gradient_accumulation_steps 2"]),
        (LIGHTNING, 4, "trainer.fit(model, loader)", "", "smaller-batch-lightning", "from 64 to 32",
         ["train.py:2: loader = DataLoader(train, batch_size=64, num_workers=4)", "DataLoader(..., batch_size=32)", "accumulate_grad_batches=6)"]),
    ],
    ids=["command-line", "default", "trainer", "launcher", "lightning"],
)  # fmt: skip
def test_fixes_quote_the_users_line_and_speak_of_its_values(
    program: Path, *, source: str, line: int, text: str, head: str, fix: str, title: str, parts: list[str]
) -> None:
    program.write_text(source, "utf-8")
    first = api.diagnose_text(log_of(program, line, text, head), genre="log").diagnoses[0].fixes[0]
    assert first.id == fix
    assert title in first.title
    said = "\n".join(action.text for action in first.do)
    for part in parts:
        assert part in said
    assert "batch-size" in [action.text for action in first.do if action.kind == "patch"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("$ python t.py --bs 1", ""),
        ("$ python t.py --lr 1", ""),
        ("$ python t.py -b=4 --accum_iter 2", "python t.py -b=2 --accum_iter 4"),
        ("$ python t.py data.batch_size=32 name=x", "python t.py data.batch_size=16 name=x"),
        ("$ torchrun --nproc_per_node 2 t.py --batch_size 5", "torchrun --nproc_per_node 2 t.py --batch_size 2"),
        ("$ python t.py --batch_size", ""),
    ],
)
def test_the_command_with_a_smaller_batch(line: str, wanted: str) -> None:
    facts = command_line.read(intake.read(f"{line}\n".encode(), genre="log")).facts
    assert (facts["smaller_command"].text if "smaller_command" in facts else "") == wanted


def test_a_changed_line_is_said_and_nothing_is_read(program: Path) -> None:
    report = api.diagnose_text(log_of(program, 11, "loss = model(x, y)"), genre="log")
    facts = report.diagnoses[0].facts
    assert "line 11 reads differently now" in facts["source_changed"].text
    assert "batch" not in facts
    assert not any(action.kind == "patch" for fix in report.diagnoses[0].fixes for action in fix.do)


def test_nothing_is_read_where_looking_around_is_forbidden(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIFIX_NO_PROBE", "1")
    assert "batch" not in api.diagnose_text(log_of(program, 11, "loss = model(x)"), genre="log").diagnoses[0].facts


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_name_in_a_log_may_be_anything(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "big.py").write_bytes(b"#" * (source.LARGEST + 1))
    for name in ("pipe.py", "big.py", "missing.py", "a\0b.py"):
        assert source.read(str(tmp_path / name)) is None
    assert source.read(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("line", "script", "options"),
    [
        ("$ python train.py --lr 3e-4 --batch_size=8 --amp", "train.py", {"lr": 3e-4, "batch_size": 8, "amp": True}),
        ("(venv) u@h:~$ CUDA_VISIBLE_DEVICES=0 python3 -u src/train.py -b 4 2>&1 | tee log", "src/train.py", {"b": 4}),
        ("+ torchrun --nproc_per_node 2 train.py --seed -1", "train.py", {"seed": -1}),
        ("python -m pkg.train model.lr=0.1", "pkg.train", {"lr": 0.1}),
        (
            "subprocess.CalledProcessError: Command '['/usr/bin/python', '-u', 'train.py', '--local_rank=0']' returned non-zero",
            "train.py",
            {"local_rank": 0},
        ),
        ("we like python and train.pyramids", "", {}),
    ],
)
def test_command_lines(line: str, script: str, options: dict[str, object]) -> None:
    called = command_line.read(intake.read(f"{line}\nepoch 1\n".encode(), genre="log"))
    assert called.script == script
    assert {name: fact.value for name, fact in called.options.items()} == options
