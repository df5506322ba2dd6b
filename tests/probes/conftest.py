from __future__ import annotations

import os
import subprocess
import sys
import venv
from typing import TYPE_CHECKING

import pytest
from tests import torches
from tests.probes.parts import here

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aifix.probes.machine import Machine


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real virtual environment without any package."""
    folder = tmp_path_factory.mktemp("env") / "bare"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    return folder


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return here(cwd=str(tmp_path))


@pytest.fixture(scope="session")
def install() -> Callable[..., None]:
    """Install into an environment by this interpreter's pip; skips where nothing can be installed."""

    def run(folder: Path, *what: str) -> None:
        python = folder / "bin" / "python"
        command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--disable-pip-version-check", *what]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        if done.returncode:
            pytest.skip(f"pip cannot install {' '.join(what)}: {done.stderr.strip()[-200:]}")

    return run


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter with torch."""
    return torches.torch_python("import torch")
