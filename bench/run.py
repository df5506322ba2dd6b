"""Every performance figure, each as a ratio beside its yardstick, measured in the same run: `make bench`, or `python bench/run.py --short`.

A wheel is built and installed into an environment of its own first (`--installed DIR` names one that is there). Ratios are medians of
paired runs. Processor time is what limits hold for where it tells the same as the clock: machines that measure are seldom idle.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1] / "src")]

import logs  # noqa: E402 - found beside this file
import others  # noqa: E402
import page  # noqa: E402
import regress  # noqa: E402
from measure import Place, first_byte, latency, paired  # noqa: E402

from aifix.match.keeper import GATES  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
TEE = """
import os
while data := os.read(0, 65536):
    os.write(1, data)
"""


class Figure(NamedTuple):
    """One figure: what, how many times its yardstick, and the limit it must keep (at most, or at least)."""

    group: str
    name: str
    yardstick: str
    ratio: float
    limit: float | None = None
    at_least: bool = False
    note: str = ""
    cost: float | None = None
    """What a regression is told by, lower is better: times the yardstick's processor time or memory; None where only the clock tells."""

    @property
    def kept(self) -> bool:
        """Tell whether the limit is kept."""
        return self.limit is None or (self.ratio >= self.limit if self.at_least else self.ratio <= self.limit)


