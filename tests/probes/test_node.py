from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here, tree

from aifix.probes import node, node_npm
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


LOCKS = {
    "package-lock.json": json.dumps(
        {
            "name": "app",
            "lockfileVersion": 3,
            "packages": {
                "": {"name": "app", "dependencies": {"lodash": "^4.0.0", "legacy": "1.0.0"}},
                "node_modules/lodash": {"version": "4.17.21"},
                "node_modules/legacy": {"version": "1.0.0", "dependencies": {"lodash": "^3.10.0"}},
                "node_modules/legacy/node_modules/lodash": {"version": "3.10.1"},
            },
        }
    ),
    "npm-shrinkwrap.json": json.dumps(
        {
            "name": "app",
            "lockfileVersion": 1,
            "dependencies": {
                "lodash": {"version": "4.17.21"},
                "legacy": {"version": "1.0.0", "requires": {"lodash": "^3.10.0"}, "dependencies": {"lodash": {"version": "3.10.1"}}},
            },
        }
    ),
    "yarn.lock": """# yarn lockfile v1

legacy@1.0.0:
  version "1.0.0"
  dependencies:
    lodash "^3.10.0"

lodash@^3.10.0, lodash@^3.2.0:
  version "3.10.1"

"lodash@^4.0.0":
  version "4.17.21"
""",
    "berry/yarn.lock": """__metadata:
  version: 8

"app@workspace:.":
  version: 0.0.0-use.local
  resolution: "app@workspace:."
  dependencies:
    legacy: "npm:1.0.0"
    lodash: "npm:^4.0.0"

"legacy@npm:1.0.0":
  version: 1.0.0
  dependencies:
    lodash: "npm:^3.10.0"

"lodash@npm:^3.10.0, lodash@npm:^3.2.0":
  version: 3.10.1

"lodash@npm:^4.0.0":
  version: 4.17.21
""",
    "pnpm-lock.yaml": """lockfileVersion: '9.0'

importers:

  .:
    dependencies:
      legacy:
        specifier: 1.0.0
        version: 1.0.0
      lodash:
        specifier: ^4.0.0
        version: 4.17.21

packages:

  legacy@1.0.0:
    resolution: {integrity: sha512-x}

snapshots:

  legacy@1.0.0:
    dependencies:
      lodash: 3.10.1

  lodash@3.10.1: {}

  lodash@4.17.21: {}
""",
    "v5/pnpm-lock.yaml": """lockfileVersion: 5.4

specifiers:
  legacy: 1.0.0

dependencies:
  legacy: 1.0.0
  lodash: 4.17.21

packages:

  /legacy/1.0.0:
    resolution: {integrity: sha512-x}
    dependencies:
      lodash: 3.10.1
    dev: false

  /lodash/3.10.1:
    resolution: {integrity: sha512-x}

  /lodash/4.17.21:
    resolution: {integrity: sha512-x}
""",
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_tells_who_pulls_in_which_version(tmp_path: Path, name: str) -> None:
    top = package("app", "1.0.0", dependencies={"lodash": "^4.0.0", "legacy": "1.0.0"})
    tree(tmp_path, {"package.json": top, name.rpartition("/")[2]: LOCKS[name]})
    found = node.tree(case(here(cwd=str(tmp_path)), "npm.version-conflict", package="lodash"))
    assert found.status == "confirmed"
    assert f"by {name.rpartition('/')[2]} lodash is there 2 times: 3.10.1 (legacy@1.0.0 (" in found.summary
    assert "4.17.21 (" in found.summary


@pytest.mark.parametrize(
    ("content", "part"),
    [("<<<<<<< HEAD\n", "conflict marks of git"), ('{"packages": ', "package-lock.json is damaged"), ('{"packages": []}', ""), ("[]", "is damaged")],
)
def test_a_damaged_lock_file_is_told(tmp_path: Path, content: str, part: str) -> None:
    app(tmp_path)
    (tmp_path / "package-lock.json").write_text(content)
    found = node.tree(case(here(cwd=str(tmp_path))))
    assert part in " ".join(found.evidence)


def test_node_modules_and_package_json_are_held_against_the_lock_file(tmp_path: Path) -> None:
    app(tmp_path)
    packages = {"node_modules/lodash": {"version": "4.17.20"}, "node_modules/widget": {"version": "1.9.0"}}
    (tmp_path / "package-lock.json").write_text(json.dumps({"lockfileVersion": 3, "packages": packages}))
    differs = node.tree(case(here(cwd=str(tmp_path)))).data["lock"]["differs"]
    assert "node_modules holds lodash 4.17.21, and package-lock.json pins 4.17.20" in differs
    assert "package.json wants widget@^2.0.0, and package-lock.json pins 1.9.0: npm ci and its like refuse that" in differs


def test_a_package_that_uses_what_it_does_not_list(tmp_path: Path) -> None:
    app(tmp_path)
    found = node.tree(case(here(cwd=str(tmp_path)), "npm.version-conflict", package="widget", function="_.pluck"))
    assert found.status == "confirmed"
    assert found.summary.startswith("widget@2.0.0 uses lodash without listing it, and gets 4.17.21")
    absent = node.tree(case(here(cwd=str(tmp_path)), "npm.version-conflict", package="nowhere"))
    assert absent.status == "inconclusive"


needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not here")


@pytest.fixture(scope="module")
def tarballs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Packages as npm packs them, so that a tree is installed without any registry: legacy brings its own lodash 3."""
    folder = tmp_path_factory.mktemp("tarballs")
    tree(
        folder,
        {
            "lodash/package.json": package("lodash", "4.17.21"),
            "react/package.json": package("react", "18.2.0"),
            "widget/package.json": package(
                "widget", "2.0.0", peerDependencies={"react": "^17.0.0", "vue": "*"}, peerDependenciesMeta={"vue": {"optional": True}}
            ),
            "legacy/package.json": package("legacy", "1.0.0", dependencies={"lodash": "^3.10.0"}, bundleDependencies=["lodash"]),
            "legacy/node_modules/lodash/package.json": package("lodash", "3.10.1"),
        },
    )
    for name in ("lodash", "react", "widget", "legacy"):
        subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder], cwd=folder / name, check=True, capture_output=True, timeout=60)
    return folder


def installed(folder: Path, tarballs: Path, *names: str) -> Path:
    wants = {path.name.rpartition("-")[0]: f"file:{path}" for path in sorted(tarballs.glob("*.tgz")) if path.name.rpartition("-")[0] in names}
    tree(folder, {"package.json": package("app", "1.0.0", dependencies=wants)})
    command = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return folder


@needs_npm
def test_npm_is_asked_too_and_agrees_on_a_tree_that_it_made(tmp_path: Path, tarballs: Path) -> None:
    folder = installed(tmp_path, tarballs, "lodash", "legacy")
    before = sorted(path.name for path in folder.rglob("*"))
    found = node.tree(case(here(environ=dict(os.environ)), options={"node": str(folder)}))
    assert found.status == "refuted"
    assert "lodash is there 2 times: 3.10.1 (legacy@1.0.0 (^3.10.0)); 4.17.21 (app (file:" in found.summary
    assert found.data["npm"]["agrees"] is True
    assert "npm ls agrees: 3 packages" in found.evidence
    assert sorted(path.name for path in folder.rglob("*")) == before


@needs_npm
def test_npm_agrees_on_what_is_wrong_with_a_tree(tmp_path: Path, tarballs: Path) -> None:
    folder = installed(tmp_path, tarballs, "lodash", "react", "widget")
    shutil.rmtree(folder / "node_modules/lodash")
    found = node.tree(case(here(environ=dict(os.environ)), options={"node": str(folder)}))
    assert found.status == "confirmed"
    assert any(text.startswith("app needs lodash@file:") for text in found.data["unmet"])
    assert "widget@2.0.0 wants as peer react@^17.0.0, and 18.2.0 is installed" in found.data["unmet"]
    assert found.data["npm"]["agrees"] is True, found.data["npm"]
    assert {text.partition(":")[0] for text in found.data["npm"]["problems"]} == {"missing", "invalid"}


def test_where_npm_sees_something_else_that_is_shown(tmp_path: Path) -> None:
    """A program called npm that answers for another tree."""
    app(tmp_path)
    fake = tmp_path / "bin" / "npm"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\necho \'{"dependencies": {"ghost": {"version": "9.9.9"}}, "problems": ["missing: spectre@1, required by app"]}\'\n')
    fake.chmod(0o755)
    machine = here(environ={**os.environ, "PATH": f"{fake.parent}:/usr/bin:/bin"})
    found = node.tree(case(machine, options={"node": str(tmp_path)}))
    text = " ".join([found.summary, *found.evidence])
    assert "npm ls disagrees: npm ls lists ghost@9.9.9, which was not found by reading" in text
    assert "npm ls calls spectre missing or invalid" in found.data["npm"]["differs"]
    assert "npm ls does not complain of react" in found.data["npm"]["differs"]


@pytest.mark.parametrize(("script", "why"), [("sleep 60", "gave no answer within"), ("echo oops; exit 3", "npm ls failed: oops")])
def test_an_npm_that_hangs_or_fails_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, why: str) -> None:
    monkeypatch.setattr(node_npm, "LIMIT", 0.5)
    app(tmp_path)
    fake = tmp_path / "bin" / "npm"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    found = node.tree(case(here(environ={"PATH": f"{fake.parent}:/usr/bin:/bin"}), options={"node": str(tmp_path)}))
    assert why in found.data["npm"]["absent"]
    assert found.status == "confirmed"


def test_no_npm_is_an_answer_and_the_pipe_never_asks_it(tmp_path: Path) -> None:
    app(tmp_path)
    assert node.tree(case(here(environ={"PATH": ""}), options={"node": str(tmp_path)})).data["npm"]["absent"] == "npm is not here"
    assert "npm" not in node.tree(case(here(cwd=str(tmp_path), environ=dict(os.environ)))).data


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
