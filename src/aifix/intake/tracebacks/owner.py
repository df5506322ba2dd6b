"""Whose code a frame shows: the user's own, or a library's or the interpreter's."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from aifix.lazy import lazy_re

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIBRARY_PARTS = frozenset(("site-packages", "dist-packages", "node_modules", ".pyenv", "pyenv", "importlib", "multiprocessing", "concurrent"))
_STDLIB = lazy_re(
    r"(?:^|/)(?:lib(?:64)?|Lib)/python\d(?:\.\d+)?(?:/|$)|(?:^|/)python\d\.?\d*/[Ll]ib/|"
    r"(?:^|/)[Ll]ib/(?:runpy|threading|subprocess|copy|contextlib|pickle|json|asyncio|unittest|multiprocessing|importlib|concurrent|queue|"
    r"socket|ssl|encodings|collections|ctypes|site|codecs|typing|functools|inspect|logging|tempfile|shutil|os|re)(?:\.py|/)"
)
_LIBRARY_HEADS = (
    "<frozen ",
    "<__array_function__",
    "<attrs generated",
    "<eval_with_key>",
    "<decorator-gen",
    "<class_init",
    "<rank",
    "<unknown",
)
_PACKAGE_HEADS = frozenset(
    ("torch", "torchvision", "torchaudio", "transformers", "accelerate", "deepspeed", "lightning", "pytorch_lightning", "tensorflow")
)
# A framework run from its source tree.
_SOURCE_TREE = lazy_re(
    r"(?:^|/)torch/(?:nn|jit|utils|distributed|autograd|optim|cuda|fx|_\w+|multiprocessing|serialization\.py|functional\.py)(?:/|$)"
)
_ENTRY_POINT = lazy_re(r"(?:^|/)(?:bin|Scripts)/[\w.-]*[\w-]+(?:\.exe/__main__\.py|\.exe|-script\.py)?$")


class _Owned(Protocol):
    @property
    def user(self) -> bool: ...


_Frame = TypeVar("_Frame", bound=_Owned)


def foremost(frames: Sequence[_Frame]) -> _Frame | None:
    """Give the first frame of the user's own code, else the first; None where there is none."""
    return next((frame for frame in frames if frame.user), frames[0] if frames else None)


@lru_cache(maxsize=4096)
def is_user(file: str, function: str = "") -> bool:
    """Whether a frame's file is the user's own code rather than a library's or the interpreter's."""
    path = file.replace("\\", "/")
    if path.startswith(_LIBRARY_HEADS):
        return False
    parts = path.split("/")
    if not _LIBRARY_PARTS.isdisjoint(parts) or _STDLIB.search(path):
        return False
    if any(part.endswith((".egg", ".zip", ".whl")) for part in parts) or path.endswith((".pyx", ".pxi", ".pxd")):
        return False
    if _SOURCE_TREE.search(path) or (not path.endswith((".py", ".pyw")) and _ENTRY_POINT.search(path)) or ".exe/" in path:
        return False
    if path == "<string>" and function not in ("", "<module>"):
        return False  # generated code: dataclasses, six
    return parts[0] not in _PACKAGE_HEADS
