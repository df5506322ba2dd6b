"""Which texts are the output of a run, and which only quote one."""

from __future__ import annotations

import importlib.util
import random
import textwrap
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aifix.intake import document

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
TEXTS = sorted((HERE / "texts").glob("*.txt"))
LOGS = sorted((HERE / "logs").glob("*.txt"))
SHARED = HERE.parents[2] / "shared"
CORPUS = sorted((SHARED / "corpus").glob("*.log"))
NO_LOG = {f"none.{number}" for number in range(26, 34)}


def genre(text: str) -> str:
    return document.read(text.encode()).genre


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_what_people_wrote_is_no_log(path: Path) -> None:
    assert genre(path.read_text("utf-8")) == path.name.partition(".")[0]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_what_programs_print_is_a_log(path: Path) -> None:
    assert genre(path.read_text("utf-8")) == "log"


def before_each_line(text: str, prefix: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


VARIANTS: dict[str, Callable[[str], str]] = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()),
    "rank": partial(before_each_line, prefix="[rank1]: "),
    "compose": partial(before_each_line, prefix="trainer-1  | "),
    "time": partial(before_each_line, prefix="2026-03-01T12:00:00.123456Z "),
    "after a long run": lambda text: "".join(f"step {n} loss 0.5 lr 3.0e-04\n" for n in range(500)) + text,
    "with bars": lambda text: text.replace("\n", "\n 10%|#         | 1/10 [00:01<00:09,  1.00it/s]\n"),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("path", TEXTS + LOGS, ids=lambda path: path.stem)
def test_what_carried_a_text_here_does_not_change_its_kind(path: Path, variant: str) -> None:
    text = path.read_text("utf-8")
    wanted = "log" if path in LOGS else path.name.partition(".")[0]
    found = genre(VARIANTS[variant](text))
    assert (found == "log") == (wanted == "log")


@pytest.mark.parametrize(
    "text", ["", "\n", "x", "RuntimeError: CUDA out of memory", "# Title", "Killed\n", "the end of a story that somebody wrote\n"]
)
def test_too_little_to_tell_is_a_log(text: str) -> None:
    assert genre(text) == "log"


def test_the_caller_may_know_better() -> None:
    assert document.read(TEXTS[0].read_bytes(), genre="log").genre == "log"


def test_prose_around_a_real_traceback_is_a_report_of_a_run() -> None:
    text = textwrap.dedent(
        """\
        Hello, I have the following problem when I train the model on my own data.
        It works with the data of the tutorial, but not with mine, and I do not know why.

        Traceback (most recent call last):
          File "train.py", line 10, in <module>
            main()
        RuntimeError: CUDA error: device-side assert triggered

        What could it be? Thanks in advance for any help that you can give me.
        """
    )
    assert genre(text) == "log"


def mutations() -> dict[str, Callable[[str, random.Random], str]]:
    """The ways in which shared/score.py varies a log."""
    spec = importlib.util.spec_from_file_location("score", SHARED / "score.py") if (SHARED / "score.py").is_file() else None
    if spec is None or spec.loader is None:
        return {}
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"": lambda text, _: text, **module.MUTATIONS}


@pytest.mark.skipif(not CORPUS, reason="no ../shared/corpus here")
@pytest.mark.parametrize("kind", mutations())
def test_the_corpus(kind: str) -> None:
    mutate = mutations()[kind]
    wrong = []
    for path in CORPUS:
        text = path.read_bytes().decode("utf-8", "replace")
        found = genre(mutate(text, random.Random(f"{kind}:{path.name}")))  # noqa: S311
        if (found == "log") == (path.stem in NO_LOG):
            wrong.append((path.stem, found))
    assert not wrong
