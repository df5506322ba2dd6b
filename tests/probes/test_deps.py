from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here, tree, wheel

from aifix.probes import deps, interpreter, packages, symbols, torch_build

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory, install: Callable[..., None]) -> Path:
    """An environment whose packages do not fit together, installed by the real pip."""
    folder = tmp_path_factory.mktemp("deps")
    target = folder / "env"
    venv.create(target, with_pip=False)
    wheels = [
        wheel(folder, "first-lib", "1.0", requires=("second_lib>=2", "third-lib; python_version < '3'", "absent-lib", "extra-lib; extra == 'x'")),
        wheel(folder, "second-lib", "1.5"),
        wheel(folder, "old-timer", "0.1", python="<3"),
        wheel(folder, "torch", "2.4.0+cu121", files={"torch/version.py": "__version__ = '2.4.0+cu121'\ncuda: str = '12.1'\nhip = None\n"}),
        wheel(folder, "torchvision", "0.17.0"),
    ]
    for path in wheels:
        install(target, "--no-deps", "--no-index", "--ignore-requires-python", str(path))
    return target


def test_broken_requirements_are_those_of_pip_check(env: Path) -> None:
    installed = packages.read(interpreter.read(str(env / "bin" / "python")))
    broken = deps.broken_requirements(installed)
    assert sorted(broken) == [
        "first-lib 1.0 requires absent-lib, which is not installed",
        "first-lib 1.0 requires second_lib>=2, and 1.5 is installed",
        f"old-timer 0.1 wants Python <3, and this is {sys.version_info.major}.{sys.version_info.minor}",
    ]
    done = subprocess.run([sys.executable, "-m", "pip", "--python", env / "bin" / "python", "check"], capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if "first-lib" in line]
    assert len(said) == 2
    assert any("absent-lib" in line for line in said)
    assert any("second" in line for line in said)


def test_the_probe_tells_them(env: Path, tmp_path: Path) -> None:
    found = deps.python(case(here(python=str(env / "bin/python"), cwd=str(tmp_path))))
    assert found.status == "confirmed"
    assert "first-lib 1.0 requires" in " ".join([found.summary, *found.evidence])


def test_a_module_that_is_installed_here_refutes_that_it_is_missing(env: Path, tmp_path: Path) -> None:
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path))
    refuted = deps.python(case(machine, "deps.module-missing", module="second_lib"))
    assert refuted.status == "refuted"
    assert "second_lib 1.5 is installed" in refuted.summary
    missing = deps.python(case(machine, "deps.module-missing", module="'wandb'"))
    assert missing.status == "confirmed"
    assert str(env) in missing.summary
    part = deps.python(case(machine, "deps.module-missing", module="second_lib.gone"))
    assert part.status == "confirmed"
    assert "second_lib 1.5 is installed" in part.summary
    assert "has no second_lib.gone" in part.summary


def test_a_package_installed_over_another_version_is_told(env: Path) -> None:
    installed = packages.read(interpreter.read(str(env / "bin/python")))
    site = Path(installed.interpreter.folders[0])
    shutil.copytree(site / "second_lib-1.5.dist-info", site / "second_lib-1.6.dist-info")
    (site / "second_lib-1.6.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: second-lib\nVersion: 1.6\n")
    try:
        assert [one.version for one in deps.twice(packages.read(installed.interpreter))] == ["1.6"]
    finally:
        shutil.rmtree(site / "second_lib-1.6.dist-info")


def test_a_file_that_hides_a_package_is_named(env: Path, tmp_path: Path) -> None:
    tree(tmp_path, {"second_lib.py": "", "random.py": "", "mine.py": "", "test.py": ""})
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path))
    found = deps.python(case(machine, "deps.shadowed", module="random"))
    assert found.status == "confirmed"
    assert found.data["shadows"] == {"second_lib": f"{tmp_path}/second_lib.py", "random": f"{tmp_path}/random.py"}
    assert deps.python(case(here(python=machine.target.python, cwd=str(env)), "deps.shadowed", module="random")).status == "refuted"


PAIRS = {
    "torch_pairs": {"2.4": {"torchvision": "0.19", "torchaudio": "2.4", "python": "3.8 to 3.99"}},
    "cuda_driver": {"12.1": {"minimum_linux": "525.60.13"}},
}


