"""The handbook's page of performance figures, out of a bench's results."""

from __future__ import annotations

from typing import Any

GROUPS = {
    "start-up": (
        "What a short run pays",
        "A whole `aifix` in a pipe, beside the start of a Python that does nothing, by processor time. Less is better.",
    ),
    "latency": ("Delay of a line", "Milliseconds more than a line takes through `cat`."),
    "stream": (
        "Long logs",
        (
            "Speed of `cat LOG | aifix > /dev/null` as a multiple of the yardstick's in its place, by the clock (of ripgrep: by processor time,"
            " without the compiling of its patterns). More is better."
        ),
    ),
    "memory": ("Memory", "The process's own peak (VmHWM). Less is better."),
    "diagnosis": ("The diagnosis at the end", "Processor time of a whole failing pipe. Less is better."),
    "others": ("Beside the checks of others", "Processor time as a multiple of theirs. Less is better."),
}


def page(results: dict[str, Any]) -> str:
    """Write the page.

    Args:
        results: what `run.py` writes as JSON.
    """
    about = results["about"]
    parts = [
        "# How fast\n",
        (
            "Every figure is a ratio beside a yardstick that ran in turns with it, the median of its pairs;"
            f" `make bench BENCH_ARGS='--page docs/speed.md'` measures them anew"
            f" and writes this page (Python {about['python']}, {about['processors']} processors).\n"
        ),
    ]
    for group, (head, text) in GROUPS.items():
        figures = [figure for figure in results["figures"] if figure["group"] == group]
        if figures:
            parts += [f"## {head}\n", f"{text}\n", "| what | times | yardstick | target | |\n|---|---:|---|---|---|", *map(_row, figures), ""]
    return "\n".join(parts)


def _row(figure: dict[str, Any]) -> str:
    """Write one figure as a row of its table."""
    limit = "" if figure["limit"] is None else f"{'≥' if figure['at_least'] else '≤'} {figure['limit']:g}{'' if figure['kept'] else ', missed'}"
    return f"| {figure['name']} | {figure['ratio']:.2f} | {figure['yardstick']} | {limit} | {figure['note']} |"
