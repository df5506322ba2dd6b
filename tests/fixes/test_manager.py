from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aifix import api
from aifix.fixes import manager
from aifix.fixes.manager import Manager
from aifix.fixes.shell import exports
from aifix.intake import document as intake

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = {"2.4": {"torchvision": "0.19", "torchaudio": "2.4", "cuda": "11.8, 12.1, 12.4"}}


@pytest.mark.parametrize(
    ("used", "command", "wanted"),
    [
        (Manager(), "pip install einops", "pip install einops"),
        (Manager("uv"), "python -m pip install -U einops  # new", "uv pip install -U einops  # new"),
        (Manager("uv", project=True), "pip install 'numpy<2'", "uv add 'numpy<2'"),
        (Manager("uv", project=True), "pip install --no-deps x", "uv pip install --no-deps x"),
        (Manager("uv"), "pip uninstall -y a && pip install a", "uv pip uninstall a && uv pip install a"),
        (Manager("conda", environment="ml"), "pip install einops", "conda run -n ml python -m pip install einops"),
        (Manager("mamba", environment="ml"), "pip check", "mamba run -n ml python -m pip check"),
        (Manager("poetry", project=True), "pip install -U einops", "poetry add einops@latest"),
        (Manager("poetry"), "pip install einops", "poetry run python -m pip install einops"),
        (Manager("pdm", project=True), "pip uninstall -y einops", "pdm remove einops"),
        (Manager("notebook"), "pip install einops", "%pip install einops"),
        (Manager(interpreter="/v/bin/python"), "pip install x", "/v/bin/python -m pip install x"),
        (
            Manager(pairs=PAIRS),
            "pip install torch==2.4.1 torchvision torchaudio",
            "pip install torch==2.4.1 'torchvision==0.19.*' 'torchaudio==2.4.*'",
        ),
        (Manager(torch="2.4.0", pairs=PAIRS), 'pip install "torchvision==<its pair>"', "pip install 'torchvision==0.19.*'"),
        (
            Manager(torch="2.4.0", pairs=PAIRS),
            "pip install torchvision --index-url https://download.pytorch.org/whl/cu126",
            "pip install 'torchvision==0.19.*' --index-url https://download.pytorch.org/whl/cu124",
        ),
        (Manager(torch="2.4.0", pairs=PAIRS), "pip install -U torch torchvision", "pip install -U torch torchvision"),
        (Manager(node="yarn"), "npm install lodash@3 --save-dev", "yarn add lodash@3 -D"),
        (Manager(node="pnpm"), "npm install", "pnpm install"),
        (Manager(node="pnpm"), "npm ls lodash\nnpm explain lodash", "pnpm why lodash\npnpm why lodash"),
        (Manager(node="pnpm"), "npm install --save lodash@3 -w app", "pnpm --filter app add lodash@3"),
        (Manager(node="yarn"), "npm install lodash@3 -w app", "yarn workspace app add lodash@3"),
        (Manager(node="berry"), "npm ci", "yarn install --immutable"),
        (Manager(node="yarn"), "rm -rf node_modules package-lock.json && npm install", "rm -rf node_modules yarn.lock && yarn install"),
        (Manager(node="npm"), "npm ls lodash", "npm ls lodash"),
        (Manager("uv"), "python train.py | tee log", "python train.py | tee log"),
    ],
)
def test_commands_in_the_managers_words(used: Manager, command: str, wanted: str) -> None:
    assert used.translate(command) == wanted


@pytest.mark.parametrize(
    ("log", "python", "environment", "node"),
    [
        ('  File "/home/u/miniconda3/envs/ml/lib/python3.11/site-packages/torch/a.py", line 3, in f', "conda", "ml", "npm"),
        ('  File "/opt/conda/lib/python3.10/site-packages/torch/a.py", line 3, in f', "conda", "base", "npm"),
        ('  File "/home/u/mambaforge/envs/x/lib/python3.10/site-packages/a.py", line 3, in f', "mamba", "x", "npm"),
        ('  File "/home/u/.cache/pypoetry/virtualenvs/p-py3.11/lib/python3.11/site-packages/a.py", line 1, in f', "poetry", "", "npm"),
        ("$ uv run train.py", "uv", "", "npm"),
        ('  File "/home/u/.venv/lib/python3.11/site-packages/a.py", line 1, in f', "pip", "", "npm"),
        ("yarn run v1.22.19", "pip", "", "yarn"),
        ("➤ YN0002: │ app@workspace:. doesn't provide react", "pip", "", "berry"),
        (" ERR_PNPM_PEER_DEP_ISSUES  Unmet peer dependencies", "pip", "", "pnpm"),
        ("npm ERR! code ERESOLVE", "pip", "", "npm"),
    ],
)
def test_managers_are_told_by_the_log(log: str, python: str, environment: str, node: str) -> None:
    found = manager.detect(intake.read(f"{log}\n".encode(), genre="log"), {})
    assert (found.python, found.environment, found.node) == (python, environment, node)


