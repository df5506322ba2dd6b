"""`rules new`: from a log to a rule whose variable parts are captures."""

from __future__ import annotations

import pytest

from aifix import api
from aifix.intake import document
from aifix.rulebase import base as rulebase
from aifix.rulebase.scaffold import pattern_of, scaffold
from aifix.rulebase.source import loads

LOG = b"""Traceback (most recent call last):
  File "/home/user/project/train.py", line 9, in <module>
    frobnicate(x)
ValueError: the flux of [8, 3, 224] at /data/set/a.bin is 3.5 GiB over cuda:1's 12 (it's odd)
"""


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("got 3 and 4", "got {int_1:int} and {int_2:int}"),
        ("needs 1.5 GiB of [2, 3]", "needs {bytes_1:bytes} of {shape_1:shape}"),
        ("no 'foo' in /a/b/c.pt", "no '{quoted_1:quoted}' in {path_1:path}"),
        ("`lengths` must be sorted when `strict` is True", "`{quoted_1:quoted}` must be sorted when `{quoted_2:quoted}` is True"),
        ("it's not what's in the batch", "it's not what's in the batch"),
        ("a (b) [c] 1.2.3", r"a \(b\) \[c\] {version_1:version}"),
    ],
)
def test_what_varies_becomes_a_capture(message: str, pattern: str) -> None:
    assert pattern_of(message) == pattern


def test_the_scaffold_is_a_rule_that_recognises_its_own_log() -> None:
    loaded = loads(scaffold(document.read(LOG), "mine.flux"))
    report = api.diagnose_blocks([(1, LOG)], base=rulebase.from_rules([loaded.rule]))
    assert report.diagnoses[0].id == "mine.flux"
    texts = {fact.text for fact in report.diagnoses[0].facts.values()}
    assert {"[8, 3, 224]", "/data/set/a.bin", "3.5 GiB", "cuda:1"} <= texts


def test_what_a_worker_process_said_is_the_message() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/workspace/train.py", line 13, in <module>\n    for batch in loader:\n'
        "IndexError: Caught IndexError in DataLoader worker process 0.\n"
        'Original Traceback (most recent call last):\n  File "/workspace/data.py", line 7, in __getitem__\n    return self.rows[i]\n'
        "IndexError: shard 17 has no row 4000\n"
    )
    text = scaffold(document.read(log.encode()), "data.shard-rows")
    assert r"- pattern: 'shard {int_1:int} has no row {int_2:int}'" in text


def test_a_log_without_an_error_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing in this log"):
        scaffold(document.read(b"all is well\n"), "mine.own")
