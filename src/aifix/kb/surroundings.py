"""What surrounds a failure and may have caused it: interpreter, package versions, telling variables, driver, cards, revision, project.

Only small files and folder lists are read: a pipe whose run just failed waits for this.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from aifix import redact
from aifix.kb.keys import key_of
from aifix.kb.nouns import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.target import Target

# fmt: off
_FAMILIES = (
    "CUDA_", "NVIDIA_", "NCCL_", "GLOO_", "TORCH_", "PYTORCH_", "TORCHINDUCTOR_", "TORCHELASTIC_", "XLA_", "JAX_", "TF_", "HIP_", "ROCR_", "ROCM_",
    "HSA_", "MIOPEN_", "RCCL_", "OMP_", "MKL_", "KMP_", "OPENBLAS_", "HF_", "TRANSFORMERS_", "TOKENIZERS_", "ACCELERATE_", "DEEPSPEED_", "DS_",
    "VLLM_", "TRITON_", "NPM_", "NODE_", "RAY_", "FI_", "UCX_", "MALLOC_", "LIGHTNING_", "FSDP_", "CUBLAS_", "CUDNN_",
)
"""How variables begin that libraries read, and that may end or begin a failure."""
_TELLING = frozenset((
    "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "CONDA_PREFIX", "MASTER_ADDR", "WORLD_SIZE",
    "LOCAL_WORLD_SIZE", "CC", "CXX", "MAX_JOBS", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONNOUSERSITE", "PYTHONMALLOC", "PYTHONOPTIMIZE",
    "PYTHONUTF8", "PYTHONWARNINGS", "PYTHONSAFEPATH",
))
# fmt: on
_PASSING = ("TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "TF_CLI", "NODE_EXTRA_CA", "NPM_CONFIG_CACHE", "CUDA_CACHE_PATH")
"""Variables that differ from run to run, or belong to other programs."""
_SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PWD", "PASS", "PAT", "AUTH")
_FOLDERS = ("PWD", "OLDPWD")
VARIABLE = 200
"""Characters of a variable that are kept."""


def environment(target: Target) -> Environment:
    """Read the environment of a failed run, as its interpreter's files and the process' variables tell it."""
    environ = target.environ if target.environ is not None else os.environ
    version, folders = _interpreter(target.python, environ) if target.known else ("", ())
    _, release, processor = machine()
    return Environment(
        system=f"{sys.platform} {processor} {release.partition('-')[0]}".strip(),
        python=version,
        interpreter=target.python,
        packages=packages(folders),
        variables=variables(environ),
        driver=driver(),
        cards=cards(),
    )


def machine() -> tuple[str, str, str]:
    """Give this machine's name, the system's release and the kind of processor; `platform` would, and its import takes longer than all else."""
    if hasattr(os, "uname"):
        told = os.uname()
        return told.nodename, told.release, told.machine
    return os.environ.get("COMPUTERNAME", ""), "", os.environ.get("PROCESSOR_ARCHITECTURE", "")


def _interpreter(python: str, environ: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    from aifix.probes import interpreter

    try:
        found = interpreter.read(python, environ)
    except (OSError, ValueError):
        return "", ()
    return found.version, found.folders


def packages(folders: tuple[str, ...]) -> dict[str, str]:
    """Give the distributions of package folders by the names of their metadata, which tell the versions; the first folder wins."""
    found: dict[str, str] = {}
    for folder in folders:
        try:
            names = os.listdir(folder)  # noqa: PTH208 - the pipe does without pathlib
        except OSError:
            continue
        for name in names:
            stem, _, kind = name.rpartition(".")
            if kind in {"dist-info", "egg-info"}:
                distribution, _, version = stem.partition("-")
                if version:
                    found.setdefault(distribution.replace("_", "-").lower(), version.partition("-py")[0])
    return dict(sorted(found.items()))


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that may matter to a failure, without secrets."""
    telling = (name for name in sorted(environ) if (name in _TELLING or name.startswith(_FAMILIES)) and not name.startswith(_PASSING))
    return redact.redact_environment({name: environ[name][:VARIABLE] for name in telling if not is_secret(name)})


def is_secret(name: str) -> bool:
    """Tell whether a variable's name says that its value is nobody's business."""
    upper = name.upper()
    return (upper.endswith(_SECRET) or "SECRET" in upper or "PASSWORD" in upper or "API_KEY" in upper) and upper not in _FOLDERS


def driver() -> str:
    """Give the version of the NVIDIA driver, where one is loaded."""
    words = _read("/proc/driver/nvidia/version").partition("\n")[0].split()
    return next((word for word in words if word[:1].isdigit() and "." in word), "")


def cards() -> tuple[str, ...]:
    """Name the NVIDIA cards of this machine."""
    folder = "/proc/driver/nvidia/gpus"
    try:
        places = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return ()
    texts = (_read(f"{folder}/{place}/information") for place in places)
    return tuple(line.partition(":")[2].strip() for text in texts for line in text.split("\n") if line.startswith("Model:"))


def revision(folder: str) -> str:
    """Give the commit that a working folder has checked out, read from git's files; '' where there is none."""
    root = git_folder(folder)
    if not root:
        return ""
    head = _read(f"{root}/HEAD").strip()
    if not head.startswith("ref: "):
        return head if _is_commit(head) else ""
    name = head[5:].strip()
    common = os.path.join(root, _read(f"{root}/commondir").strip() or ".")  # noqa: PTH118
    for place in (root, common):
        commit = _read(f"{place}/{name}").strip()
        if _is_commit(commit):
            return commit
    for line in _read(f"{common}/packed-refs").split("\n"):
        commit, _, of = line.partition(" ")
        if of == name and _is_commit(commit):
            return commit
    return ""


def project(folder: str) -> str:
    """Give the key of the project that a folder belongs to: the same for everybody who has cloned it, or the folder's own."""
    root = git_folder(folder)
    if root:
        common = os.path.join(root, _read(f"{root}/commondir").strip() or ".")  # noqa: PTH118
        remote = _remote(_read(f"{common}/config"))
        return key_of("project", remote or os.path.realpath(os.path.dirname(root)))  # noqa: PTH120
    return key_of("project", os.path.realpath(folder)) if folder else ""


def git_folder(folder: str) -> str:
    """Find the git folder that a working folder belongs to; '' where there is none."""
    at = os.path.abspath(folder) if folder else ""  # noqa: PTH100
    while at:
        place = os.path.join(at, ".git")  # noqa: PTH118
        if os.path.isdir(place):  # noqa: PTH112
            return place
        if os.path.isfile(place):  # noqa: PTH113 - a worktree or a submodule
            named = _read(place).partition("gitdir:")[2].strip()
            return os.path.join(at, named) if named else ""  # noqa: PTH118
        above = os.path.dirname(at)  # noqa: PTH120
        if above == at:
            return ""
        at = above
    return ""


def _remote(config: str) -> str:
    """Give where a repository was cloned from, without user, protocol and ending: the same for https and ssh."""
    section = ""
    for line in config.split("\n"):
        text = line.strip()
        if text.startswith("["):
            section = text
        elif section == '[remote "origin"]' and text.startswith("url"):
            place = text.partition("=")[2].strip().partition("://")[2] or text.partition("=")[2].strip()
            return place.rpartition("@")[2].replace(":", "/", 1).removesuffix("/").removesuffix(".git").lower()
    return ""


def _is_commit(text: str) -> bool:
    return len(text) in {40, 64} and all(character in "0123456789abcdef" for character in text)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            return stream.read(1 << 20)
    except (OSError, ValueError):
        return ""
