"""Run the specimens of torch under several versions of it, and write docs/torch-versions.md: `make lab-versions`.

Without interpreters, environments are made for the oldest torch that the package index serves for this Python, for one in the middle and for
the newest; `--folder` keeps them. Old wheels bring CUDA libraries: some gigabytes are loaded.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import venv
from pathlib import Path

from aifix.lab import environment, specimen, verify, versions
from aifix.lab.running import Runner

ROOT = Path(__file__).resolve().parents[2]


def served() -> list[str]:
    """Give the versions of torch that the index serves for this Python, the oldest first."""
    command = [sys.executable, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Available versions: (.*)", said)
    if found is None:
        raise SystemExit("the package index tells no versions of torch")
    return found[1].split(", ")[::-1]


def made(version: str, folder: Path) -> Path:
    """Make an environment with a version of torch, or take the one that is there."""
    place = folder / f"torch-{version}"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        venv.create(place, with_pip=True, clear=True)
        numpy = "numpy<2" if int(version.split(".", maxsplit=1)[0]) < 2 or int(version.split(".")[1]) < 3 else "numpy"
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"torch=={version}", numpy, "pillow"], check=True)
        (place / "ready").touch()
    return python


def main() -> int:
    """Run and write; the status is 1 when a specimen that can run is wrong under some version."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", type=Path, help="interpreters that have torch")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv-torch", help="where environments are kept")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "torch-versions.md", help="what to write")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    pythons = given.pythons
    if not pythons:
        listed = served()
        pythons = [made(version, given.folder) for version in dict.fromkeys((listed[0], listed[len(listed) // 2], listed[-1]))]
    chosen = versions.of_torch(specimen.load_chosen(ROOT / "tests" / "specimens"))
    runs = []
    for python in pythons:
        target = environment.describe(str(python.absolute()), chosen)
        with Runner(target.python) as runner:
            rows = list(verify.verify_all(chosen, target, runner, given.jobs))
        for row in rows:
            if row.verdict == "wrong":
                print(f"torch {target.modules['torch']}: {row.name}: {'; '.join(row.wrong)}", flush=True)
        runs.append((target, rows))
    given.page.write_text(versions.page(runs), "utf-8")
    print(f"written: {given.page}")
    return 1 if any(row.verdict == "wrong" for _, rows in runs for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
