from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from tests.probes.parts import case, here, tree

from aifix.probes import build, disk, elf, files, libc, limits, memory, network

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
MEMINFO = "MemTotal:       16384000 kB\nMemAvailable:    {free} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"


def test_host_memory_of_this_machine() -> None:
    found = memory.host(case(here()))
    assert found.status in {"confirmed", "refuted"} if sys.platform.startswith("linux") else {"inconclusive", "not-available"}


def test_the_limit_of_a_version_2_cgroup_and_its_kills_count(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "/proc/meminfo": MEMINFO.format(free=12000000),
            "/proc/self/cgroup": "0::/user.slice/job\n",
            "/sys/fs/cgroup/user.slice/job/memory.max": f"{4 * GIB}\n",
            "/sys/fs/cgroup/user.slice/job/memory.current": f"{1 * GIB}\n",
            "/sys/fs/cgroup/user.slice/job/memory.stat": f"anon 5\ninactive_file {GIB // 2}\n",
            "/sys/fs/cgroup/user.slice/job/memory.events": "low 0\noom 3\noom_kill 2\n",
        },
    )
    found = memory.host(case(here(root=root), "host.oom-killed"))
    assert found.status == "confirmed"
    assert found.data["limit"] == 4 * GIB
    assert found.data["used"] == GIB // 2
    assert found.data["oom_kills"] == 2
    assert "limit of 4.00 GiB" in found.summary


def test_the_limit_of_a_version_1_cgroup_counts(tmp_path: Path) -> None:
    root = tree(
        tmp_path,
        {
            "/proc/meminfo": MEMINFO.format(free=12000000),
            "/proc/self/cgroup": "9:memory:/docker/abc\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": f"{2 * GIB - 1000}\n",
            "/sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n",
        },
    )
    found = memory.host(case(here(root=root)))
    assert found.status == "confirmed"
    assert "full" in found.summary


def test_a_kernel_that_never_killed_refutes_a_kill(tmp_path: Path) -> None:
    root = tree(tmp_path, {"/proc/meminfo": MEMINFO.format(free=12000000), "/proc/vmstat": "pgfault 1\noom_kill 0\n"})
    killed = memory.host(case(here(root=root), "host.oom-killed"))
    assert killed.status == "refuted"
    root = tree(tmp_path, {"/proc/vmstat": "oom_kill 7\n"})
    assert memory.host(case(here(root=root), "host.oom-killed")).status == "confirmed"


def test_a_request_larger_than_what_is_free_is_confirmed(tmp_path: Path) -> None:
    root = tree(tmp_path, {"/proc/meminfo": MEMINFO.format(free=12000000)})
    assert memory.host(case(here(root=root), "host.cpu-alloc", requested=400 * GIB)).status == "confirmed"
    assert memory.host(case(here(root=root), "host.cpu-alloc", requested=1 * GIB)).status == "refuted"


def test_no_proc_is_an_answer(tmp_path: Path) -> None:
    assert memory.host(case(here(root=tmp_path))).status in {"inconclusive", "not-available"}
    assert memory.shm(case(here(root=tmp_path))).status == "not-available"
    assert network.port(case(here(root=tmp_path), options={"port": 1})).status in {"confirmed", "refuted"}


def statvfs(total: int, free: int, inodes: int = 100) -> SimpleNamespace:
    return SimpleNamespace(f_blocks=total // 4096, f_bfree=free // 4096, f_bavail=free // 4096, f_frsize=4096, f_files=200, f_favail=inodes)


def test_the_disk_of_the_path_in_the_log_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{tmp_path}/missing/step.pt"
    fine = disk.disk(case(here(), "host.disk-full", path=path))
    assert fine.data["path"] == str(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _path: statvfs(100 * GIB, 4096))
    full = disk.disk(case(here(), "host.disk-full", path=path))
    assert full.status == "confirmed"
    assert "100% full" in full.summary
    monkeypatch.setattr(os, "statvfs", lambda _path: statvfs(100 * GIB, 60 * GIB, inodes=0))
    assert "no inode left" in disk.disk(case(here(), "host.disk-full", path=path)).summary
    monkeypatch.setattr(os, "statvfs", lambda _path: statvfs(100 * GIB, 60 * GIB))
    assert disk.disk(case(here(), "host.disk-full", path=path)).status == "refuted"
    assert disk.disk(case(here(), "host.disk-full")).status == "inconclusive"


def test_small_shared_memory_is_told_as_dockers_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)
    monkeypatch.setattr(os, "statvfs", lambda _path: statvfs(64 << 20, 60 << 20))
    found = memory.shm(case(here(root=tmp_path), "host.shm"))
    assert found.status == "confirmed"
    assert "--shm-size" in found.summary


