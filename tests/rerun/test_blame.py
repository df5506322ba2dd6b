"""Each failure, run again with the instruments of its diagnosis, comes out with the very line to blame."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tests.rerun import programs
from tests.rerun.parts import fail, marked, rerun
from tests.torches import torch_python

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="compiles and crashes as Linux does")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "identity", "said"),
    [
        pytest.param(programs.INPLACE, "autograd.inplace", "changed the tensor in place (version 0 to 1)", id="inplace"),
        pytest.param(programs.STEP_BETWEEN, "autograd.inplace", "changed the tensor in place", id="optimizer step between two backwards"),
        pytest.param(programs.NAN_BACKWARD, "autograd.nan-backward", "came out of SqrtBackward0", id="nan in backward"),
        pytest.param(programs.NAN_FORWARD, "train.nan-loss", "The first nan came out of log at train.py", id="nan in forward"),
        pytest.param(programs.WORKER, "tensor.numpy-convert", "Items failed at sample 21", id="worker"),
    ],
)
def test_a_torch_failure_comes_out_with_its_line(text: str, identity: str, said: str, tmp_path: Path) -> None:
    python = torch_python()
    program, log = fail(tmp_path, text, python)
    done = rerun("--from", str(log), "--format", "json", "--", python, str(program), cwd=tmp_path)
    assert done.status == 1, done.err
    assert done.blame == ("train.py", marked(text))
    first = done.report["diagnoses"][0]
    assert first["id"] == identity
    assert said in " ".join(first["explanation"].split())


def compiled(folder: Path, name: str, source: str, *flags: str) -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    (folder / f"{name}.c").write_text(source, encoding="utf-8")
    done = subprocess.run(
        ["gcc", "-shared", "-fPIC", "-O0", "-o", f"{name}.so", f"{name}.c", *flags], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"gcc: {done.stderr.strip()[-200:]}")
    return folder / f"{name}.so"


def test_a_segfault_in_native_code_comes_out_with_the_calling_line(tmp_path: Path) -> None:
    compiled(tmp_path, "libfast", programs.SEGFAULT_SOURCE)
    program, log = fail(tmp_path, programs.SEGFAULT, sys.executable)
    assert "line" not in log.read_text(encoding="utf-8")  # the first run told nothing
    done = rerun("--from", str(log), "--format", "json", "--", sys.executable, str(program), cwd=tmp_path)
    assert done.status == 139
    assert done.report["diagnoses"][0]["id"] == "host.segfault"
    assert done.blame == ("train.py", marked(programs.SEGFAULT))


def test_an_undefined_symbol_comes_out_with_the_importing_line_and_the_symbol(tmp_path: Path) -> None:
    include = sysconfig.get_path("include")
    if not Path(include, "Python.h").is_file():
        pytest.skip("no headers of Python")
    compiled(tmp_path, "fastops", programs.EXTENSION_SOURCE, f"-I{include}")
    program, log = fail(tmp_path, programs.EXTENSION, sys.executable)
    done = rerun("--from", str(log), "--with", "loader", "--format", "json", "--", sys.executable, str(program), cwd=tmp_path)
    assert done.blame == ("train.py", marked(programs.EXTENSION))
    assert "fast_missing_symbol" in done.out


def test_a_missing_library_comes_out_with_who_needed_it_and_where_it_was_looked_for(tmp_path: Path) -> None:
    compiled(tmp_path, "libinnerpart", "int inner(void) { return 1; }")
    compiled(tmp_path, "libouter", "int inner(void); int outer(void) { return inner(); }", "-L.", "-l:libinnerpart.so", "-Wl,-rpath,$ORIGIN/lib")
    (tmp_path / "libinnerpart.so").unlink()
    program, log = fail(tmp_path, programs.LIBRARY, sys.executable)
    done = rerun("--from", str(log), "--format", "json", "--", sys.executable, str(program), cwd=tmp_path)
    first = done.report["diagnoses"][0]
    assert first["id"] == "host.lib-missing"
    assert done.blame == ("train.py", marked(programs.LIBRARY))
    assert f"libinnerpart.so is needed by {tmp_path}/libouter.so" in first["explanation"]
    assert f"the loader looked in {tmp_path}" in first["explanation"]
