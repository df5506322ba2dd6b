"""From a program that really fails, through the pipe, to the probe that names the culprit."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
LABELS = """
import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 120

    def __getitem__(self, index):
        return torch.ones(4), 5 if index == 77 else index % 5


def main():
    model = torch.nn.Linear(4, 5)
    for x, y in torch.utils.data.DataLoader(Data(), batch_size=8):
        torch.nn.functional.cross_entropy(model(x), y).backward()


if __name__ == "__main__":
    main()
"""
PORT = """
import os, socket, sys
store = socket.socket()
try:
    store.bind(("127.0.0.1", int(sys.argv[1])))
except OSError as error:
    sys.exit(f"RuntimeError: The server socket has failed to listen on any local network address. "
             f"The server socket has failed to bind to 127.0.0.1:{sys.argv[1]} (errno: {error.errno} - {error.strerror}).")
"""


AGAIN = """Traceback (most recent call last):
RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to 127.0.0.1:{number} (errno: 98 - Address already in use).
"""


def piped(folder: Path, command: str) -> dict[str, Any]:
    environ = os.environ | {"PYTHONPATH": "", "AIFIX_HOME": str(folder / "home")}
    line = f"{command} 2>&1 | {sys.executable} -m aifix --format json --no-history"
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@LINUX
def test_a_port_that_is_taken_names_its_holder(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(PORT)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        first = piped(tmp_path, f"{sys.executable} store.py {number}")["diagnoses"][0]
    assert first["id"] == "dist.addr-in-use"
    probe = next(one for one in first["probes"] if one["id"] == "host.port")
    assert (probe["status"], probe["data"]["pid"]) == ("confirmed", os.getpid())
    ending = next(fix for fix in first["fixes"] if fix["id"] == "kill-leftover")
    assert any(str(os.getpid()) in action["text"] for action in ending["do"])


@LINUX
def test_a_port_left_over_from_an_earlier_run_is_to_be_freed_first(tmp_path: Path) -> None:
    """The holder's parent is gone: nobody waits for it any more."""
    (tmp_path / "store.py").write_text(PORT)
    holder = "import os, socket, sys, time\nif os.fork(): sys.exit()\nos.setsid()\none = socket.socket()\none.bind(('127.0.0.1', 0))\none.listen()\n"
    holder += "open('held', 'w').write(f'{os.getpid()} {one.getsockname()[1]}')\ntime.sleep(120)\n"
    (tmp_path / "holder.py").write_text(holder)
    subprocess.run([sys.executable, "holder.py"], cwd=tmp_path, check=True, timeout=30)
    deadline = time.monotonic() + 20
    while not (tmp_path / "held").exists() or len((tmp_path / "held").read_text().split()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    pid, number = (tmp_path / "held").read_text().split()
    try:
        parent = (Path("/proc") / pid / "stat").read_text().rpartition(")")[2].split()[1]
        if parent != "1":
            pytest.skip("orphans get another parent here (a subreaper)")
        first = piped(tmp_path, f"{sys.executable} store.py {number}")["diagnoses"][0]
    finally:
        os.kill(int(pid), signal.SIGKILL)
    assert "left over from an earlier run" in next(one["summary"] for one in first["probes"] if one["id"] == "host.port")
    assert first["fixes"][0]["id"] == "kill-leftover"
    (tmp_path / "again.log").write_text(AGAIN.format(number=number))
    freed = piped(tmp_path, "cat again.log")["diagnoses"][0]
    assert freed["fixes"][0]["id"] != "kill-leftover"


@pytest.mark.slow
def test_a_label_out_of_range_on_the_cpu_is_named_by_its_index(tmp_path: Path, torch_python: str) -> None:
    (tmp_path / "train.py").write_text(LABELS)
    first = piped(tmp_path, f"{torch_python} train.py")["diagnoses"][0]
    assert first["id"] in {"data.label-range", "cuda.device-assert-label"}
    assert any(one["id"] == "data.labels" and one["status"] == "not-run" for one in first["probes"])
    command = [
        sys.executable,
        "-m",
        "aifix",
        "probe",
        "data.labels",
        "--python",
        torch_python,
        "--dataset",
        "train:Data",
        "--classes",
        "5",
        "--format",
        "json",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 1, done.stderr
    probe = json.loads(done.stdout)["probes"][0]
    assert [item["index"] for item in probe["data"]["bad"]["label"]] == [77]
    assert "labels out of range at 77" in probe["summary"]