class Bench:
    """An installed aifix, logs, and the figures so far."""

    def __init__(self, env: Path, scratch: Path, *, short: bool, size: int, target: str = "") -> None:
        self.target = target or sys.executable
        self.scripts = env / ("Scripts" if os.name == "nt" else "bin")
        self.python = str(self.scripts / "python")
        self.aifix = str(self.scripts / "aifix")
        self.short = short
        self.size = size
        self.scratch = scratch
        home = scratch / "home"
        home.mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AIFIX", "VIRTUAL_ENV"))}
        self.place = Place(kept | {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "LC_ALL": "C.UTF-8"}, home)
        found = subprocess.run(
            [self.python, "-c", "import aifix, pathlib; print(pathlib.Path(aifix.__file__).parent)"],
            capture_output=True, text=True, check=True, env=self.place.environ, cwd=home,
        )  # fmt: skip
        self.matcher: dict[str, Any] = json.loads(Path(found.stdout.strip(), "_base", "matcher.json").read_bytes())
        self.figures: list[Figure] = []
        self.pairs = 9 if short else 21

    def add(self, figure: Figure) -> None:
        """Take and print a figure."""
        self.figures.append(figure)
        limit = "" if figure.limit is None else f"{'>=' if figure.at_least else '<='} {figure.limit:g}"
        mark = "" if figure.limit is None else "ok" if figure.kept else "MISSED"
        print(f"{figure.group:11} {figure.name:46} {figure.ratio:8.2f} x {figure.yardstick:24} {limit:9} {mark:7} {figure.note}", flush=True)

    def start_up(self) -> None:
        """Measure what a short run pays."""
        bare = partial(self.place.run, [self.python, "-I", "-c", "pass"])
        failing = self._text(6000)
        failing = b"".join(failing.splitlines(keepends=True)[:94]) + logs.FAILURE
        for name, arguments, data, limit in (
            ("empty pipe", [], b"", 1.4),
            ("healthy 4 KB", [], self._text(4096), 1.6),
            ("healthy 60 KB", [], self._text(60_000), 2.2),
            ("healthy 250 KB", [], self._text(250_000), None),
            ("--version", ["--version"], b"", None),
            ("--help", ["--help"], b"", 5.0),
            ("failing 100 lines, no probes", ["--no-probe"], failing, 12.0),
            ("failing 100 lines", [], failing, None),
        ):
            one = partial(self.place.run, [self.aifix, *arguments], data, status=int(data is failing))
            one()
            if data is failing:
                said = self.place.says([self.aifix, *arguments], data)
                if "cuda.oom" not in said:
                    message = f"no diagnosis, but: {said.strip()[-200:]}"
                    raise RuntimeError(message)
            cost, _, cpu, wall = paired(one, bare, self.pairs)
            note = f"by the clock {wall:.2f}, {cost.cpu * 1000:.1f} ms"
            self.add(Figure("start-up", name, "python3 -I -c pass", cpu, limit, note=note, cost=cpu))
        tee = [self.python, "-I", "-c", TEE]
        ratios = [first_byte(self.place, [self.aifix, "-q"]) / first_byte(self.place, tee) for _ in range(3 * self.pairs)]
        self.add(Figure("start-up", "first byte", "bare Python tee", statistics.median(ratios), 1.3))

    def _text(self, size: int) -> bytes:
        block = next(logs.lines(logs.healthy_line))
        return block[:size].rpartition(b"\n")[0] + b"\n"

    def _log(self, kind: str, size: int) -> Path:
        gates = [gate.decode() for gate in GATES]
        cores = [core for core in self.matcher["cores"] if not any(gate in core.lower() for gate in gates)]
        sources = {
            "healthy": lambda: logs.cycle(logs.healthy_line),
            "adversarial": lambda: logs.cycle(logs.adversarial(cores, gates)),
            "error words": lambda: logs.cycle(logs.worried),
            "one endless line": lambda: logs.endless(b"x" * logs.BLOCK),
            "short lines": lambda: logs.cycle(lambda number: b"%d\n" % (number % 1000)),
            "1,024 ranks": lambda: logs.cycle(logs.ranks),
            "binary": logs.junk,
        }
        return logs.write(self.scratch / f"{kind.replace(' ', '-').replace(',', '')}-{size}.log", sources[kind](), size)

    def streams(self) -> None:
        """Measure throughput and memory."""
        patterns = self.scratch / "patterns"
        patterns.write_text(
            "\n".join(
                dict.fromkeys(_for_ripgrep(item[2]) for item in self.matcher["signatures"] if item[2] and item[2].isascii() and r"\n" not in item[2])
            )
            + "\n",
            "utf-8",
        )
        literals = self.scratch / "literals"
        literals.write_text("\n".join(dict.fromkeys(core[1:] for core in self.matcher["cores"] if "\n" not in core)) + "\n", "utf-8")
        rg = shutil.which("rg")
        limits = {"healthy": (0.75, 5.0), "adversarial": (0.4, 3.5)}
        for kind in ("healthy", "adversarial", "error words", "one endless line", "short lines", "1,024 ranks", "binary"):
            size = self.size if kind in limits else min(self.size, 100_000_000)
            path = self._log(kind, size)
            ours = partial(self.place.stream, [self.aifix, "-q", "--no-probe"], path)
            ours()  # the database is made once
            pairs = 5 if size > 200_000_000 or self.short else 9
            cat, searched = limits.get(kind, (None, None))
            mine, _, cpu, wall = paired(ours, partial(self.place.stream, ["cat"], path), pairs)
            note = f"by processor time {1 / cpu:.2f}; {size / mine.wall / 1e6:.0f} MB/s"
            self.add(Figure("stream", f"{kind}, {size // 1_000_000} MB", "cat", 1 / wall, cat, at_least=True, note=note))
            if kind in limits:
                peak = mine.peak / 32
                self.add(Figure("memory", f"{kind}, {size // 1_000_000} MB, peak", "32 MiB", peak, 1.0, note=f"{mine.peak:.1f} MiB", cost=peak))
            if kind == "healthy":
                _, _, cpu, wall = paired(ours, partial(self.place.stream, ["tee", "/dev/null"], path), pairs)
                self.add(Figure("stream", f"{kind}, {size // 1_000_000} MB", "tee", 1 / wall, note=f"by processor time {1 / cpu:.2f}"))
            if rg and kind in limits:
                self._beside_ripgrep(rg, kind, patterns, literals, searched)
        small = self._log("healthy", 10_000_000)
        large = self._log("healthy", self.size)
        peaks = [max(self.place.stream([self.aifix, "-q", "--no-probe"], path).peak for _ in range(3)) for path in (small, large)]
        growth = peaks[1] / peaks[0]
        self.add(Figure("memory", f"healthy, {self.size // 1_000_000} MB", "that of 10 MB", growth, 1.15, note=f"{peaks[0]:.1f} MiB", cost=growth))

    def _beside_ripgrep(self, rg: str, kind: str, patterns: Path, literals: Path, searched: float | None) -> None:
        """Measure what ripgrep takes for the same patterns, and for the same literals; what it takes to compile them is not counted against it."""
        regexes = [rg, "--no-config", "--no-unicode", "-c", "-f", str(patterns), "--regex-size-limit", "2G", "--dfa-size-limit", "2G"]
        fixed = [rg, "--no-config", "-F", "-c", "-f", str(literals)]
        empty = self.scratch / "empty"
        empty.write_bytes(b"")
        for name, command, size, goal in (
            ("ripgrep, same patterns", regexes, 4_000_000 if self.short else 20_000_000, searched),  # it does some MB a second
            ("ripgrep -F, same literals", fixed, 20_000_000, None),
        ):
            path = self._log(kind, size)
            ours = partial(self.place.stream, [self.aifix, "-q", "--no-probe"], path)
            compiling = statistics.median(self.place.stream(command, empty).cpu for _ in range(3))
            first, second, _, _ = paired(ours, partial(self.place.stream, command, path), 5)
            took = max(second.cpu - compiling, 1e-3)
            note = f"{path.stat().st_size / took / 1e6:.0f} MB/s"
            ratio = took / first.cpu
            self.add(Figure("stream", f"{kind}, {size // 1_000_000} MB", name, ratio, goal, at_least=True, note=note, cost=1 / ratio))

    def latencies(self) -> None:
        """Measure how long a line takes."""
        count = 100 if self.short else 400
        ours = sorted(latency(self.place, [self.aifix, "-q"], count, 0.01))
        cat = sorted(latency(self.place, ["cat"], count, 0.01))
        for name, at, limit in (("median", 0.5, 0.2), ("99 of 100", 0.99, 5.0)):
            more = (ours[int(at * count)] - cat[int(at * count)]) * 1000
            self.add(Figure("latency", f"a line every 10 ms, {name}: ms more", "cat", more, limit, note=f"cat {cat[int(at * count)] * 1000:.3f} ms"))

    def diagnoses(self) -> None:
        """Measure that a diagnosis grows no faster than its log."""
        command = [self.aifix, "--no-probe"]
        cases = [(10_000_000, 1), (100_000_000, 100)] if self.short else [(10_000_000, 1), (100_000_000, 100), (1_000_000_000, 10_000)]
        costs = []
        for size, failures in cases:
            path = logs.failing(self.scratch / f"failing-{size}-{failures}.log", size, failures)
            runs = [self.place.stream(command, path) for _ in range(3)]
            costs.append(statistics.median(run.cpu for run in runs))
            self.add(
                Figure(
                    "diagnosis", f"{size // 1_000_000} MB, {failures:,} failures", "second", costs[-1], note=f"{max(r.peak for r in runs):.0f} MiB"
                )
            )
        for (size, _), (before, _), more, less in zip(cases[1:], cases, costs[1:], costs, strict=False):
            growth = more / less / (size / before)
            self.add(Figure("diagnosis", f"{size // 1_000_000} MB for {before // 1_000_000}", "the log's growth", growth, 1.0, cost=growth))
        many = self.scratch / "tracebacks.log"
        if not many.exists():
            many.write_bytes(b"".join(logs.FAILURE.replace(b"1.50", b"%d.50" % number) for number in range(10_000)))
        run = self.place.stream(command, many)
        self.add(Figure("diagnosis", "10,000 tracebacks", "5 seconds", run.cpu / 5, 1.0, note=f"{run.cpu:.2f} s, {run.peak:.0f} MiB"))

    def others(self) -> None:
        """Measure our checks beside those that people run today."""
        for pair in others.pairs(self.aifix, self.target, self.scratch):
            mine = partial(self.place.run, pair.mine)
            mine()
            cost, other, cpu, wall = paired(mine, partial(self.place.run, pair.other), 3 if self.short else 7)
            note = f"by the clock {wall:.2f}; {cost.cpu:.2f} s against {other.cpu:.2f}"
            self.add(Figure("others", pair.ours, pair.yardstick, cpu, note=note))


