"""Packs rules/, kb/ and the terminal interface into the wheel, rules and articles compiled and indexed: an installed aifix parses no YAML."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# what stands at the top for contributors, and where an installed aifix finds it
PACKED = {"rules": "aifix/_rules", "kb": "aifix/_kb", "tui/aifix_tui": "aifix_tui"}
IGNORED = {".pyc", ".pyo"}


class PackRules(BuildHookInterface[Any]):
    """The wheel's build hook."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to pack; an editable install finds all of it in the source tree and gets nothing."""
        if version == "editable":
            return
        root = Path(self.root)
        include: dict[str, str] = build_data["force_include"]
        for folder, target in PACKED.items():
            for path in sorted((root / folder).rglob("*")):
                if path.is_file() and path.suffix not in IGNORED and not path.name.startswith("."):
                    include[str(path)] = f"{target}/{path.relative_to(root / folder).as_posix()}"
        self._scratch = tempfile.TemporaryDirectory(prefix="aifix-base-")
        for path in compile_all(root, Path(self._scratch.name)):
            include[str(path)] = f"aifix/_base/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the compiled files once they are in the wheel."""
        del version, build_data, artifact_path
        scratch = getattr(self, "_scratch", None)
        if scratch is not None:
            scratch.cleanup()


def compile_all(root: Path, out: Path) -> list[Path]:
    """Compile rules/ and kb/ with the very code that is being packed, and return the files written.

    Args:
        root: The source tree.
        out: An existing, empty folder.
    """
    sys.path.insert(0, str(root / "src"))
    try:
        from aifix.kb import build as handbook
        from aifix.rulebase.compile import build
    finally:
        sys.path.remove(str(root / "src"))
    build(root / "rules", out)
    handbook.build(root / "kb", out)
    return sorted(path for path in out.iterdir() if path.is_file())
