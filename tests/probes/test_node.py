from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here, tree

from aifix.probes import node
from aifix.probes.semver import satisfies

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("version", "wanted", "answer"),
    [
        ("4.17.21", "^4.17.0", True),
        ("5.0.0", "^4.17.0", False),
        ("0.2.9", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("0.0.4", "^0.0.3", False),
        ("1.2.9", "~1.2.3", True),
        ("1.3.0", "~1.2.3", False),
        ("1.9.0", "1.x", True),
        ("2.0.0", "1.x || >=2.5.0", False),
        ("18.2.0", ">=16.8 <19", True),
        ("19.0.0", ">=16.8 <19", False),
        ("18.2.0", "^16.0.0 || ^17.0.0 || ^18.0.0", True),
        ("3.10.1", "1.2.3 - 3.10.1", True),
        ("3.10.2", "1.2.3 - 3.10.1", False),
        ("20.20.2", ">= 18.0.0", True),
        ("1.0.0", "*", True),
        ("1.0.0", "github:user/repo", None),
        ("1.0.0", "workspace:*", None),
        ("1.0.0", "next", None),
    ],
)
def test_ranges_read_as_npm_reads_them(version: str, wanted: str, answer: bool | None) -> None:
    assert satisfies(version, wanted) is answer


def package(name: str, version: str, **more: object) -> str:
    return json.dumps({"name": name, "version": version, **more})


def app(folder: Path) -> Path:
    return tree(
        folder,
        {
            "package.json": package(
                "app", "1.0.0", dependencies={"lodash": "^4.0.0", "legacy": "1.0.0", "widget": "^2.0.0"}, engines={"node": ">=99"}
            ),
            "node_modules/lodash/package.json": package("lodash", "4.17.21"),
            "node_modules/legacy/package.json": package("legacy", "1.0.0", dependencies={"lodash": "^3.10.0"}),
            "node_modules/legacy/node_modules/lodash/package.json": package("lodash", "3.10.1"),
            "node_modules/widget/package.json": package("widget", "2.0.0", peerDependencies={"react": "^17.0.0"}),
            "node_modules/react/package.json": package("react", "18.2.0"),
            "node_modules/@scope/tool/package.json": package("@scope/tool", "1.0.0", dependencies={"gone": "^1.0.0"}),
        },
    )


def test_several_versions_and_who_pulls_each_in(tmp_path: Path) -> None:
    found = node.tree(case(here(cwd=str(app(tmp_path))), "npm.version-conflict", package="lodash"))
    assert found.status == "confirmed"
    assert found.summary == "lodash is there 2 times: 3.10.1 (legacy@1.0.0 (^3.10.0)); 4.17.21 (app (^4.0.0))"


def test_unmet_peers_and_missing_dependencies_are_told(tmp_path: Path) -> None:
    found = node.tree(case(here(cwd=str(app(tmp_path)))))
    assert found.status == "confirmed"
    assert found.data["unmet"] == [
        "widget@2.0.0 wants as peer react@^17.0.0, and 18.2.0 is installed",
        "@scope/tool@1.0.0 needs gone@^1.0.0, which is not installed",
    ] or sorted(found.data["unmet"]) == sorted(
        ["widget@2.0.0 wants as peer react@^17.0.0, and 18.2.0 is installed", "@scope/tool@1.0.0 needs gone@^1.0.0, which is not installed"]
    )


def test_no_package_json_broken_json_and_no_modules_are_answers(tmp_path: Path) -> None:
    assert node.tree(case(here(cwd=str(tmp_path)), options={"node": str(tmp_path)})).status == "not-available"
    tree(tmp_path, {"package.json": "{"})
    assert "no valid JSON" in node.tree(case(here(cwd=str(tmp_path)))).summary
    tree(tmp_path, {"package.json": package("app", "1.0.0", dependencies={"a": "1"})})
    assert "has no node_modules" in node.tree(case(here(cwd=str(tmp_path)))).summary


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    app(tmp_path)
    (tmp_path / "node_modules/legacy/node_modules/back").symlink_to(tmp_path / "node_modules/legacy")
    assert node.tree(case(here(cwd=str(tmp_path)))).status == "confirmed"


@pytest.mark.slow
def test_it_agrees_with_npm_on_a_tree_that_npm_made(tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not here")
    tree(tmp_path, {"package.json": package("app", "1.0.0", dependencies={"lodash": "^4.17.0", "grunt-legacy-util": "1.0.0"})})
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    if done.returncode:
        pytest.skip(f"npm cannot install here: {done.stderr[-200:]}")
    listed = json.loads(subprocess.run([npm, "ls", "--json", "--all"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False).stdout)

    def versions(item: dict[str, dict[str, dict[str, str]]]) -> set[str]:
        found = set()
        for name, one in (item.get("dependencies") or {}).items():
            if name == "lodash" and "version" in one:
                found.add(one["version"])
            found |= versions(one)  # type: ignore[arg-type]
        return found

    found = node.tree(case(here(cwd=str(tmp_path)), "npm.version-conflict", package="lodash"))
    assert found.status == "confirmed"
    assert {one["version"] for one in found.data["several"]["lodash"]} == versions(listed)
    assert "grunt-legacy-util" in found.summary
