"""Writers that are gone before anyone can look: the interpreter by how the pipeline was written, and by what lies around it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from aifix.probes import pipeline, target
from aifix.probes.pipeline import Written

if TYPE_CHECKING:
    from pathlib import Path

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment lies beside these tests, as one may beside the checkout."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "words", "settings", "activated"),
    [
        ("python train.py 2>&1 | aifix", ("python", "train.py"), {}, ""),
        ("python train.py --note 'a | b' |& aifix -q", ("python", "train.py", "--note", "a | b"), {}, ""),
        (
            "cd x && CUDA_VISIBLE_DEVICES=0 ./v/bin/python -u t.py 2>&1 | tee log | aifix",
            ("./v/bin/python", "-u", "t.py"),
            {"CUDA_VISIBLE_DEVICES": "0"},
            "",
        ),
        ("python a.py | aifix; python b.py | /opt/bin/aifix --verbose", ("python", "b.py"), {}, ""),
        ("timeout -k 5 60 nice -n 5 torchrun t.py 2>&1 | aifix", ("torchrun", "t.py"), {}, ""),
        ("set -e\nsource .venv/bin/activate\npython \\\n  t.py 2>&1 \\\n  | aifix\n", ("python", "t.py"), {}, ".venv"),
        ("(python t.py 2>&1) | aifix", None, {}, ""),
        ("uv run train.py 2>&1 | uvx aifix", ("uv", "run", "train.py"), {}, ""),
        ("python t.py | python -m aifix", ("python", "t.py"), {}, ""),
        ("python t.py 2>errors.txt | aifix", ("python", "t.py"), {}, ""),
        ("aifix run -- python t.py", None, {}, ""),
        ("echo 'unclosed | aifix", None, {}, ""),
        ("python aifix.py | less", None, {}, ""),
        ("", None, {}, ""),
    ],
)
def test_how_a_pipeline_was_written(text: str, words: tuple[str, ...] | None, settings: dict[str, str], activated: str) -> None:
    found = pipeline.read(text)
    assert (found.words if found else None) == words
    if found:
        assert (found.settings, found.activated) == (settings, activated)


def written(*words: str, activated: str = "", **settings: str) -> Written:
    return Written(7, words, settings, activated)


def test_the_written_command_leads_to_its_interpreter(bare: Path, tmp_path: Path) -> None:
    python = str(bare / "bin" / "python")
    for one in (written(python, "t.py"), written("python", "t.py", PATH=str(bare / "bin")), written("python", "t.py", activated=str(bare))):
        found = target.find(environ={"PATH": ""}, written=one)
        assert (found.python, found.how) == (python, "the command line of the shell 7 that started the pipeline")
        assert not found.guessed
    launcher = tmp_path / "torchrun"
    launcher.write_text(f"#!{python}\nimport torch\n")
    launcher.chmod(0o755)
    assert target.find(environ={"PATH": str(tmp_path)}, written=written("torchrun", "t.py")).python == python
    assert target.find(environ={"PATH": ""}, written=written("torchrun", "t.py")).known is False


def test_a_reader_that_was_gone_at_once_is_known_by_its_name() -> None:
    assert target.find(environ={}, written=written("cat", "old.log")).origin == "unsure"
    assert target.find(environ={}, written=written("kubectl", "logs", "pod")).origin == "elsewhere"
    assert target.find(environ={}, written=written("python", "t.py")).origin == "here"


def test_the_environment_beside_the_failing_file_comes_before_path(bare: Path, tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(bare)
    file = tmp_path / "train.py"
    file.write_text("")
    found = target.find(files=[str(file)], environ={"PATH": str(bare / "bin")})
    assert found.python == str(tmp_path / ".venv/bin/python")
    assert found.how == "the environment .venv beside the failing file"
    assert found.guessed


def test_an_interpreter_of_another_version_than_the_tracebacks_is_not_believed(bare: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "bin/python3.9").write_text("#!/bin/sh\n")
    (other / "bin/python3.9").chmod(0o755)
    frame = f"{other}/lib/python3.9/importlib/__init__.py"
    found = target.find(files=[frame], environ={"VIRTUAL_ENV": str(bare), "PATH": str(bare / "bin")})
    assert found.python == str(other / "bin/python3.9")
    assert found.how.startswith("its standard library stands in the traceback")
    assert found.guessed
    same = target.find(files=[f"/usr/lib/python{VERSION}/importlib/__init__.py"], environ={"VIRTUAL_ENV": str(bare)})
    assert same.how == "VIRTUAL_ENV"


@LINUX
@pytest.mark.parametrize("script", [False, True])
def test_a_python_that_dies_at_once_is_found_all_the_same(bare: Path, tmp_path: Path, script: bool) -> None:
    """The program lives for some hundredths of a second, the pipe's reader starts after it is gone."""
    (tmp_path / "train.py").write_text("import surely_absent\n")
    command = f"{bare}/bin/python train.py 2>&1 | {sys.executable} -m aifix --format json --no-history"
    if script:
        (tmp_path / "run.sh").write_text(
            f"cd {tmp_path}\n{command.replace(str(bare) + '/bin/python', 'sleep 0; . ' + str(bare) + '/bin/activate; python')}\n"
        )
        (bare / "bin" / "activate").touch()
        command = "bash run.sh"
    environ = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "CONDA_PREFIX"}} | {"PYTHONPATH": ""}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=environ, timeout=60, check=False)
    probe = json.loads(done.stdout)["diagnoses"][0]["probes"][0]
    assert probe["id"] == "deps.python"
    assert probe["status"] == "confirmed"
    assert str(bare) in probe["data"]["target"]
    assert "the command line of the shell" in probe["data"]["target"] or "the process" in probe["data"]["target"]
