from __future__ import annotations

import json
import subprocess
import zipfile
from typing import TYPE_CHECKING

import jsonschema
from tests.e2e.harness import OOM, ROOT, Installed

if TYPE_CHECKING:
    from pathlib import Path


def test_the_wheel_holds_rules_articles_and_the_compiled_base(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, target in {"rules": "aifix/_rules", "kb": "aifix/_kb", "tui/aifix_tui": "aifix_tui"}.items():
        files = [path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".pyc"]
        assert {f"{target}/{path.as_posix()}" for path in files} <= names
    assert {f"aifix/_base/{name}" for name in ("cores.txt", "matcher.json", "texts.json", "articles.json", "handbook.db")} <= names
    assert {"aifix/py.typed", "aifix/show/report.schema.json", "aifix/examples/cuda-oom.log"} <= names
    assert not [name for name in names if name.startswith(("tests/", "bench/", "src/"))]
    assert not [name for name in names if name.endswith((".pyc", ".pth"))]


def test_the_core_is_light(installed: Installed) -> None:
    done = subprocess.run(
        [installed.python, "-m", "pip", "list", "--format", "json"],
        capture_output=True,
        check=True,
        cwd=installed.folder,
        env=installed.environ,
    )
    names = {entry["name"].lower() for entry in json.loads(done.stdout)}
    assert "aifix-kb" in names
    assert not names & {"torch", "textual", "numpy", "pynvml", "libcst"}


def test_the_main_job(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    done = here.bash("cat run.log | aifix >out 2>err; echo ${PIPESTATUS[1]}; cmp run.log out")
    assert done.out == b"1\n", done
    shown = (here.folder / "err").read_text()
    assert "cuda.oom" in shown
    assert "1.50 GiB" in shown
    assert "\x1b" not in shown
    assert "Traceback" not in shown


def test_it_works_without_the_source_tree(here: Installed) -> None:
    where = subprocess.run(
        [here.python, "-c", "import aifix; print(aifix.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=here.folder,
        env=here.environ,
    )
    assert str(ROOT) not in where.stdout
    assert str(ROOT) not in here.run("rules", "list").out.decode()


def test_version_is_the_distributions(here: Installed) -> None:
    code = "from importlib.metadata import version; print(version('aifix-kb'))"
    told = subprocess.run([here.python, "-c", code], capture_output=True, text=True, check=True, cwd=here.folder, env=here.environ).stdout.strip()
    assert here.run("--version").out.decode() == f"aifix {told}\n"


def test_bundled_examples_are_found(here: Installed) -> None:
    done = here.bash("cat $(python -m aifix.examples cuda-oom) | aifix >/dev/null; echo ${PIPESTATUS[1]}; python -m aifix.examples")
    assert done.out == b"1\ncuda-oom\n"
    assert here.bash("python -m aifix.examples nothing").status == 2


def test_diagnose_prints_a_valid_report(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    done = here.run("diagnose", "--format", "json", "run.log")
    report = json.loads(done.out)
    schema = json.loads((ROOT / "src" / "aifix" / "show" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(report)
    assert done.status == 1
    assert report["failed"] is True
    assert report["diagnoses"][0]["id"] == "cuda.oom"
    assert report["diagnoses"][0]["facts"]["requested"]["text"] == "1.50 GiB"
    assert json.loads(here.run("--format", "json", data=OOM).out)["diagnoses"][0]["id"] == "cuda.oom"


def test_the_python_api_gives_the_same(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    code = "import aifix; r = aifix.diagnose('run.log'); print(r.failed, r.diagnoses[0].id)"
    told = subprocess.run([here.python, "-c", code], capture_output=True, text=True, check=True, cwd=here.folder, env=here.environ).stdout
    assert told == "True cuda.oom\n"


def test_the_handbook_is_searched_without_making_an_index(here: Installed) -> None:
    done = here.run("kb", "search", "cuda", "allocatr")
    assert done.out.decode().startswith("cuda-allocator  "), done
    assert "Reading the message" in here.run("kb", "show", "cuda-allocator").out.decode()
    assert not list(here.folder.rglob("handbook-*.db"))


def test_why_shows_the_derivation(here: Installed) -> None:
    (here.folder / "run.log").write_bytes(OOM)
    done = here.run("why", "run.log")
    assert done.status == 1
    for part in ("cuda.oom", "signature", "facts", "confidence", "1.50 GiB"):
        assert part in done.out.decode()
