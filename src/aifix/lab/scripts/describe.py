"""Say what an interpreter has, as one line of JSON. Standard library only, Python 3.8 and later; imports none of what it names.

Usage: describe.py [--gpu] MODULE...
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from importlib import metadata
from typing import Any, Dict, List, Mapping, Optional


def version(module: str, owners: Mapping[str, List[str]]) -> Optional[str]:
    """Give a module's version, '' where it has none, None where it is not installed."""
    try:
        if importlib.util.find_spec(module) is None:
            return None
    except (ImportError, ValueError):
        return None
    for name in [*owners.get(module, ()), module, module.replace("_", "-")]:
        try:
            return metadata.version(name) or ""
        except metadata.PackageNotFoundError:
            continue
    return ""


def owners() -> Mapping[str, List[str]]:
    """Give the distributions that bring each module, where Python can tell."""
    return metadata.packages_distributions() if sys.version_info >= (3, 10) else {}


def torch_build() -> str:
    """Tell a CPU build of torch from a CUDA build by its version.py."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.origin:
        return ""
    try:
        with open(os.path.join(os.path.dirname(found.origin), "version.py"), encoding="utf-8") as stream:
            said: Dict[str, Any] = {}
            exec(compile(stream.read(), "version.py", "exec"), said)  # noqa: S102 - torch's own
    except Exception:
        return ""
    return "cuda" if said.get("cuda") else "cpu"


def gpus() -> int:
    """Count the GPUs that torch can use, in a process of its own."""
    command = [sys.executable, "-c", "import torch; print(torch.cuda.device_count())"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return int(done.stdout.strip() or 0) if done.returncode == 0 else 0


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    known = owners()
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    print(
        json.dumps(
            {
                "python": "{}.{}.{}".format(*sys.version_info[:3]),
                "executable": sys.executable,
                "modules": {name: version(name, known) for name in names},
                "torch_build": torch_build(),
                "gpus": gpus() if "--gpu" in sys.argv else 0,
            }
        )
    )
