"""End to end, with real node, npm, yarn and pnpm: lodash 3 and 4 in one tree, who wants which, and the fix in the manager's own words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("npm"),
    pytest.mark.skipif(shutil.which("npm") is None or shutil.which("node") is None, reason="node and npm are not here"),
]
INSTALL = {
    "npm": ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"],
    "yarn": ["yarn", "install", "--ignore-scripts", "--no-progress"],
    "pnpm": ["pnpm", "install", "--ignore-scripts"],
}
OVERRIDE = {
    "npm": {"overrides": {"old-report": {"lodash": "^3.10.1"}}},
    "yarn": {"resolutions": {"old-report/lodash": "^3.10.1"}},
    "pnpm": {"pnpm": {"overrides": {"old-report>lodash": "^3.10.1"}}},
}


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give an environment with all three managers; those that are not here are installed by npm."""
    environ = dict(os.environ) | {"CI": "1", "NO_COLOR": "1", "AIFIX_STATE": str(tmp_path_factory.mktemp("state"))}
    missing = [what for name, what in (("yarn", "yarn@1"), ("pnpm", "pnpm@9")) if shutil.which(name) is None]
    if missing:
        folder = tmp_path_factory.mktemp("managers")
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, *missing], capture_output=True, text=True, timeout=200, check=False
        )
        if done.returncode:
            pytest.skip(f"npm cannot install {' '.join(missing)} here: {done.stderr[-200:]}")
        environ["PATH"] = f"{folder}/node_modules/.bin{os.pathsep}{environ['PATH']}"
    return environ


def run(folder: Path, environ: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200, check=False)


def aifix(folder: Path, environ: dict[str, str], *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "aifix", *arguments], cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("manager", INSTALL)
def test_the_override_ends_the_conflict(tmp_path: Path, environ: dict[str, str], manager: str) -> None:
    library, app = tmp_path / "library", tmp_path / "app"
    library.mkdir()
    app.mkdir()
    (library / "package.json").write_text(json.dumps({"name": "old-report", "version": "1.0.0", "dependencies": {"lodash": "*"}}))
    (library / "index.js").write_text("const _ = require('lodash');\nmodule.exports = rows => _.pluck(rows, 'name').join(' ');\n")
    packed = run(library, environ, "npm", "pack", "--silent", "--pack-destination", str(tmp_path))
    assert packed.returncode == 0, packed.stdout
    wants = {"lodash": "^4.17.0", "old-report": "file:../old-report-1.0.0.tgz"}
    (app / "package.json").write_text(json.dumps({"name": "app", "version": "1.0.0", "dependencies": wants}))
    (app / "index.js").write_text("console.log(require('old-report')([{name: 'ada'}, {name: 'grace'}]), require('lodash').VERSION[0]);\n")
    done = run(app, environ, *INSTALL[manager])
    if done.returncode:
        pytest.skip(f"{manager} cannot install here: {done.stdout[-300:]}")

    failed = run(app, environ, "node", "index.js")
    assert failed.returncode != 0
    assert "_.pluck is not a function" in failed.stdout
    (app / "run.log").write_text(failed.stdout)
    first = aifix(app, environ, "diagnose", "--probe", "--format", "json", "run.log")["diagnoses"][0]
    assert first["id"] == "npm.version-conflict"
    assert first["facts"]["package"]["text"] == "old-report"
    fix = next(one for one in first["fixes"] if one["id"] == "nested-version")
    config = next(action["text"] for action in fix["do"] if action["kind"] == "config")
    override = json.loads("{" + config.partition("\n")[2] + "}")
    assert override == OVERRIDE[manager]
    commands = [action["text"] for one in first["fixes"] for action in one["do"] if action["kind"] == "command"]
    assert all(manager in text or text.startswith("grep") for text in commands), commands

    package = json.loads((app / "package.json").read_text()) | override
    (app / "package.json").write_text(json.dumps(package))
    again = next(action["text"] for action in fix["do"] if action["kind"] == "command")
    assert run(app, environ, "bash", "-c", again).returncode == 0
    works = run(app, environ, "node", "index.js")
    assert works.stdout.strip() == "ada grace 4"

    probes = aifix(app, environ, "probe", "deps.node", "--node", ".", "--format", "json")["probes"][0]
    lodash = {one["version"][0]: one["wanted_by"] for one in probes["data"]["several"]["lodash"]}
    assert set(lodash) == {"3", "4"}
    assert lodash["3"][0].startswith("old-report@1.0.0")
    assert lodash["4"][0].startswith("app (^4.17.0)")
    if manager == "npm":
        assert probes["data"]["npm"]["agrees"] is True, probes["data"]["npm"]
