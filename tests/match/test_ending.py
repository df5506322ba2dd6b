"""A run that took up its work again, or tells that nothing failed in the end, has survived what it printed before."""

from __future__ import annotations

import textwrap

import pytest

from aifix import api

PREEMPTED = """\
    [agent] preemption notice received: instance will be terminated in 120 s
    train INFO got SIGTERM, saving a checkpoint at step 41200
    train INFO checkpoint ckpt/step-41200 written
    """
RESUMED = """\
    [agent] new instance is up
    train INFO found ckpt/step-41200, resuming
    train INFO step 41210 loss 1.9912
    train INFO step 45000 loss 1.9533
    train INFO all 45000 steps done, model written
    """
SKIPPED = """\
    reading 64 shards
    shard 07: 3 images skipped: PIL.UnidentifiedImageError: cannot identify image file <_io.BytesIO object>
    shard 40: 1 record skipped: UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte
    """
AIRFLOW = """\
    [2026-02-01, 04:00:12 UTC] {logging_mixin.py:188} INFO - previous attempt ended with: CUDA out of memory. Tried to allocate 2.50 GiB
    [2026-02-01, 04:41:10 UTC] {logging_mixin.py:188} INFO - epoch 1 of 1, loss 1.02
    """
EVALUATED = """\
    2026-05-19:14:02:13 INFO     [evaluator:164] Setting random seed to 0
    2026-05-19:14:02:51 WARNING  [models.huggingface:97] Failed to get model SHA for ./out. Error: Repo id must be in the form 'name': './out'
    """
PAIRS = {
    "preempted": (PREEMPTED + RESUMED, PREEMPTED + "    [agent] instance is gone\n"),
    "skipped": (
        SKIPPED + "    64 of 64 shards done, 812044 samples written, 4 skipped, 0 failed\n",
        SKIPPED + "    stopped: 2 of 64 shards failed\n",
    ),
    "tried before": (
        AIRFLOW + "    [2026-02-01, 05:20:51 UTC] {local_task_job_runner.py:243} INFO - Task exited with return code 0\n"
        "    [2026-02-01, 05:20:52 UTC] {local_task_job_runner.py:222} INFO - 0 downstream tasks scheduled\n",
        AIRFLOW + "    [2026-02-01, 05:20:51 UTC] {local_task_job_runner.py:243} INFO - Task exited with return code 1\n",
    ),
    "warned": (
        EVALUATED + "    | Tasks | Value |\n    | ----- | ----- |\n    | gsm8k | 0.41  |\n",
        EVALUATED + "    huggingface_hub.errors.HFValidationError: Repo id must be in the form 'name': './out'\n",
    ),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_what_a_run_has_survived_is_no_failure(kind: str) -> None:
    assert not api.diagnose_text(textwrap.dedent(PAIRS[kind][0])).diagnoses


@pytest.mark.parametrize("kind", PAIRS)
def test_the_same_lines_of_a_run_that_stopped_are_diagnosed(kind: str) -> None:
    assert api.diagnose_text(textwrap.dedent(PAIRS[kind][1])).diagnoses
