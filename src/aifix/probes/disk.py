"""host.disk and host.files: space, inodes, and the files that the log names."""

from __future__ import annotations

import os
import shutil
import stat
from typing import Any

from aifix.probes.finding import Case, Finding, absent, confirmed, refuted, unclear
from aifix.reason.expressions import size

FULL = 0.99
"""Used share from which a disk counts as full."""
SCARCE = 1 << 30
"""Free bytes below which the next checkpoint may not fit."""
PATHS = ("path", "file", "folder", "directory", "location", "cache", "target")


def disk(case: Case) -> Finding:
    """Look at the file systems of the log's folders, the working folder, and the temporary one."""
    named = named_paths(case)
    folders = named or [str(case.machine.cwd), case.machine.environ.get("TMPDIR", "/tmp"), os.path.expanduser("~")]
    seen: dict[int, dict[str, Any]] = {}
    for folder in folders:
        existing = _existing(absolute(case, folder))
        found = _look_at(existing)
        if found is None or found[0] in seen:
            continue
        seen[found[0]] = found[1]
    if not seen:
        return absent(f"{folders[0]} lies on no file system that this machine can look at")
    disks = list(seen.values())
    evidence = [_line(item) for item in disks]
    data = {"free": disks[0]["free"], "path": disks[0]["path"], "disks": disks}
    wanted = case.number("requested", "expected", "size") if case.suspicion else None
    for item in disks:
        if item["inodes_free"] == 0:
            return confirmed(f"the disk of {item['path']} has no inode left, whatever space is free", data | {"free": item["free"]}, evidence)
        if item["used_share"] >= FULL and item["free"] < 20 * SCARCE:
            return confirmed(f"the disk of {item['path']} is {item['used_share']:.0%} full: {size(item['free'])} are free", data, evidence)
        if item["free"] < max(SCARCE, wanted or 0):
            more = f", and {size(wanted)} were wanted" if wanted else ""
            return confirmed(f"the disk of {item['path']} has only {size(item['free'])} free{more}", data, evidence)
    first = disks[0]
    if case.suspicion and not named:
        return unclear(f"the log does not name the folder; that of {first['path']} has {size(first['free'])} free", data, evidence)
    return refuted(f"the disk of {first['path']} has {size(first['free'])} of {size(first['total'])} free", data, evidence)


def _look_at(existing: str) -> tuple[int, dict[str, Any]] | None:
    """Give the device of a folder, and the space and inodes of its file system; None when it cannot be looked at."""
    try:
        device = os.stat(existing).st_dev
        if not hasattr(os, "statvfs"):
            usage = shutil.disk_usage(existing)
            share = round(usage.used / max(1, usage.used + usage.free), 4)
            return device, {"path": existing, "total": usage.total, "free": usage.free, "used_share": share, "inodes_free": None}
        status = os.statvfs(existing)
    except OSError:
        return None
    if not status.f_blocks:
        return None
    free = status.f_bavail * status.f_frsize
    taken = (status.f_blocks - status.f_bfree) * status.f_frsize
    return device, {
        "path": existing,
        "total": status.f_blocks * status.f_frsize,
        "free": free,
        "used_share": round(taken / (taken + free), 4) if taken + free else 1.0,
        "inodes_free": status.f_favail if status.f_files else None,
    }


