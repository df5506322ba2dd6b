"""Compressed logs: read as what they hold, wherever a log is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import aifix
from aifix.commands.main import cli
from aifix.intake import packed
from aifix_tui.logfile import LogFile

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 3, in <module>\n    import einops\nModuleNotFoundError: No module named 'einops'\n"
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.fixture(params=PACKERS)
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A compressed log."""
    path = tmp_path / f"rank_0.log{request.param}"
    path.write_bytes(PACKERS[request.param](TEXT.encode()))
    return path


def test_a_compressed_log_is_diagnosed(log: Path) -> None:
    found = aifix.diagnose(log).diagnoses[0]
    assert (found.id, found.evidence[-1].line) == ("deps.module-missing", 4)


def test_it_is_also_as_standard_input(log: Path) -> None:
    done = CliRunner().invoke(cli, ["diagnose", "-", "--format", "json"], input=log.read_bytes())
    assert done.exit_code == 1
    assert "deps.module-missing" in done.output


def test_ranks_find_it_in_a_folder(log: Path) -> None:
    (log.parent / f"shard-1.tar{log.suffix}").write_bytes(log.read_bytes())
    report = aifix.ranks(str(log.parent))
    assert report.files == 1
    assert report.verdict.ranks == (0,)


def test_the_screen_shows_it(log: Path) -> None:
    shown = LogFile(log)
    for _ in shown.index():
        pass
    assert shown.lines == 4
    assert shown.text(4).startswith("ModuleNotFoundError")
    shown.close()


def test_a_cut_one_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = TEXT + "".join(f"{number * 7919 % 100003}\n" for number in range(5000))
    whole = gzip.compress(lines.encode())
    (tmp_path / "cut.log").write_bytes(whole[: len(whole) // 2])
    assert aifix.diagnose(tmp_path / "cut.log").diagnoses[0].id == "deps.module-missing"


def test_what_cannot_be_unpacked_is_no_healthy_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad.log").write_bytes(b"\x1f\x8b\x08 and then nothing of the kind")
    with pytest.raises(OSError, match="gzip"):
        aifix.diagnose(tmp_path / "bad.log")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    monkeypatch.setitem(__import__("sys").modules, "compression", None)
    with pytest.raises(OSError, match="zstd -dc FILE"):
        packed.Packed(io.BytesIO(b"\x28\xb5\x2f\xfd"), "zstd")


def test_texts_that_begin_alike_are_texts() -> None:
    assert packed.form(b"BZhou trains a model") == ""
    assert packed.unpacked(TEXT.encode()) == TEXT.encode()
