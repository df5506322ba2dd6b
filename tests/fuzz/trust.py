"""Measure what aifix withstands, and write it down: python tests/fuzz/trust.py [--seconds 60] (`make trust`) writes docs/trust.md.

Fuzzing needs atheris (Linux x86-64: pip install atheris) in the Python that runs this, or in the one named by --fuzzer.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "trust.md"
FIGURES = HERE / "figures.json"
"""The last figures, so that the page can be remade in part (--only)."""
FAULTS = (
    "tests/e2e/test_faults.py",
    "tests/e2e/test_limits.py",
    "tests/e2e/test_replaced.py",
    "tests/e2e/test_bad_input.py",
    "tests/e2e/test_pipe.py",
    "tests/kb/test_store.py",
    "tests/kb/test_clock.py",
    "tests/kb/test_signals.py",
    "tests/supervise/test_signals.py",
    "tests/supervise/test_passing.py",
)
HOSTILE = (
    "tests/rulebase/test_source.py",
    "tests/rulebase/test_base.py",
    "tests/reason/test_expressions.py",
    "tests/unpickle/test_unpickle.py",
    "tests/show/test_safe.py",
    "tests/e2e/test_painting.py",
    "tests/tui/test_safety.py",
)


def fuzzing(python: str, seconds: int, names: list[str], found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Fuzz the named targets, or each, and count their inputs; of the others the last figures stay."""
    from tests.fuzz.targets import TARGETS

    for name in names or TARGETS:
        command = [python, str(HERE / "run.py"), name, f"-max_total_time={seconds}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
        runs = re.search(r"Done (\d+) runs", done.stderr)
        if runs is None:
            print(f"{name}: {done.stderr[-2000:]}", file=sys.stderr)
        kept = sum(1 for path in (HERE / "corpus" / name).glob("*") if path.is_file())
        found[name] = {"inputs": int(runs[1]) if runs else 0, "new": int(done.returncode != 0), "kept": kept}
        print(name, found[name], flush=True)
    return found


def secrets() -> dict[str, float]:
    """Count planted secrets, those that got out, and redactions of lines that hold none."""
    tests = _load(ROOT / "tests" / "test_redact.py")
    from aifix import redact

    escaped = sum(tests.leaks(secret, redact.redact(text)) for _, secret, text in tests.PLANTED)
    lines = changed = 0
    for folder in (ROOT / "tests" / "corpus", ROOT / "tests" / "intake", ROOT / "src" / "aifix" / "examples"):
        for path in sorted(folder.rglob("*")):
            if path.suffix in {".log", ".txt"}:
                for line in path.read_text("utf-8", "replace").split("\n"):
                    lines += 1
                    changed += any(item.kind != "e-mail address" for item in redact.find(line))
    return {
        "planted": len(tests.PLANTED),
        "kinds": len({kind for kind, _, _ in tests.PLANTED}),
        "escaped": escaped,
        "lines": lines,
        "changed": changed,
    }


def worst() -> dict[str, float]:
    """Search every signature in its own near-hits."""
    from tests.fuzz.worst import measure

    found = measure()
    ratios = sorted(one.whole / one.half for one in found if one.half > 0.002)
    return {
        "signatures": len({one.pattern for one in found}),
        "texts": len(found),
        "ratio": sum(one.whole for one in found) / sum(one.half for one in found),
        "most": max(ratios, default=0.0),
        "median": statistics.median(ratios) if ratios else 0.0,
        "slowest": max(one.whole for one in found),
    }


def passing(paths: tuple[str, ...]) -> dict[str, float]:
    """Run tests, and count the cases that hold."""
    there = [str(ROOT / path) for path in paths]  # one that has moved is an error, not a smaller figure
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *there]
        subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        suite = ET.parse(report).getroot()[0]  # noqa: S314
    for case in suite.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            print(f"failed: {case.get('classname')}.{case.get('name')}", file=sys.stderr)
    cases, bad = int(suite.get("tests", 0)), int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return {"cases": cases, "failed": bad, "skipped": int(suite.get("skipped", 0))}


