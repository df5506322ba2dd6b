"""Logs inside JSON: what notebooks and records hold is read as if it had been printed, under the numbers of the file's own lines."""

from __future__ import annotations

import json

import pytest

import aifix
from aifix.intake import document

TRACE = """Traceback (most recent call last):
  File "/workspace/train.py", line 3, in <module>
    x = torch.zeros(2, 3) @ torch.zeros(2, 3)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)
"""
STAMP = "2026-03-01T09:12:00Z"
LINES = TRACE.splitlines()


def rows(*records: dict[str, object]) -> str:
    return "\n".join(json.dumps(record) for record in records) + "\n"


def of_docker(text: str) -> dict[str, object]:
    return {"log": text + "\n", "stream": "stderr", "time": "2026-03-01T09:12:00.123456789Z"}


RECORDS = [
    pytest.param(rows(*map(of_docker, LINES)), 4, id="docker's files of containers"),
    pytest.param(rows(*({"timestamp": STAMP, "level": "error", "message": text} for text in LINES)), 4, id="a logger's record a line"),
    pytest.param(rows({"ts": 1.5, "level": "error", "msg": "run failed", "stacktrace": TRACE}), 1, id="a message and its traceback"),
    pytest.param("starting\n" + rows({"asctime": STAMP, "levelname": "ERROR", "message": "died", "exc_info": TRACE}), 2, id="one record among lines"),
    pytest.param(rows(*({"severity": "ERROR", "timestamp": STAMP, "textPayload": text} for text in LINES)), 4, id="Google Cloud"),
    pytest.param(rows(*({"severity": "ERROR", "timestamp": STAMP, "jsonPayload": {"message": text}} for text in LINES)), 4, id="its structured form"),
    pytest.param(rows(*({"MESSAGE": text, "PRIORITY": "3", "_PID": "411"} for text in LINES)), 4, id="journalctl -o json"),
    pytest.param(
        "[" + "\n,".join(json.dumps({"stream_name": "stderr", "time": 4.2, "data": text + "\n"}) for text in LINES) + "\n]\n",
        4,
        id="Kaggle's log of a run",
    ),
    pytest.param(
        rows({"level": "error", "time": STAMP, "message": "\u001b[31m" + TRACE + "\u001b[0m"}), 1, id="with colours, which JSON writes as text"
    ),
]


@pytest.mark.parametrize(("log", "line"), RECORDS)
def test_records_are_read_as_what_they_say(log: str, line: int) -> None:
    found = aifix.diagnose(log.encode()).diagnoses[0]
    assert found.id == "tensor.matmul-shape"
    assert found.evidence[0].line == line
    assert found.evidence[0].text == LINES[-1]
    assert found.location is not None
    assert (found.location.file, found.location.line) == ("/workspace/train.py", 3)


def test_the_rank_of_a_record_is_the_rank_of_its_lines() -> None:
    log = rows(*({"time": STAMP, "level": "error", "rank": 5, "message": text} for text in LINES))
    assert aifix.diagnose(log.encode()).diagnoses[0].ranks == (5,)


def test_what_a_record_tells_as_information_is_no_failure() -> None:
    assert not aifix.diagnose(
        rows(*({"time": STAMP, "level": "info", "message": "CUDA out of memory. Tried to allocate 2.00 GiB"} for _ in range(3))).encode()
    ).failed


def test_the_figures_of_a_record_stay_where_they_are_what_it_is_about() -> None:
    log = rows(*({"time": STAMP, "level": "info", "message": "step", "step": step, "loss": "nan" if step > 3 else 0.5} for step in range(9)))
    (line,) = document.read(log.encode()).lines[:1]
    assert '"loss": 0.5' in line.text


@pytest.mark.parametrize(
    "text",
    [
        '{"text": "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", "label": 3}',
        '{"model_type": "llama", "hidden_size": 4096}',
        '{"time": 3, "level": "info"',
        "{not json at all}",
        "[{]}",
        '{"time": "x", "message": 5}',
    ],
)
def test_other_json_is_left_as_it_is(text: str) -> None:
    assert [line.text for line in document.read(f"{text}\n{text}\n".encode()).lines] == [text, text]


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["Sometimes this fails with\n", "ModuleNotFoundError: No module named 'einops'\n"]},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [
                {"name": "stdout", "output_type": "stream", "text": ["step 1\n", "step 2\n"]},
                {
                    "ename": "RuntimeError",
                    "evalue": "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
                    "output_type": "error",
                    "traceback": [
                        "\u001b[0;31m---------------------------------------------------------------------------\u001b[0m",
                        "\u001b[0;31mRuntimeError\u001b[0m                              Traceback (most recent call last)",
                        "Cell \u001b[0;32mIn[1], line 3\u001b[0m\n\u001b[1;32m      1\u001b[0m import torch\n\u001b[0;32m----> 3\u001b[0m torch.zeros(2, 3) @ torch.zeros(2, 3)\n",
                        "\u001b[0;31mRuntimeError\u001b[0m: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
                    ],
                },
            ],
            "source": ["raise ValueError('CUDA out of memory. Tried to allocate 2.00 GiB')"],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.mark.parametrize("indent", [1, None], ids=["as Jupyter writes it", "in one line"])
def test_a_notebook_is_read_as_what_its_cells_printed(indent: int | None) -> None:
    text = json.dumps(NOTEBOOK, indent=indent)
    report = aifix.diagnose(text.encode())
    assert [found.id for found in report.diagnoses] == ["tensor.matmul-shape"]
    (number,) = {one.line for one in report.diagnoses[0].evidence}
    assert "shapes cannot be multiplied" in text.splitlines()[number - 1]
