"""What rich wrapped reads as the program said it, at any width; what the program itself broke stays broken. Written by rich itself."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console
from rich.logging import RichHandler
from rich.traceback import Traceback

from aifix.intake.document import read

OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.65 GiB total capacity; 20.12 GiB already allocated; 1.06 GiB free; 21.50 GiB "
    "reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
)
PATH = "/data/" + "a" * 60 + "/" + "b" * 70 + ".safetensors not found"


def written(width: int, *messages: str, show_path: bool = True) -> str:
    out = io.StringIO()
    handler = RichHandler(console=Console(file=out, width=width), show_path=show_path)
    for message in messages:
        handler.handle(logging.LogRecord("trainer", logging.ERROR, "trainer.py", 42, message, None, None))
    return out.getvalue()


def texts(log: str) -> list[str]:
    return [line.text for line in read(log.encode()).lines if line.text.strip()]


@pytest.mark.parametrize("width", [66, 80, 100, 120, 160])
@pytest.mark.parametrize("padded", [True, False], ids=["padded", "stripped"])
def test_records_of_the_log_handler(width: int, *, padded: bool) -> None:
    log = written(width, "a first line", OOM, PATH, "the last one")
    if not padded:
        log = "\n".join(line.rstrip() for line in log.split("\n"))
    shown = texts(log)
    for message in ("a first line", OOM, PATH, "the last one"):
        assert sum(line.endswith(message) for line in shown) == 1, message


def test_lines_that_the_program_broke_itself_stay_apart() -> None:
    shown = texts(written(100, "the sizes are\nbatch 12\nheads 8", OOM))
    assert [line.rpartition("  ")[2] for line in shown[:3]] == ["the sizes are", "batch 12", "heads 8"]


def test_without_a_column_of_places_the_indentation_decides() -> None:
    shown = texts(written(80, "a first line", OOM, show_path=False))
    assert any(line.endswith(OOM) for line in shown)


@pytest.mark.parametrize("width", [76, 80, 100, 120])
@pytest.mark.parametrize("lead", ["", "[rank3]: "])
def test_the_message_below_a_tracebacks_box(width: int, lead: str) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width)
    with pytest.raises(RuntimeError) as raised:
        raise RuntimeError(OOM)
    console.print(Traceback.from_exception(RuntimeError, raised.value, raised.tb, width=width))
    console.print("the next line of the run, which is no part of it")
    document = read("".join(f"{lead}{line}\n" for line in out.getvalue().split("\n")).encode())
    shown = [line.text for line in document.lines if line.text.strip()]
    assert f"RuntimeError: {OOM}" in shown
    assert shown[-1] == "the next line of the run, which is no part of it"
    assert [(item.kind, item.message.split("\n")[0]) for item in document.tracebacks] == [("RuntimeError", OOM)]
    assert {line.rank for line in document.lines if line.text.startswith("RuntimeError")} == ({3} if lead else {None})


def test_lines_keep_the_numbers_at_which_they_begin() -> None:
    log = written(80, "a first line", OOM, "after")
    lines = read(log.encode()).lines
    by_text = {line.text.rpartition("  ")[2] or line.text: line.number for line in lines}
    raw = log.split("\n")
    assert raw[next(number for text, number in by_text.items() if text.endswith("after")) - 1].rstrip().split()[1] == "after"