def _load(path: Path) -> object:
    """Import a test module by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def summary(figures: dict[str, dict]) -> list[tuple[str, str]]:
    """Give the figures that the page begins with, each with its name."""
    found = []
    if fuzzed := figures.get("fuzzing"):
        found += [
            ("inputs fuzzed", f"{sum(item['inputs'] for item in fuzzed.values()):,.0f}"),
            ("crashes found and fixed, kept as cases", f"{sum(item['kept'] for item in fuzzed.values()):,.0f}"),
            ("targets that ended with something undocumented in the last run", f"{sum(item['new'] for item in fuzzed.values()):,.0f}"),
        ]
    if slow := figures.get("worst"):
        found += [
            ("time for twice the worst text, over all signatures (2 is linear)", f"{slow['ratio']:.2f}"),
            ("the same, worst single one", f"{slow['most']:.2f}"),
        ]
    if hidden := figures.get("secrets"):
        found += [
            ("planted secrets caught", f"{hidden['planted'] - hidden['escaped']:,.0f} of {hidden['planted']:,.0f}, {hidden['kinds']:.0f} kinds"),
            (
                "false redactions per million lines",
                f"{hidden['changed'] / max(1, hidden['lines']) * 1e6:.0f} ({hidden['changed']:.0f} in {hidden['lines']:,.0f})",
            ),
        ]
    for name, what in (("faults", "faults survived"), ("hostile", "hostile rules, files and texts withstood")):
        if cases := figures.get(name):
            ran = cases["cases"] - cases["skipped"]
            found.append((what, f"{ran - cases['failed']:.0f} of {ran:.0f}"))
    return found


def page(figures: dict[str, dict]) -> str:
    """Write the page."""
    parts = [
        "# What aifix withstands\n",
        (
            "Logs, rule packs, pickles and trees of packages come from strangers. These figures were measured by `make trust`, which writes this page anew"
            f" ({figures['about']['python']}, {figures['about']['system']}).\n"
        ),
    ]
    parts += ["| measured | figure |\n|---|---:|", *(f"| {what} | {figure} |" for what, figure in summary(figures)), ""]
    if fuzzed := figures.get("fuzzing"):
        total, new = sum(item["inputs"] for item in fuzzed.values()), sum(item["new"] for item in fuzzed.values())
        parts += [
            "## Inputs fuzzed\n",
            (
                f"Coverage-guided, with atheris: {total:,.0f} inputs in this run, {new} of the {len(fuzzed)} targets ended with something undocumented."
                " What was found before is fixed, and kept as a case that every test run reads again.\n"
            ),
            "| target | inputs | found in this run | cases kept |\n|---|---:|---:|---:|",
            *(f"| {name} | {item['inputs']:,} | {item['new']} | {item['kept']} |" for name, item in fuzzed.items()),
            "",
        ]
    if slow := figures.get("worst"):
        parts += [
            "## Time\n",
            (
                f"Every signature is searched in the worst text that can be made from its own regex, near-hits from end to end: {slow['texts']:,} texts for"
                f" {slow['signatures']:,} patterns. A text of 64 KiB takes {slow['ratio']:.2f} times what its half takes (2 is linear; the worst single"
                f" one, of those over 2 ms, {slow['most']:.2f}), and the slowest search {slow['slowest'] * 1000:.0f} ms.\n"
            ),
        ]
    if hidden := figures.get("secrets"):
        parts += [
            "## Secrets\n",
            (
                f"{hidden['planted']} planted secrets of {hidden['kinds']} kinds in logs, addresses, environments and command lines: {hidden['escaped']} got out."
                f" Of {hidden['lines']:,} lines of real logs, {hidden['changed']} were changed though they held none.\n"
            ),
        ]
    for name, head, text in (
        (
            "faults",
            "Faults",
            (
                "A full disk, no home, no memory, no process, a closed output, signals, a clock that jumps, damaged caches and databases, two at once,"
                " another version meanwhile"
            ),
        ),
        ("hostile", "Hostile rules and files", "Rule packs, pickles and texts that would execute, read, hang or paint the terminal"),
    ):
        if cases := figures.get(name):
            survived = cases["cases"] - cases["failed"] - cases["skipped"]
            parts += [f"## {head}\n", f"{text}: {survived:.0f} of {cases['cases'] - cases['skipped']:.0f} cases end as they should.\n"]
    return "\n".join(parts)


def main() -> int:
    """Measure, write; 1 when something got out or broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of fuzzing, for each target")
    parser.add_argument("--fuzzer", default=sys.executable, help="the Python that has atheris")
    parser.add_argument("--target", action="append", default=[], help="fuzz this target alone; may be given again")
    parser.add_argument("--only", default="fuzzing,worst,secrets,faults,hostile", help="parts to measure; the others keep their last figures")
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    figures["about"] = {"python": f"Python {platform.python_version()}", "system": f"{platform.system()} {platform.machine()}"}
    measures = {
        "fuzzing": lambda: fuzzing(options.fuzzer, options.seconds, options.target, figures.get("fuzzing", {})),
        "worst": worst,
        "secrets": secrets,
        "faults": lambda: passing(FAULTS),
        "hostile": lambda: passing(HOSTILE),
    }
    for name in options.only.split(","):
        figures[name] = measures[name]()
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(figures), "utf-8")
    new = sum(item["new"] for item in figures.get("fuzzing", {}).values())
    bad = new + figures.get("secrets", {}).get("escaped", 0) + sum(figures.get(name, {}).get("failed", 0) for name in ("faults", "hostile"))
    print(f"written to {PAGE.relative_to(ROOT)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