def _for_ripgrep(pattern: str) -> str:
    """Write a pattern as ripgrep takes it: no names twice, no needless escapes."""
    pattern = re.sub(r"\(\?P<\w+>", "(?:", pattern)
    return re.sub(r"\\([^\w\\.+*?()|\[\]{}^$#&~-])", r"\1", pattern)


def install(folder: Path) -> Path:
    """Build a wheel of the working tree and install it into a fresh environment."""
    dist = folder / "dist"
    for command in (
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", str(dist), str(ROOT)],
    ):
        subprocess.run(command, check=True, cwd=folder)
    (wheel,) = dist.glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "pip"], check=False)  # pips before 25 write a command that imports `re`
    subprocess.run([*pip, str(wheel)], check=True)
    return folder / "env"


def measure(bench: Bench, parts: list[str], baseline: dict[str, float]) -> list[regress.Regression]:
    """Measure; what seems to have become worse than the baseline is measured again, twice at most, and its best figure counts.

    Raises:
        LookupError: the baseline is of no use.
    """
    for part in parts:
        getattr(bench, part)()
    runs = [comparable(bench.figures)]
    for _ in range(2 if baseline else 0):
        worse = regress.regressions(regress.best(runs), baseline)
        if not worse:
            return []
        again = {one.figure.group for one in worse}
        before, bench.figures = bench.figures, []
        for part in parts:
            if again & GROUPS[part]:
                getattr(bench, part)()
        runs.append(comparable(bench.figures))
        bench.figures = before
    return regress.regressions(regress.best(runs), baseline) if baseline else []


