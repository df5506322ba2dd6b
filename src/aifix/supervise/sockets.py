"""The open TCP sockets of processes, from /proc/net."""

from __future__ import annotations

import os
import socket
import struct
from typing import NamedTuple

from aifix.supervise.processes import read_file

STATES = {
    1: "connected",
    2: "connecting",
    3: "being accepted",
    4: "closing",
    5: "closing",
    6: "time-wait",
    7: "closed",
    8: "closed by the other side",
    9: "closing",
    10: "listening",
    11: "closing",
}


class Socket(NamedTuple):
    """One TCP socket of a process."""

    pid: int
    local: str
    remote: str
    state: str
    unsent: int
    unread: int


def of(pids: list[int]) -> list[Socket]:
    """List the TCP sockets of some processes; what waits in a queue first."""
    owner: dict[str, int] = {}
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if target.startswith("socket:["):
                owner.setdefault(target[8:-1], pid)
    if not owner:
        return []
    found = []
    for table in ("tcp", "tcp6"):
        for line in read_file(f"/proc/{pids[0]}/net/{table}", 4 << 20).decode("ascii", "replace").splitlines()[1:]:
            words = line.split()
            if len(words) > 9 and words[9] in owner:
                unsent, _, unread = words[4].partition(":")
                state = STATES.get(int(words[3], 16), words[3])
                found.append(Socket(owner[words[9]], _address(words[1]), _address(words[2]), state, int(unsent, 16), int(unread, 16)))
    return sorted(found, key=lambda one: (-(one.unsent + one.unread), one.state == "listening", one.pid))


def _address(text: str) -> str:
    digits, _, port = text.partition(":")
    packed = b"".join(struct.pack("<I", int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8))
    if len(packed) == 4:
        return f"{socket.inet_ntop(socket.AF_INET, packed)}:{int(port, 16)}"
    if packed.startswith(b"\0" * 10 + b"\xff\xff"):
        return f"{socket.inet_ntop(socket.AF_INET, packed[12:])}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, packed)}]:{int(port, 16)}"
