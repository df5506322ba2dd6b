"""Which articles a report names."""

from __future__ import annotations

import pytest

from aifix import api
from aifix.kb import nearby
from aifix.model import Unknown


def raised(line: str) -> str:
    return f'Traceback (most recent call last):\n  File "/app/train.py", line 3, in <module>\n    run()\n{line}\n'


def test_a_diagnosis_names_the_articles_about_its_rule() -> None:
    report = api.diagnose_text("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", genre="log")
    assert {"cuda-allocator", "training-memory"} <= {name for name, _ in nearby.about(report.diagnoses[0])}


@pytest.mark.parametrize(
    ("line", "article"),
    [
        ("RuntimeError: the NCCL flight recorder saw a watchdog time-out of a collective that one rank never entered", "nccl-timeouts"),
        ("PackError: padded sequences and their lengths must be packed before the mask", "variable-length-batches"),
    ],
)
def test_an_unknown_failure_names_an_article_that_is_near(line: str, article: str) -> None:
    kind, _, message = line.partition(": ")
    assert article in [name for name, _ in nearby.about(Unknown(kind, message, ()))]


@pytest.mark.parametrize(
    "line",
    [
        "ZeroDivisionError: division by zero",
        "KeyError: 'user_id'",
        "psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint users_pkey",
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.example.com/v1/users",
        "django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.",
        "ValueError: time data '2024-13-01' does not match format '%Y-%m-%d'",
        "java.lang.NullPointerException: Cannot invoke String.length()",
    ],
)
def test_what_is_no_business_of_the_handbook_names_nothing(line: str) -> None:
    report = api.diagnose_text(raised(line), genre="log")
    assert report.unknown is not None
    assert nearby.about(report.unknown) == ()