def test_files_of_the_log(tmp_path: Path) -> None:
    tree(tmp_path, {"data/train.csv": "a\n", "data/empty.csv": ""})
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    machine = here(cwd=str(tmp_path))
    missing = disk.files(case(machine, "host.file-not-found", path="'data/trian.csv'"))
    assert missing.status == "confirmed"
    assert "train.csv" in missing.summary
    assert disk.files(case(machine, "host.file-not-found", path="data/train.csv")).status == "refuted"
    assert "a link to" in disk.files(case(machine, "host.file-not-found", path="broken")).summary
    assert "empty" in disk.files(case(machine, path="x", options={"paths": ("data/empty.csv",)})).summary
    assert disk.files(case(machine, "host.file-not-found")).status == "inconclusive"


@LINUX
def test_a_refused_file_that_is_not_here_confirms_nothing(tmp_path: Path) -> None:
    machine = here(cwd=str(tmp_path))
    assert disk.files(case(machine, "host.permission", path="gone/model.bin")).status == "inconclusive"
    windows = disk.files(case(machine, "host.permission", path="C:\\Users\\user\\cache\\model.bin"))
    assert windows.status == "inconclusive"
    assert "Windows" in windows.summary


@LINUX
def test_a_taken_port_is_laid_to_its_process() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        found = network.port(case(here(), "dist.addr-in-use", port=number))
        assert found.status == "confirmed"
        assert found.data["pid"] == os.getpid()
        assert "python" in found.summary or "pytest" in found.summary
    assert network.port(case(here(), "dist.addr-in-use", port=number)).status == "refuted"
    assert network.port(case(here(), "dist.addr-in-use")).status == "inconclusive"


def test_settings_that_contradict_the_machine(tmp_path: Path) -> None:
    root = tree(tmp_path, {"/sys/class/net/eth0/operstate": "up\n", "/sys/class/net/lo/operstate": "unknown\n", "/sys/class/net/lo/flags": "0x9\n"})

    def problems(**environ: str) -> str:
        found = network.network(case(here(root=root, environ=environ)))
        return " ".join([found.summary, *found.evidence])

    assert "NCCL_SOCKET_IFNAME=ib0 names no interface" in problems(NCCL_SOCKET_IFNAME="ib0")
    assert "names no interface" not in problems(NCCL_SOCKET_IFNAME="eth")
    assert "GLOO_SOCKET_IFNAME=eth names no interface" in problems(GLOO_SOCKET_IFNAME="eth")
    assert "contradict each other" in problems(NCCL_IB_HCA="mlx5_0", NCCL_IB_DISABLE="1")
    assert "names no InfiniBand device" in problems(NCCL_IB_HCA="mlx5_0")
    assert "RANK=4 is outside WORLD_SIZE=4" in problems(RANK="4", WORLD_SIZE="4")
    assert "has no device in CUDA_VISIBLE_DEVICES=0" in problems(LOCAL_RANK="1", CUDA_VISIBLE_DEVICES="0")
    assert "MASTER_PORT=abc is no port" in problems(MASTER_PORT="abc")


@LINUX
def test_the_rendezvous_port_is_free_taken_or_out_of_reach() -> None:
    def told(**environ: str) -> str:
        found = network.network(case(here(environ=environ)))
        return " ".join([found.summary, *found.evidence])

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        number = str(listener.getsockname()[1])
        assert f"port {number} of this machine is free" in told(MASTER_ADDR="127.0.0.1", MASTER_PORT=number)
        listener.listen()
        assert f"port {number} of this machine is held by process {os.getpid()}" in told(MASTER_ADDR="127.0.0.1", MASTER_PORT=number)
    # 192.0.2.0/24 is kept for documentation: nobody has these addresses
    text = told(MASTER_ADDR="192.0.2.1", MASTER_PORT="29500")
    assert any(
        part in text for part in ("does not answer on port 29500", "is not reached", "nobody listens on port 29500 now")
    )  # a gateway may refuse
    quiet = network.network(case(here(environ={"MASTER_ADDR": "192.0.2.1", "MASTER_PORT": "29500"}), "dist.rendezvous"))
    assert not any(part in " ".join([quiet.summary, *quiet.evidence]) for part in ("29500 within", "nobody listens", "is not reached"))


@LINUX
def test_limits_bear_on_their_own_suspicions(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    real = resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 4096) if kind == resource.RLIMIT_NOFILE else real(kind))
    found = limits.limits(case(here(), "host.open-files"))
    assert found.status == "confirmed"
    assert "only 256 files" in found.summary
    assert limits.limits(case(here(), "cuda.oom")).status == "inconclusive"


@LINUX
def test_symbol_versions_of_this_machine(tmp_path: Path) -> None:
    if not libc.versions(case(here())).data.get("glibc"):
        pytest.skip("no glibc here")
    wanted = libc.versions(case(here(), "host.glibc", lines=("./x.so: version `GLIBC_2.99' not found",)))
    assert wanted.status == "confirmed"
    assert wanted.data["missing"] == ["GLIBC_2.99"]
    assert libc.versions(case(here(), "host.glibc", version="GLIBC_2.2.5")).status == "refuted"
    found = libc.libraries(case(here(environ={}), "host.lib-missing", library="libsurely_absent.so.9"))
    assert found.status == "confirmed"
    assert libc.libraries(case(here(environ={}), "host.lib-missing", library="libc.so.6")).status == "refuted"
    (tmp_path / "libmine.so.1").write_bytes(b"")
    there = here(environ={"LD_LIBRARY_PATH": str(tmp_path)})
    assert libc.libraries(case(there, library="libmine.so.1")).data["found"][0]["path"] == f"{tmp_path}/libmine.so.1"


