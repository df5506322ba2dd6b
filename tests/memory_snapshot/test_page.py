"""The page for the browser: everything in it, nothing from elsewhere, and no text of a snapshot that acts."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from tests.memory_snapshot.allocator import MIB, Allocator

from aifix.memory_snapshot import snapshot
from aifix.memory_snapshot.read import parse
from aifix.memory_snapshot.verdict import judge
from aifix.show.snapshot_page import POLICY, render

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("plotly", reason="plotly is missing: the page is an extra")

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


class Elements(HTMLParser):
    """Collects elements with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Elements()
    parser.feed(page)
    return parser.found


def test_nothing_comes_from_elsewhere(snapshots: Path) -> None:
    page = render(snapshot(snapshots / "leak_to_the_end.pickle"))
    for tag, attributes in elements(page):
        assert tag not in {"link", "iframe", "img", "object", "embed", "base"}
        assert "src" not in attributes
        assert "href" not in attributes
    assert f'content="{POLICY}"' in page
    assert POLICY.startswith("default-src 'none'")


def test_it_holds_timeline_flame_graph_and_findings(snapshots: Path) -> None:
    page = render(snapshot(snapshots / "leak_to_the_end.pickle"))
    figures = re.findall(r'Plotly\.newPlot\(\s*"[^"]+",\s*(\[.*?\]),\s*\{', page, re.DOTALL)
    (reserved, held), (flame,) = (json.loads(figure) for figure in figures)
    assert (reserved["name"], held["name"], flame["type"]) == ("reserved", "held by tensors", "icicle")
    root = flame["values"][flame["parents"].index("")]
    children = [value for value, parent in zip(flame["values"], flame["parents"], strict=True) if parent == "0"]
    assert sum(children) == root
    assert "log_outputs train.py:55" in flame["labels"]
    assert "train.memory-growth" in page
    assert "/home/user/train.py:55 in log_outputs" in page


def test_texts_of_the_snapshot_are_escaped() -> None:
    memory = Allocator()
    memory.malloc(MIB, [{"name": EVIL, "filename": f"/home/user/{EVIL}.py", "line": 3}])
    page = render(judge(parse(memory.snapshot()), {}, source=EVIL))
    # the library's own JavaScript holds such words; the rest must not
    own = page[page.index("</script></head>") :]
    assert "<img" not in own
    assert "alert(1)</script>" not in own
    assert all("onerror" not in attributes for _, attributes in elements(own))
    assert "&lt;img" in own


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium")
def test_a_browser_draws_it_without_an_error(tmp_path: Path) -> None:
    memory = Allocator()
    memory.malloc(MIB, [{"name": EVIL, "filename": "/home/user/train.py", "line": 3}])
    (tmp_path / "x.pickle").write_bytes(pickle.dumps(memory.snapshot()))
    environ = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "snapshot", "x.pickle", "--html", "x.html"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == "aifix: wrote x.html\n"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    flags += ["--disable-component-update", "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=8000"]
    shown = subprocess.run(
        [CHROMIUM, *flags, "--enable-logging=stderr", "--dump-dom", f"file://{tmp_path / 'x.html'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Uncaught" not in shown.stderr
    assert "Refused" not in shown.stderr
    assert shown.stdout.count("main-svg") >= 2
    drawn = shown.stdout[shown.stdout.rindex("<h1>") :]
    assert "<img" not in drawn


def test_without_plotly_one_line_says_what_to_install(tmp_path: Path, snapshots: Path) -> None:
    (tmp_path / "plotly.py").write_text("raise ModuleNotFoundError('no plotly')\n")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "aifix", "snapshot", str(snapshots / "healthy.pickle"), "--html", "x.html"],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "aifix: the page needs plotly: pip install 'aifix-kb[snapshot]'\n"