def test_torch_is_read_from_its_files_and_its_companions_are_checked(env: Path, tmp_path: Path) -> None:
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path), root=tmp_path, catalogues=lambda: PAIRS)
    found = torch_build.build(case(machine))
    assert found.status == "confirmed"
    assert "torchvision 0.17.0 is installed, and torch 2.4.0+cu121 goes with torchvision 0.19" in found.summary
    assert found.data["cuda"] == "12.1"
    assert torch_build.build(case(machine, "cuda.not-compiled")).status == "refuted"


def test_an_old_driver_is_found_by_the_kernel_modules_version(env: Path, tmp_path: Path) -> None:
    root = tree(tmp_path, {"/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  x\n"})
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path), root=root, catalogues=lambda: PAIRS)
    found = torch_build.build(case(machine))
    assert "needs driver 525.60.13 or later for CUDA 12.1, and 470.82.01 is loaded" in " ".join([found.summary, *found.evidence])


def test_no_torch_and_no_python_are_answers(bare: Path, tmp_path: Path) -> None:
    assert torch_build.build(case(here(python=str(bare / "bin/python"), cwd=str(tmp_path)))).status == "not-available"
    assert torch_build.build(case(here(python="", cwd=str(tmp_path)))).status == "not-available"
    assert deps.python(case(here(python="", cwd=str(tmp_path)))).status == "not-available"