@LINUX
def test_an_elf_file_that_the_compiler_made(tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.skip("there is no C compiler")
    (tmp_path / "x.c").write_text('#include <stdio.h>\nvoid f(void) { printf("x"); }\n')
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "x.so", tmp_path / "x.c"], check=True, timeout=60)
    found = elf.read(str(tmp_path / "x.so"))
    assert "libc.so.6" in found.needed
    assert any(name.startswith("GLIBC_") for name in found.wants["libc.so.6"])
    for damage in (b"", b"\x7fELF", (tmp_path / "x.so").read_bytes()[:900], b"\x7fELF\x02\x01" + b"\xff" * 200):
        (tmp_path / "y.so").write_bytes(damage)
        with pytest.raises(elf.ElfError):
            elf.read(str(tmp_path / "y.so"))


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("x.json", b'{"a": 1,}', "no comma may stand before a closing bracket"),
        ("x.json", b'{"a": [1, 2,\n]}', "no comma may stand before a closing bracket"),
        ("x.json", b'{"lr": 1e-3,\n "augment": True,\n "bs": 4}', 'there stands "augment": True,: JSON writes true, false and null'),
        ("x.json", b"{'a': 1}", "JSON quotes with double quotes alone"),
        ("x.json", b'{"a": 1 // one\n}', "no valid JSON"),
        ("x.json", b'{\n// one\n"a": 1}', "JSON has no comments"),
        ("x.json", b'{"a": 1\n "b": 2}', "a comma is missing before it"),
        ("x.json", b'{"a": 1}\n{"a": 2}', "as in JSON Lines"),
        ("x.jsonl", b'{"a": 1}\n{"a": \n', "line 2 is no JSON"),
        ("x.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields"),
        ("x.csv", "a,b\n1,ü\n".encode("latin-1"), "is not UTF-8"),
        ("x.csv", b"", "empty"),
        ("x.csv", b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        ("x.json", b'{"a": 1}', ""),
        ("model.pt", b"PK\x03\x04 cut", "end record is missing"),
        ("model.safetensors", b"\xff\xff\xff\xff\x00\x00\x00\x00{", "header"),
        ("model.safetensors", b"<html>", "HTML"),
    ],
)
def test_data_files(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / name).write_bytes(content)
    found = files.data_file(case(here(cwd=str(tmp_path)), "data.decode", path=name))
    assert found.status == ("confirmed" if part else "refuted"), found
    assert part in found.summary


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"\xff\xd8\xff\xe0 ... \xff\xd9", ""),
        (b"\xff\xd8\xff\xe0 ...", "truncated JPEG"),
        (b"\x89PNG\r\n\x1a\n ...", "truncated PNG"),
        (b"<!DOCTYPE html>", "HTML"),
        (b"RIFF\xff\x00\x00\x00WEBPVP8 ", "truncated WebP"),
        (b"", "empty"),
    ],
)
def test_images(tmp_path: Path, content: bytes, part: str) -> None:
    (tmp_path / "x.jpg").write_bytes(content)
    found = files.image(case(here(cwd=str(tmp_path)), "data.corrupt-image", path="x.jpg"))
    assert found.status == ("confirmed" if part else "refuted")
    assert part in found.summary


def test_build_tools(tmp_path: Path) -> None:
    missing = build.toolkit(case(here(root=tmp_path, environ={"PATH": str(tmp_path)}), "build.nvcc-missing"))
    assert missing.status == "confirmed"
    home = tree(tmp_path / "cuda", {"bin/nvcc": "#!/bin/sh\n", "version.json": '{"cuda" : {"name" : "CUDA SDK", "version" : "12.4.1"}}'})
    (home / "bin/nvcc").chmod(0o755)
    found = build.toolkit(case(here(root=tmp_path, environ={"PATH": f"{home}/bin"}), "build.nvcc-missing"))
    assert found.status == "refuted"
    assert found.data["cuda"] == "12.4"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("python train.py --token=abc123 --lr 3", "python train.py --token=*** --lr 3"),
        ("python serve.py --api-key abc123", "python serve.py --api-key ***"),
        ("run hf_abcdefgh x", "run hf_*** x"),
        ("git clone https://me:pass@host/x", "git clone https://me:***@host/x"),
        ("python tokenize.py --tokens-per-batch 4", "python tokenize.py --tokens-per-batch ***"),
    ],
)
def test_no_secret_of_a_command_line_is_told(tmp_path: Path, line: str, shown: str) -> None:
    root = tree(tmp_path, {"/proc/7/cmdline": line.replace(" ", "\0")})
    assert here(root=root).process(7) == shown
