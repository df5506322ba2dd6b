"""The compiled form of the matcher's part: what starts fast, apart from what compiles it."""

from __future__ import annotations

import msgspec

FORMAT = 12
"""Version of the compiled form; another one is rebuilt."""


class CompiledSignature(msgspec.Struct, frozen=True, array_like=True):
    """What the matcher needs of a signature: which rule's which signature, and its cores as indices."""

    rule: str
    index: int
    pattern: str
    cores: tuple[int, ...]
    anywhere: bool
    detector: str = ""


class Matcher(msgspec.Struct, frozen=True):
    """The matcher's part of the base."""

    format: int
    fingerprint: str
    cores: tuple[str, ...]
    keys: tuple[str, ...]
    signatures: tuple[CompiledSignature, ...]
