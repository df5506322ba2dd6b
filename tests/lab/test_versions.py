"""The page of versions: where each specimen fails as claimed, and whose wording differs."""

from __future__ import annotations

from typing import Any

from aifix.lab import versions
from aifix.lab.environment import Target
from aifix.lab.verify import Proven, Row


def row(name: str, verdict: Any = "right", **given: Any) -> Row:
    return Row(name, name, verdict, **{"fails": True, "diagnosed": True, "found": (name,), **given})


def test_each_version_is_a_column_and_other_wordings_are_listed() -> None:
    old = Target("old", "3.8.18", {"torch": "1.4.0"})
    new = Target("new", "3.11.7", {"torch": "2.13.0+cpu"})
    said = "Traceback\nRuntimeError: Got 32 and 33 in dimension 2 at /pytorch/aten/TH.cpp:612\n"
    page = versions.page(
        [
            (
                old,
                [
                    row("tensor.cat-shape", output=said),
                    row("tensor.same", output="ValueError: size 3 at /a/b.py"),
                    row("train.amp", "skipped"),
                    row("tensor.other", "wrong", diagnosed=False, found=("deps.attr-missing",)),
                    row("tensor.fix", "wrong", fixes=(Proven("mean", "file", ended=False),)),
                ],
            ),
            (
                new,
                [
                    row("tensor.cat-shape", output="[rank0]: RuntimeError: Expected size 32 but got size `33`"),
                    row("tensor.same", output="[rank1]: ValueError: size 4 at /c/d.py"),
                    row("train.amp"),
                    row("tensor.other"),
                    row("tensor.fix", "wrong", fails=False),
                ],
            ),
        ]
    )
    assert "| specimen | torch 1.4.0, Python 3.8 | torch 2.13.0, Python 3.11 |" in page
    assert "| train.amp | – | yes |" in page
    assert "| tensor.other | no: deps.attr-missing | yes |" in page
    assert "| tensor.fix | diagnosed; a fix does not end it | does not fail |" in page
    assert "| right, of those that can run | 2 of 4 | 4 of 5 |" in page
    assert "- torch 2.13.0, Python 3.11: `RuntimeError: Expected size 32 but got size '33'`" in page
    assert "**tensor.same**" not in page, "numbers, paths and ranks are no wording"
