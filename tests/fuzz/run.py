"""Coverage-guided fuzzing with atheris (Linux x86-64: pip install atheris): python tests/fuzz/run.py intake -max_total_time=60

Inputs that found new paths are kept in tests/fuzz/corpus/<target>/ when they end a run with a crash; the working corpus of a run stays in
.fuzz/<target>/. Without a target each runs for a minute. Arguments with a dash go to libFuzzer.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def fuzz(name: str, arguments: list[str]) -> None:
    """Fuzz one target in this process."""
    import atheris

    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    with atheris.instrument_imports(include=["aifix"]):
        from tests.fuzz.targets import TARGETS, base

    base()
    TARGETS["diagnose"](b"RuntimeError: mat1 and mat2 cannot be added\n")  # what is made once is not an input's time
    work = ROOT / ".fuzz" / name
    kept = HERE / "corpus" / name
    for folder in (work, kept):
        folder.mkdir(parents=True, exist_ok=True)
    atheris.Setup([sys.argv[0], f"-artifact_prefix={kept}/", "-max_len=4096", "-timeout=30", *arguments, str(work), str(kept)], TARGETS[name])
    atheris.Fuzz()


def main() -> int:
    """Fuzz the named targets, or each for a minute."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    arguments = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    if len(names) == 1:
        fuzz(names[0], arguments)
        return 0
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    from tests.fuzz.targets import TARGETS

    status = 0
    for name in names or TARGETS:
        done = subprocess.run([sys.executable, __file__, name, *(arguments or ["-max_total_time=60"])], check=False)
        status = status or done.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