PARTS = ("start_up", "latencies", "streams", "diagnoses", "others")
GROUPS = {"start_up": {"start-up"}, "latencies": {"latency"}, "streams": {"stream", "memory"}, "diagnoses": {"diagnosis"}, "others": {"others"}}
"""The groups of figures that each part measures."""


def comparable(figures: list[Figure]) -> list[regress.Measured]:
    """Give the figures that do not hang on what else the machine does."""
    return [regress.Measured(one.group, f"{one.name} / {one.yardstick}", one.cost) for one in figures if one.cost is not None]


def main() -> int:
    """Measure, print, write; 1 when a limit was missed, or with `--against` when a figure has become worse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="two minutes' worth, for CI")
    parser.add_argument("--size", type=int, default=0, help="bytes of the large logs (1 GB; 60 MB with --short)")
    parser.add_argument("--installed", type=Path, help="an environment with aifix; one is made by default")
    parser.add_argument("--only", default="", help=f"{', '.join(PARTS)}, by commas")
    parser.add_argument("--target", default="", help="a Python with torch, for the checks of its environment; the running one by default")
    parser.add_argument("--json", type=Path, default=ROOT / "bench" / "results.json", help="where the figures go")
    parser.add_argument("--page", type=Path, help="where a page for the handbook goes (docs/speed.md)")
    parser.add_argument("--scratch", type=Path, help="where the logs go (3 GB for the long form); a temporary folder by default")
    parser.add_argument(
        "--against", type=Path, help="a baseline (bench/baseline.json): end with 1 when a ratio of processor time or memory has become worse"
    )
    parser.add_argument("--accept", type=Path, help="write these figures as a baseline")
    options = parser.parse_args()
    scratch = options.scratch or Path(tempfile.mkdtemp(prefix="aifix-bench-"))
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        baseline = regress.read(options.against) if options.against else {}
        env = options.installed or install(scratch)
        size = options.size or (60_000_000 if options.short else 1_000_000_000)
        bench = Bench(env.resolve(), scratch, short=options.short, size=size, target=options.target)
        worse = measure(bench, options.only.split(",") if options.only else list(PARTS), baseline)
    except (OSError, ValueError, LookupError, RuntimeError) as error:
        parser.error(str(error))
    finally:
        if not options.scratch:
            shutil.rmtree(scratch, ignore_errors=True)
    about = {"python": platform.python_version(), "system": platform.platform(), "processors": os.cpu_count(), "short": options.short}
    results = {"about": about, "figures": [{**figure._asdict(), "kept": figure.kept} for figure in bench.figures]}
    options.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if options.page:
        options.page.write_text(page.page(results), "utf-8")
    if options.accept:
        regress.write(options.accept, regress.best([comparable(bench.figures)]))
    missed = [figure for figure in bench.figures if not figure.kept]
    print(f"{len(bench.figures)} figures, {len(missed)} missed; written to {options.json}")
    for one in worse:
        print(f"worse than the baseline: {one}")
    return int(bool(worse if options.against else missed))


if __name__ == "__main__":
    sys.exit(main())
