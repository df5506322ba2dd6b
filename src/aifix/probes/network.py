"""dist.network and host.port: interfaces, host name, the rendezvous address, NCCL's settings, who holds a port."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
from typing import TYPE_CHECKING, Any

from aifix.probes.finding import Case, Finding, confirmed, refuted, unclear

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aifix.probes.machine import Machine

RESOLVE = 0.2
"""Seconds for looking a name up."""
CONNECT = 1.0
"""Seconds for reaching MASTER_ADDR."""
LISTEN = "0A"
"""The state of a listening socket in /proc/net/tcp."""
PREFIXES = ("NCCL_", "GLOO_", "TORCH_NCCL_", "TORCH_DISTRIBUTED", "MASTER_", "FI_", "UCX_")
PLAIN = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS"}


def port(case: Case) -> Finding:
    """Look at a port: free, or taken by which process?"""
    machine = case.machine
    wanted = case.options.get("port") or case.number("port", "master_port") or _of_address(case.text("address", "endpoint"))
    wanted = wanted or _of_address(":" + machine.environ.get("MASTER_PORT", ""))
    if not isinstance(wanted, int) or not 0 < wanted < 65536:
        return unclear("no port is known: name one with --port") if not case.suspicion else unclear("the log does not name the port")
    holders = _holders(machine, wanted)
    data: dict[str, Any] = {"port": wanted, "taken": False}
    if holders is None:
        return _try(wanted, data)
    if not holders:
        return refuted(f"port {wanted} is free now", data)
    pid, uid = holders[0]
    data |= {"taken": True, "pid": pid, "uid": uid}
    if pid is None:
        return confirmed(f"port {wanted} is held by a process of user {uid} that we may not look at", data)
    name = machine.process(pid)
    data["process"] = name
    data["orphan"] = _orphan(machine, pid)
    started = " (its parent is gone: left over from an earlier run)" if data["orphan"] else ""
    return confirmed(f"port {wanted} is held by process {pid}{started}: {name}", data)


def _try(wanted: int, data: dict[str, Any]) -> Finding:
    """Bind the port for a moment, where /proc does not list sockets."""
    with socket.socket() as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", wanted))
        except OSError as error:
            return confirmed(f"port {wanted} cannot be bound: {error.strerror}", data | {"taken": True})
    return refuted(f"port {wanted} is free now", data)


def _of_address(address: str) -> int | None:
    found = re.search(r":(\d{2,5})\]?$", address)
    return int(found[1]) if found else None


def _holders(machine: Machine, wanted: int) -> list[tuple[int | None, int]] | None:
    """Name the listeners on a port by process and user; None where /proc does not list sockets."""
    inodes: dict[str, int] = {}
    readable = False
    for table in ("tcp", "tcp6"):
        lines = machine.read(f"/proc/net/{table}", 8 << 20).splitlines()[1:]
        readable = readable or machine.exists(f"/proc/net/{table}")
        for line in lines:
            words = line.split()
            if len(words) > 9 and words[3] == LISTEN and int(words[1].rpartition(":")[2], 16) == wanted:
                inodes[words[9]] = int(words[7])
    if not readable:
        return None
    if not inodes:
        return []
    owners = _owners(machine, set(inodes))
    return sorted(((owners.get(inode), uid) for inode, uid in inodes.items()), key=lambda item: (item[0] is None, item[0] or 0))


def _owners(machine: Machine, inodes: set[str]) -> dict[str, int]:
    """Find the processes that hold sockets."""
    found: dict[str, int] = {}
    for name in machine.names("/proc"):
        if not name.isdigit():
            continue
        folder = str(machine.path(f"/proc/{name}/fd"))
        try:
            descriptors = os.listdir(folder)
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                link = os.readlink(f"{folder}/{descriptor}")
            except OSError:
                continue
            if link.startswith("socket:[") and link[8:-1] in inodes:
                found.setdefault(link[8:-1], int(name))
        if len(found) == len(inodes):
            break
    return found


def _orphan(machine: Machine, pid: int) -> bool:
    fields = machine.read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return len(fields) > 1 and fields[1] == "1" and "python" in machine.process(pid)


def network(case: Case) -> Finding:
    """Look at what ranks need to find each other."""
    machine = case.machine
    interfaces = _interfaces(machine)
    environ = {name: value for name, value in machine.environ.items() if name.startswith(PREFIXES) or name in PLAIN}
    problems = _contradictions(environ, interfaces, machine)
    host = socket.gethostname()
    address = _resolve(host)
    data: dict[str, Any] = {"interfaces": interfaces, "hostname": host, "address": address, "environ": environ}
    evidence = ["interfaces: " + (", ".join(f"{name} ({state})" for name, state in interfaces.items()) or "unknown")]
    if address is None:
        problems.append(f"the host name {host} does not resolve: torchrun and Gloo want it to (add it to /etc/hosts)")
    elif address.startswith("127.") and int(environ.get("WORLD_SIZE", "1") or 1) > int(
        environ.get("LOCAL_WORLD_SIZE", environ.get("WORLD_SIZE", "1")) or 1
    ):
        problems.append(f"the host name {host} resolves to {address}, which other nodes cannot reach")
    else:
        evidence.append(f"{host} resolves to {address}")
    master = case.text("master", "master_addr", "host") or environ.get("MASTER_ADDR", "")
    if master and (found := _resolve(master)) is None:
        problems.append(f"MASTER_ADDR {master} does not resolve")
    elif master:
        evidence.append(f"MASTER_ADDR {master} resolves to {found}")
        data["master"] = found
        wrong, known = _rendezvous(case, str(found), environ.get("MASTER_PORT", ""))
        problems += wrong
        evidence += known
    devices = machine.names("/sys/class/infiniband")
    data["infiniband"] = {name: _port_state(machine, name) for name in devices}
    down = [name for name, states in data["infiniband"].items() if states and not any("ACTIVE" in state for state in states)]
    if devices:
        evidence.append("InfiniBand: " + ", ".join(f"{name} {'/'.join(states)}" for name, states in data["infiniband"].items()))
    if down and len(down) == len(devices):
        problems.append(f"no InfiniBand port is active ({', '.join(down)})")
    if environ:
        evidence.append("environment: " + ", ".join(f"{name}={value}" for name, value in sorted(environ.items()))[:600])
    if problems:
        return confirmed(problems[0], data, [*problems[1:], *evidence])
    up = [name for name, state in interfaces.items() if state == "up" and name != "lo"]
    summary = f"{host} resolves to {address}; {', '.join(up) or 'no interface but the loopback'} up; no setting contradicts another"
    if case.suspicion and not case.about("dist.nccl-ib"):
        return unclear(summary, data, evidence)  # one machine's sound network does not prove the others'
    return refuted(summary, data, evidence)


def _rendezvous(case: Case, address: str, port: str) -> tuple[list[str], list[str]]:
    """Look at the rendezvous port: of this machine whether it is free, of another one whether it answers (only when the probe was asked for)."""
    if not port.isdigit() or not 0 < int(port) < 65536:
        return [], []
    if _own(address):
        holders = _holders(case.machine, int(port))
        if holders is None:
            return [], []
        if not holders:
            return [], [f"port {port} of this machine is free"]
        pid = holders[0][0]
        name = f"process {pid}: {case.machine.process(pid)}" if pid is not None else "a process that we may not look at"
        return [], [f"port {port} of this machine is held by {name} (rank 0, if it runs now)"]
    if case.suspicion:
        return [], []  # a look after a failure sends nothing
    try:
        socket.create_connection((address, int(port)), CONNECT).close()
    except TimeoutError:
        return [f"MASTER_ADDR {address} does not answer on port {port} within {CONNECT:g} s: a firewall, or the wrong interface"], []
    except ConnectionRefusedError:
        return [], [f"{address} is reached, and nobody listens on port {port} now"]
    except OSError as error:
        return [f"MASTER_ADDR {address} is not reached: {error.strerror or error}"], []
    return [], [f"{address} answers on port {port}"]


def _own(address: str) -> bool:
    """Tell whether an address is this machine's: only then a socket can be bound to it."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _interfaces(machine: Machine) -> dict[str, str]:
    found = {}
    for name in machine.names("/sys/class/net"):
        state = machine.read(f"/sys/class/net/{name}/operstate", 32).strip()
        if not state:
            continue
        flags = machine.read(f"/sys/class/net/{name}/flags", 32).strip()
        with contextlib.suppress(ValueError):
            if state == "unknown" and int(flags, 16) & 1:
                state = "up"
        found[name] = state
    if not found:
        with contextlib.suppress(OSError, AttributeError):
            found = {name: "unknown" for _, name in socket.if_nameindex()}
    return found


