"""host.clock: whether the clock is set, kept, and agrees with what else on this machine knows the time. Nothing is asked over the network."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from aifix.probes.disk import absolute, named_paths
from aifix.probes.finding import Case, Finding, confirmed, refuted, unclear

if TYPE_CHECKING:
    from aifix.probes.machine import Machine

FUTURE = 60.0
"""Seconds by which a file's time must lie ahead of the clock to be told: network file systems are off by a second or two."""
ENTRIES = 500
"""Files of the working folder that are looked at."""
APART = 120.0
"""Seconds between the clock and the hardware clock from which they count as apart."""
QUARTER = 900
"""A hardware clock that keeps local time differs by whole quarters of an hour."""
UNSYNCHRONISED = 0x40
"""STA_UNSYNC of adjtimex(2)."""
ERROR = 5
"""TIME_ERROR: what adjtimex returns while nobody keeps the clock."""
SLOW_SOURCES = {"hpet", "acpi_pm", "jiffies", "pit"}
"""Clock sources whose reading takes microseconds: a profiler, or a program that often asks the time, is slowed by them."""


class _Timex(ctypes.Structure):
    """struct timex of Linux, as far as it is read; the rest is room for the kernel to write."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("maximum", ctypes.c_long),
        ("estimated", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),
    )


def clock(case: Case) -> Finding:
    """Look at the clock."""
    machine = case.machine
    now = time.time()
    data: dict[str, Any] = {"now": round(now), "zone": time.strftime("%z"), "synchronised": synchronised(machine)}
    evidence = [time.strftime("the clock says %Y-%m-%d %H:%M:%S %z", time.localtime(now))]
    problems: list[str] = []
    if now < _built():
        problems.append(
            f"the clock says {time.strftime('%Y-%m-%d', time.gmtime(now))}, before this program was installed: certificates and tokens fail"
        )
    ahead = future_files(case, now)
    if ahead:
        path, seconds = ahead[0]
        data["ahead"] = [{"path": one, "seconds": round(by)} for one, by in ahead[:10]]
        count = f" and {len(ahead) - 1} more" if len(ahead) > 1 else ""
        problems.append(f"{path}{count} was written {_span(seconds)} in the future: this clock is behind the writer's, or was set back since")
    apart = hardware(machine, now)
    if apart is not None:
        data["hardware_clock_ahead"] = round(apart)
        away = abs(apart) % QUARTER
        if abs(apart) > APART and min(away, QUARTER - away) > 30:
            problems.append(f"the hardware clock is {_span(abs(apart))} {'ahead of' if apart > 0 else 'behind'} the system's")
    source = machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource", 64).strip()
    if source in SLOW_SOURCES:
        evidence.append(f"the kernel reads its time from {source}, which is slow: programs that ask the time often are slowed")
    kept = {
        True: "a time service keeps it",
        False: "no time service keeps it (chrony, systemd-timesyncd or ntpd)",
        None: "whether a time service keeps it is not to be seen",
    }
    evidence.append(kept[data["synchronised"]])
    if problems:
        return confirmed(problems[0], data, [*problems[1:], *evidence])
    others = "the files and the hardware clock" if apart is not None else "the files"
    summary = f"the clock agrees with {others} of this machine; {kept[data['synchronised']]}"
    if data["synchronised"] is False or data["synchronised"] is None:
        return unclear(summary, data, evidence)
    return refuted(summary, data, evidence)


def synchronised(machine: Machine) -> bool | None:
    """Tell whether the kernel takes its clock for kept; None where it does not say. Reads only: no mode is set."""
    if machine.exists("/run/systemd/timesync/synchronized"):
        return True
    if not sys.platform.startswith("linux") or machine.root != "/":
        return None
    state = _Timex()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(state))
        if answer >= 0:
            return not (answer == ERROR or state.status & UNSYNCHRONISED)
    return None


def future_files(case: Case, now: float) -> list[tuple[str, float]]:
    """Name files of the log and of the working folder that were written in the future, with the seconds."""
    paths = [absolute(case, path) for path in named_paths(case)]
    with contextlib.suppress(OSError), os.scandir(case.machine.cwd) as entries:
        for _, entry in zip(range(ENTRIES), entries, strict=False):
            paths.append(entry.path)
    found = []
    for path in dict.fromkeys(paths):
        with contextlib.suppress(OSError, ValueError):
            ahead = os.lstat(path).st_mtime - now
            if ahead > FUTURE:
                found.append((path, ahead))
    return sorted(found, key=lambda item: -item[1])


def hardware(machine: Machine, now: float) -> float | None:
    """Give by how many seconds the hardware clock is ahead of the system's; None where there is none."""
    seconds = machine.number("/sys/class/rtc/rtc0/since_epoch")
    return seconds - now if seconds is not None else None


def _built() -> float:
    """Give the time at which this program was written to the disk: no clock is right that says an earlier one."""
    with contextlib.suppress(OSError):
        return min(os.stat(__file__).st_mtime, os.stat(__file__).st_ctime) - 86400
    return 0.0


def _span(seconds: float) -> str:
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}s"
    return f"{seconds:.0f} seconds"