def files(case: Case) -> Finding:
    """Look at the files and folders of the log: are they there, and may we read or write them?"""
    everything = named_paths(case)
    named = [name for name in everything if not _of_windows(name)]
    if everything and not named:
        return unclear(f"{everything[0]} is a path of Windows, which this machine does not have")
    if not named:
        return unclear("no path was given, so there is nothing to look at") if case.suspicion else unclear("name files with --path")
    problems: list[str] = []
    fine: list[str] = []
    data: list[dict[str, Any]] = []
    for name in named:
        path = absolute(case, name)
        problem, known = _look(path)
        data.append({"path": path, "problem": problem, **known})
        (problems if problem else fine).append(f"{path}: {problem or known.get('is', 'there')}")
    answer = {"paths": data}
    if problems and case.about("host.permission") and data[0].get("exists") is False and (near := data[0].get("nearest")):
        # What is not there refuses nobody; the folder in which it would be made may.
        if os.access(near, os.W_OK):
            return unclear(f"{problems[0]}, and user {_user()} may write there", answer, [*problems[1:], *fine])
        return confirmed(f"{problems[0]}, and user {_user()} may not write there", answer, [*problems[1:], *fine])
    if problems:
        return confirmed(problems[0], answer, [*problems[1:], *fine])
    if case.about("host.permission"):
        path = absolute(case, named[0])
        if not os.access(path, os.W_OK):
            return confirmed(f"{path} may be read here and not written, by user {_user()}", answer, fine)
        return refuted(f"{path} may be read and written here, by user {_user()}", answer, fine)
    return refuted(f"{fine[0]}", answer, fine[1:])


def _look(path: str) -> tuple[str, dict[str, Any]]:
    """Give what is wrong with a path ('' when nothing is), and what is known of it."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        parent = _existing(path)
        if os.path.islink(path):
            return f"a link to {os.readlink(path)}, which does not exist", {"exists": False}
        near = _near(path)
        return "does not exist" + (f"; near it: {near}" if near else f"; {parent} does"), {"exists": False, "nearest": parent}
    except NotADirectoryError:
        return f"{_existing(path)} is a file, not a folder", {"exists": False}
    except PermissionError:
        return f"user {_user()} may not look into its folder", {"exists": None}
    except (OSError, ValueError) as error:
        return f"cannot be looked at: {getattr(error, 'strerror', None) or error}", {"exists": None}
    kind = "folder" if stat.S_ISDIR(status.st_mode) else "file"
    known = {"exists": True, "kind": kind, "size": status.st_size, "owner": status.st_uid, "mode": stat.filemode(status.st_mode)}
    known["is"] = f"{kind}, {known['mode']}" + (f", {size(status.st_size)}" if kind == "file" else "")
    if not os.access(path, os.R_OK):
        return f"user {_user()} may not read it ({known['mode']}, owner {status.st_uid})", known
    if kind == "file" and status.st_size == 0:
        return "it is empty", known
    return "", known


def _near(path: str) -> str:
    import difflib

    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder)[:5000]
    except OSError:
        return ""
    return ", ".join(difflib.get_close_matches(name, names, 2, 0.75))


def named_paths(case: Case) -> list[str]:
    """Give the paths that the case names: facts or options."""
    given = [str(path) for path in case.options.get("paths", ())]
    if given:
        return given
    found = [case.text(name) for name in PATHS]
    return list(dict.fromkeys(path for path in found if path and "\0" not in path and "://" not in path and len(path) < 4096))


def _of_windows(path: str) -> bool:
    """Tell a path with a drive's letter where there are no drives."""
    return os.name != "nt" and path[1:3] in {":\\", ":/"} and path[:1].isalpha()


def absolute(case: Case, path: str) -> str:
    """Give a path as the failed process saw it: against its working folder."""
    return os.path.normpath(os.path.join(case.machine.cwd, os.path.expanduser(path)))


def _existing(path: str) -> str:
    """Give the path itself, or the nearest folder above it that exists."""
    for _ in range(64):
        if os.path.exists(path):
            return path
        path = os.path.dirname(path) or "."
    return "/"


def _line(item: dict[str, Any]) -> str:
    inodes = f", {item['inodes_free']:,} inodes free" if item["inodes_free"] is not None else ""
    return f"{item['path']}: {size(item['free'])} of {size(item['total'])} free{inodes}"


def _user() -> str:
    try:
        return f"{os.getuid()}"
    except AttributeError:
        return os.environ.get("USERNAME", "?")