def _port_state(machine: Machine, device: str) -> list[str]:
    ports = machine.names(f"/sys/class/infiniband/{device}/ports")
    return [machine.read(f"/sys/class/infiniband/{device}/ports/{name}/state", 32).strip().split(": ")[-1] for name in ports]


def _contradictions(environ: Mapping[str, str], interfaces: Mapping[str, str], machine: Machine) -> list[str]:
    """Find settings that contradict each other or this machine."""
    found = []
    for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"):
        value = environ.get(name, "")
        if not value or value.startswith("^") or not interfaces:
            continue
        exact = value.startswith("=") or name != "NCCL_SOCKET_IFNAME"
        wanted = [part for part in value.lstrip("=").split(",") if part]
        fitting = [one for one in interfaces if any(one == part or (not exact and one.startswith(part)) for part in wanted)]
        if not fitting:
            found.append(f"{name}={value} names no interface of this machine ({', '.join(interfaces)})")
        elif not any(interfaces[one] == "up" for one in fitting):
            found.append(f"{name}={value}: {', '.join(fitting)} is down")
    hca = environ.get("NCCL_IB_HCA", "")
    devices = machine.names("/sys/class/infiniband")
    if hca and not hca.startswith("^") and environ.get("NCCL_IB_DISABLE") == "1":
        found.append(f"NCCL_IB_HCA={hca} and NCCL_IB_DISABLE=1 contradict each other: InfiniBand is off")
    elif hca and not hca.startswith("^") and not any(one.startswith(part.split(":")[0].lstrip("=")) for part in hca.split(",") for one in devices):
        found.append(f"NCCL_IB_HCA={hca} names no InfiniBand device of this machine ({', '.join(devices) or 'there is none'})")
    if environ.get("NCCL_NET") == "IB" and (environ.get("NCCL_IB_DISABLE") == "1" or not devices):
        found.append("NCCL_NET=IB is set, and InfiniBand is off or absent")
    if environ.get("NCCL_ASYNC_ERROR_HANDLING") and environ.get("TORCH_NCCL_ASYNC_ERROR_HANDLING") not in {
        None,
        environ["NCCL_ASYNC_ERROR_HANDLING"],
    }:
        found.append("NCCL_ASYNC_ERROR_HANDLING and TORCH_NCCL_ASYNC_ERROR_HANDLING differ; torch reads the second one")
    if environ.get("NCCL_P2P_DISABLE") == "1" and environ.get("NCCL_P2P_LEVEL"):
        found.append("NCCL_P2P_DISABLE=1 makes NCCL_P2P_LEVEL void")
    if environ.get("NCCL_SHM_DISABLE") == "1" and environ.get("NCCL_P2P_DISABLE") == "1":
        found.append("NCCL_SHM_DISABLE=1 and NCCL_P2P_DISABLE=1 together send all traffic of this node through its network")
    numbers = {name: int(environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE") if environ.get(name, "").isdigit()}
    if "RANK" in numbers and "WORLD_SIZE" in numbers and numbers["RANK"] >= numbers["WORLD_SIZE"]:
        found.append(f"RANK={numbers['RANK']} is outside WORLD_SIZE={numbers['WORLD_SIZE']}")
    visible = environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and "LOCAL_RANK" in numbers and len([part for part in visible.split(",") if part.strip()]) <= numbers["LOCAL_RANK"] > 0:
        found.append(f"LOCAL_RANK={numbers['LOCAL_RANK']} has no device in CUDA_VISIBLE_DEVICES={visible}")
    given = environ.get("MASTER_PORT", "")
    if given and not (given.isdigit() and 0 < int(given) < 65536):
        found.append(f"MASTER_PORT={given} is no port")
    return found


def _resolve(name: str) -> str | None:
    """Look a name up, for a moment only: a resolver without a network waits for seconds."""
    answer: list[str | None] = []

    def ask() -> None:
        try:
            answer.append(str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0]))
        except (OSError, UnicodeError):
            answer.append(None)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(RESOLVE)
    return answer[0] if answer else None