@pytest.mark.parametrize(
    ("files", "python", "node"),
    [
        (["uv.lock"], "uv", "npm"),
        (["poetry.lock", "yarn.lock"], "poetry", "yarn"),
        (["pdm.lock", "pnpm-lock.yaml"], "pdm", "pnpm"),
        (["yarn.lock", ".yarnrc.yml"], "pip", "berry"),
    ],
)
def test_managers_are_told_by_lock_files(files: list[str], python: str, node: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).touch()
    (tmp_path / "src").mkdir()
    found = manager.detect(intake.read(b"x\n"), {}, [str(tmp_path / "src")])
    assert (found.python, found.node, found.project) == (python, node, python != "pip")


def test_torch_and_interpreter_of_an_environment_on_this_machine(tmp_path: Path) -> None:
    packages = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    (packages / "torch-2.4.1+cu124.dist-info").mkdir(parents=True)
    (tmp_path / "env" / "bin").mkdir()
    (tmp_path / "env" / "bin" / "python").touch()
    found = manager.detect(intake.read(f'  File "{packages}/torch/x.py", line 3, in f\n'.encode(), genre="log"), {})
    assert (found.torch, found.interpreter) == ("2.4.1", str(tmp_path / "env" / "bin" / "python"))


def test_the_report_speaks_the_managers_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIFIX_NO_PROBE", raising=False)
    log = (
        'Traceback (most recent call last):\n  File "/x/train.py", line 3, in <module>\n    import transformers\n'
        '  File "/home/u/miniconda3/envs/ml/lib/python3.11/site-packages/transformers/a.py", line 7, in <module>\n    import einops\n'
        "ModuleNotFoundError: No module named 'einops'\n"
    )
    fixes = api.diagnose_text(log, genre="log").diagnoses[0].fixes
    assert any("conda run -n ml python -m pip install einops" in action.text for fix in fixes for action in fix.do)


@pytest.mark.parametrize(
    ("text", "windows", "wanted"),
    [
        ("A=1", False, "export A=1"),
        ("export A=1   # why", False, "export A=1   # why"),
        ("A=x y", False, "export A='x y'"),
        ("PYTHONPATH=$PWD\nB=2", False, "export PYTHONPATH=$PWD\nexport B=2"),
        ("A=1", True, '$env:A = "1"'),
        ("just words", False, "just words"),
    ],
)
def test_settings_as_shell_lines(text: str, windows: bool, wanted: str) -> None:
    assert exports(text, windows=windows) == wanted


NESTED = '// package.json (npm >=8.3)\n"overrides": {"old": {"lodash": "^3.10.1"}, "react": "$react"}'


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        ("npm", '"overrides": {"old": {"lodash": "^3.10.1"}, "react": "$react"}'),
        ("pnpm", '"pnpm": {"overrides": {"old>lodash": "^3.10.1", "react": "$react"}}'),
        ("yarn", '"resolutions": {"old/lodash": "^3.10.1", "react": "<the version of react in your dependencies>"}'),
        ("berry", '"resolutions": {"old/lodash": "^3.10.1", "react": "<the version of react in your dependencies>"}'),
    ],
)
def test_overrides_in_the_managers_words(node: str, wanted: str) -> None:
    assert Manager(node=node).configure(NESTED) == f"// package.json\n{wanted}"
    assert Manager(node=node).configure("other = 1") == "other = 1"
    assert Manager(node=node).configure('"overrides": {"cut": ') == '"overrides": {"cut": '


def test_the_interpreter_that_was_called_by_its_path_installs_where_the_log_names_no_other(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.touch()
    log = intake.read(b"ModuleNotFoundError: No module named 'einops'\n", genre="log")
    assert manager.detect(log, {}, program=str(program)).translate("python -m pip install einops") == f"{program} -m pip install einops"
    assert manager.detect(log, {}, program="python").translate("python -m pip install einops") == "python -m pip install einops"