SETUP = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <numpy/arrayobject.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "oldext._core", NULL, -1, NULL};
PyMODINIT_FUNC PyInit__core(void) { import_array(); return PyModule_Create(&module); }
"""


@pytest.mark.slow
def test_a_package_built_for_numpy_1_is_named_beside_numpy_2(tmp_path: Path, install: Callable[..., None]) -> None:
    """Real NumPys, a real compiler, and a real failure to import."""
    if not shutil.which("gcc"):
        pytest.skip("there is no C compiler")
    built, env = tmp_path / "built", tmp_path / "env"
    for folder, version in ((built, "1.26.4"), (env, "2.2.6")):
        venv.create(folder, with_pip=False)
        install(folder, f"numpy=={version}")
    include = next(built.glob("lib/python*/site-packages/numpy/core/include"))
    site = next(env.glob("lib/python*/site-packages"))
    install(env, "--no-deps", "--no-index", str(wheel(tmp_path, "oldext", "0.3", requires=("numpy",))))
    source = tmp_path / "core.c"
    source.write_text(SETUP)
    headers = subprocess.run(
        [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], capture_output=True, text=True, check=True
    )
    output = site / "oldext" / "_core.abi.so"
    command = ["gcc", "-shared", "-fPIC", "-w", f"-I{headers.stdout.strip()}", f"-I{include}", "-o", str(output), str(source)]
    subprocess.run(command, check=True, timeout=60)
    with (site / "oldext-0.3.dist-info" / "RECORD").open("a") as record:
        record.write(f"oldext/_core.abi.so,,{output.stat().st_size}\n")
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path))
    found = deps.python(case(machine, "deps.numpy-abi"))
    assert found.status == "confirmed", found
    assert "oldext was compiled for NumPy 1, and NumPy 2.2.6 is installed" in found.summary
    assert deps.python(case(machine)).status == "confirmed"
    assert deps.python(case(here(python=str(built / "bin/python"), cwd=str(tmp_path)), "deps.numpy-abi")).status == "inconclusive"


def test_a_symbol_that_torch_lacks_confirms_an_extension_for_another_torch(env: Path, tmp_path: Path) -> None:
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path), root=tmp_path)
    folder = Path(packages.find_module(interpreter.read(machine.target.python), "torch"))
    (folder / "lib").mkdir()
    (folder / "lib" / "libc10.so").write_bytes(b"\0_ZN3c105ErrorD1Ev\0_ZN3c103fooEv\0")
    lacking = torch_build.build(case(machine, "deps.torch-abi", symbol="_ZN3c104cuda9SetDeviceEi"))
    assert lacking.status == "confirmed"
    assert "built for another torch" in lacking.summary
    assert torch_build.build(case(machine, "deps.torch-abi", symbol="_ZN3c105ErrorD1Ev")).status == "refuted"
    assert torch_build.build(case(machine, "deps.torch-abi", symbol="_ZN3c105ErrorD1")).status == "confirmed"


def test_two_openmp_runtimes_are_listed(env: Path, tmp_path: Path) -> None:
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path))
    site = Path(interpreter.read(machine.target.python).folders[0])
    tree(site, {"torch/lib/libgomp.so.1": b"", "scikit_learn.libs/libgomp-a34b3233.so.1.0.0": b""})
    found = deps.python(case(machine, "host.omp-duplicate"))
    assert found.status == "confirmed"
    assert len(found.data["openmp"]) == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF files")
def test_an_extension_built_for_another_torch_is_named_by_its_symbols(tmp_path: Path, bare: Path, install: Callable[..., None]) -> None:
    """Real shared objects of a real compiler: one wants what this torch's c10 has, the other what only another release had."""
    if not shutil.which("gcc"):
        pytest.skip("there is no C compiler")
    env = tmp_path / "env"
    shutil.copytree(bare, env, symlinks=True)
    version = "__version__ = '2.4.0'\ncuda = None\nhip = None\n"
    paths = [wheel(tmp_path, "torch", "2.4.0", files={"torch/version.py": version})]
    paths += [wheel(tmp_path, name, "1.0", requires=("torch>=2",)) for name in ("fits-it", "other-one")]
    install(env, "--no-deps", "--no-index", *map(str, paths))
    site = next(env.glob("lib/python*/site-packages"))
    (site / "torch/lib").mkdir()

    def compile_to(output: Path, source: str) -> None:
        (tmp_path / "x.c").write_text(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", output, tmp_path / "x.c"], check=True, timeout=60)

    compile_to(site / "torch/lib/libc10.so", "void _ZN3c105ErrorD1Ev(void) {}\n")
    for name, symbol in (("fits_it", "_ZN3c105ErrorD1Ev"), ("other_one", "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs")):
        compile_to(site / name / "_C.so", f"void {symbol}(void);\nvoid f(void) {{ {symbol}(); }}\n")
        with (site / f"{name}-1.0.dist-info/RECORD").open("a") as record:
            record.write(f"{name}/_C.so,,{(site / name / '_C.so').stat().st_size}\n")
    found = deps.python(case(here(python=str(env / "bin/python"), cwd=str(tmp_path), environ={})))
    assert found.status == "confirmed"
    assert found.data["other_torch"] == {"other-one": f"{site}/other_one/_C.so"}
    assert "wants _ZN3c106detail14torchCheckFailEPKcS2_jRKSs" in " ".join([found.summary, *found.evidence])


def test_a_symbol_is_found_as_linux_and_as_macos_name_it(tmp_path: Path) -> None:
    tree(tmp_path, {"lib/libc10.so": b"\0_ZN3c105ErrorD1Ev\0"})
    assert symbols.provided(str(tmp_path), "_ZN3c105ErrorD1Ev")
    assert symbols.provided(str(tmp_path), "__ZN3c105ErrorD1Ev")
    assert not symbols.provided(str(tmp_path), "__ZN2at5emptyEv")


def test_two_copies_of_a_cuda_library_are_listed(env: Path, tmp_path: Path) -> None:
    site = Path(interpreter.read(str(env / "bin/python")).folders[0])
    tree(site, {"nvidia/cudnn/lib/libcudnn.so.9": b"wheel"})
    tree(tmp_path, {"cuda/lib64/libcudnn.so.8": b"system", "cuda/lib64/libother.so": b""})
    machine = here(python=str(env / "bin/python"), cwd=str(tmp_path), environ={"LD_LIBRARY_PATH": f"{tmp_path}/cuda/lib64"})
    found = deps.python(case(machine))
    assert list(found.data["cuda_copies"]) == ["libcudnn"]
    assert any("LD_LIBRARY_PATH brings another libcudnn before the environment's" in text for text in (found.summary, *found.evidence))
    asked = deps.python(case(machine, "cuda.cudnn-version"))
    assert asked.status == "confirmed"
    assert "libcudnn is there 2 times" in asked.summary
    assert deps.python(case(here(python=str(env / "bin/python"), cwd=str(tmp_path), environ={}))).data["cuda_copies"] == {}
