from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from aifix.probes import interpreter, producer, target
from aifix.probes.producer import Producer

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment lies beside these tests, as one may beside the checkout."""
    monkeypatch.chdir(tmp_path)


def test_what_was_given_comes_first(bare: Path, tmp_path: Path) -> None:
    given = target.find(python=str(bare), environ={"VIRTUAL_ENV": str(tmp_path)})
    assert given.python == str(bare / "bin" / "python")
    assert given.how == "--python"
    missing = target.find(python=str(tmp_path / "no"), environ={})
    assert not missing.known
    assert "no such interpreter" in missing.how


def test_the_traceback_names_the_interpreter(bare: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    file = f"{bare}/lib/python{version}/site-packages/torch/nn/module.py"
    found = target.find(files=["/srv/train.py", file], environ={"PATH": ""})
    assert found.python.startswith(str(bare))
    assert "traceback" in found.how


def test_environments_come_before_path(bare: Path) -> None:
    assert target.find(environ={"VIRTUAL_ENV": str(bare), "PATH": os.environ["PATH"]}).how == "VIRTUAL_ENV"
    assert target.find(environ={"CONDA_PREFIX": str(bare)}).how == "CONDA_PREFIX"
    on_path = target.find(environ={"PATH": str(bare / "bin")})
    assert on_path.python == str(bare / "bin" / "python")
    assert on_path.guessed


def test_no_python_is_an_answer() -> None:
    found = target.find(environ={"PATH": ""})
    assert not found.known
    assert "--python" in found.how


def test_a_pyenv_shim_is_followed(tmp_path: Path) -> None:
    for name in ("shims/python", "versions/3.11.7/bin/python", "versions/3.9.1/bin/python"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (tmp_path / "version").write_text("3.9.1\n")
    assert target.find(environ={"PATH": str(tmp_path / "shims"), "PYENV_VERSION": "3.11.7"}).python == str(tmp_path / "versions/3.11.7/bin/python")
    assert target.find(environ={"PATH": str(tmp_path / "shims")}).python == str(tmp_path / "versions/3.9.1/bin/python")


def of(argv: str, exe: str = "") -> Producer:
    return Producer(1, exe or f"/usr/bin/{argv.split(maxsplit=1)[0]}", argv.replace(" ", "\0").encode() + b"\0", "/", b"")


def test_where_a_log_comes_from(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")
    assert target.find(producers=[of("cat old.log")], environ={}).origin == "unsure"
    assert target.find(producers=[of("cat old.log", "/usr/bin/busybox")], environ={}).origin == "unsure"
    assert target.find(producers=[of("ssh node7 train")], environ={}).origin == "elsewhere"
    assert target.find(producers=[of("kubectl logs pod")], environ={}).origin == "elsewhere"
    assert target.find(producers=[of("python train.py", sys.executable)], environ={}).origin == "here"
    assert target.find(files=["/nowhere/at/all/train.py"], environ={}).origin == "elsewhere"
    assert target.find(files=[str(script)], local=False, environ={}).origin == "here"
    assert target.find(local=False, environ={}).origin == "unsure"


CATCH = """
import sys, time, json
sys.path.insert(0, {source!r})
data = sys.stdin.buffer.read(1)
from aifix.probes import producer, target
started = time.perf_counter()
found = producer.capture()
took = time.perf_counter() - started
sys.stdin.buffer.read()
answer = target.find(producers=found)
print(json.dumps({{"python": answer.python, "how": answer.how, "argv": answer.argv, "cwd": answer.cwd, "mark": (answer.environ or {{}}).get("MARK"), "took": took}}))
"""


@LINUX
@pytest.mark.parametrize("between", ["", " | tee /dev/null", " | cat | tee /dev/null"])
@pytest.mark.parametrize("shell", ["{run}", "sh -c 'echo go; {run}; true'"])
def test_the_process_at_the_other_end_of_the_pipe(bare: Path, tmp_path: Path, between: str, shell: str) -> None:
    import json

    catch = tmp_path / "catch.py"
    catch.write_text(CATCH.format(source=str(Path(producer.__file__).parents[2])))
    script = tmp_path / "train.py"
    script.write_text("import time\nprint('epoch 1', flush=True)\ntime.sleep(1.5)\n")
    run = shell.format(run=f"{bare}/bin/python train.py")
    done = subprocess.run(
        ["bash", "-c", f"({run}) 2>&1{between} | {sys.executable} {catch}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "MARK": "42"},
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout)
    if "sh -c" in shell and not answer["how"].startswith("the process"):
        pytest.skip("the shell spoke before its program had started: the pipe looks again at later reads")
    assert answer["python"] == f"{bare}/bin/python"
    assert answer["cwd"] == str(tmp_path)
    assert answer["mark"] == "42"
    assert "train.py" in answer["argv"]
    assert answer["took"] < 0.2


def test_an_environment_is_read_without_running_it(bare: Path) -> None:
    found = interpreter.read(str(bare / "bin" / "python"))
    assert found.environment
    assert found.version == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert found.folders == (f"{bare}/lib/python{found.version}/site-packages",)


def test_it_agrees_with_the_interpreters_own_path(bare: Path) -> None:
    own = subprocess.run(
        [bare / "bin" / "python", "-c", "import sys; print('\\n'.join(p for p in sys.path if 'site-packages' in p))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert list(interpreter.read(str(bare / "bin" / "python")).folders) == own.stdout.split()


def test_editable_installs_are_found_by_their_pth_files(tmp_path: Path) -> None:
    import venv

    folder = tmp_path / "env"
    venv.create(folder, with_pip=False)
    source = tmp_path / "project"
    source.mkdir()
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "project.pth").write_text(
        textwrap.dedent(f"""\
        import evil; evil.run()
        {source}
        """)
    )
    assert str(source) in interpreter.read(str(folder / "bin" / "python")).folders
