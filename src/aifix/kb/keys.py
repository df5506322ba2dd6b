"""Short stable keys: of a command, of a recurring incident, of an outcome. The pipe imports this module, so it imports next to nothing."""

from __future__ import annotations

import os

try:
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - another Python
    from hashlib import blake2b


def key_of(*parts: str) -> str:
    """Give the key of some texts: 16 hexadecimal digits, the same on every machine."""
    return str(blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest())


def fresh() -> str:
    """Give a key that no other incident on any machine has."""
    return os.urandom(8).hex()


def command_key(arguments: tuple[str, ...], folder: str) -> str:
    """Give the key by which the same command in the same folder is known again, under `aifix run` or at the pipe's other end."""
    return key_of("command", folder, *arguments)
