"""A memory snapshot as one page for the browser: the timeline, a flame graph of the peak, tables; no network, no server.

plotly draws it: of the well-kept libraries it alone has flame graphs (icicles) of its own, needs no NumPy, and puts its JavaScript into the
page. Every text of the snapshot is sanitised and escaped, also inside the plots, whose labels would take some HTML; the page's policy forbids
it to load anything.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from aifix.memory_snapshot import words
from aifix.reason.expressions import size
from aifix.show.safe import sanitise, sanitise_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aifix.memory_snapshot.stacks import Frame
    from aifix.memory_snapshot.verdict import Device, Holder, Leak, Snapshot
    from aifix.model import Fix

COLOURS = {
    "parameters": "#4c78a8",
    "gradients": "#e45756",
    "optimizer": "#f2a83b",
    "activations": "#54a24b",
    "input": "#9d755d",
    "communication": "#b279a2",
    "workspace": "#76b7b2",
    "other": "#7f7f7f",
    "unknown": "#bab0ac",
}
MIXED = "#d8d8d8"
DEPTH = 40
"""Frames of a stack in the flame graph, from the outermost."""
ROWS = 40
GIB = 1 << 30
STYLE = """
:root { color-scheme: light; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1b1b1b; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code, pre { font-family: ui-monospace, monospace; font-size: .85rem; } td code { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: #8881; padding: .6rem .8rem; border-radius: 4px; }
.kind { display: inline-block; width: .75rem; height: .75rem; border-radius: 2px; margin-right: .4rem; }
.found { border-left: 4px solid #e45756; padding-left: 1rem; } .quiet { color: #666; } details summary { cursor: pointer; }
"""
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


class PlotlyMissingError(RuntimeError):
    """The extra that draws pages is not installed."""


def render(snapshot: Snapshot) -> str:
    """Write the page.

    Args:
        snapshot: what was found.

    Raises:
        PlotlyMissingError: plotly is not installed.

    """
    try:
        import plotly.graph_objects as graphs
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError as error:
        raise PlotlyMissingError("the page needs plotly: pip install 'aifix-kb[snapshot]'") from error
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>Memory snapshot {_safe(snapshot.source)}</title>',
        f"<style>{STYLE}</style><script>{get_plotlyjs()}</script></head><body><h1>Memory snapshot <code>{_safe(snapshot.source)}</code></h1>",
    ]
    for diagnosis in snapshot.diagnoses:
        text = "".join(f"<p>{_safe(part)}</p>" for part in sanitise_block(diagnosis.explanation).split("\n") if part)
        fixes = "".join(f"<li><details><summary>{_safe(fix.title)}</summary>{_actions(fix)}</details></li>" for fix in diagnosis.fixes)
        head = f'<h2>{_safe(diagnosis.title)} <span class="quiet">{_safe(diagnosis.id)}</span></h2>'
        parts.append(f'<section class="found">{head}{text}<ol>{fixes}</ol></section>')
    for device in snapshot.devices:
        parts += _device(device, graphs)
    parts.append("</body></html>\n")
    return "".join(parts)


def _actions(fix: Fix) -> str:
    return "".join(f"<pre>{escape(sanitise_block(action.text))}</pre>" for action in fix.do if action.kind != "patch")


def _device(device: Device, graphs: Any) -> list[str]:
    kinds = "".join(
        f'<tr><td><span class="kind" style="background:{COLOURS[kind]}"></span>{kind}</td><td class="n">{size(amount)}</td></tr>'
        for kind, amount in sorted(device.kinds.items(), key=lambda item: -item[1])
    )
    parts = [
        f"<h2>Device {device.device}</h2><p>Peak {size(device.peak)}; {device.events:,} events"
        + (f" over {device.seconds:.1f} s" if device.seconds else "")
        + f". {escape(words.fragmentation(device.shared))}</p>",
    ]
    if device.timeline:
        parts += ["<h2>Memory over time</h2>", _plot(_timeline(device, graphs))]
    parts += ["<h2>At the peak, by kind</h2>", f"<table>{kinds}</table>"]
    if device.holders:
        parts += ["<h2>At the peak, by stack (outermost above; click to zoom)</h2>", _plot(_flame(device, graphs))]
        parts.append(_table("bytes", device.holders))
    if device.leaks:
        parts.append(f"<h2>What never comes down</h2>{_table('left behind', device.leaks)}")
    if device.pools:
        rows = "".join(
            f'<tr><td>{pool.name}</td><td class="n">{size(pool.cut.reserved)}</td><td class="n">{size(pool.cut.free)}</td></tr>'
            for pool in device.pools
        )
        parts.append(f'<h2>Private pools</h2><table><tr><th>pool</th><th class="n">reserved</th><th class="n">free</th></tr>{rows}</table>')
    return parts


def _table(amount: str, found: Sequence[Holder | Leak]) -> str:
    rows = "".join(
        f'<tr><td class="n">{size(one.bytes)}</td><td class="n">{one.blocks:,}</td><td>{one.kind}</td><td>{_stack(one.frames)}</td></tr>'
        for one in found[:ROWS]
    )
    return f'<table><tr><th class="n">{amount}</th><th class="n">blocks</th><th>kind</th><th>from</th></tr>{rows}</table>'


def _timeline(device: Device, graphs: Any) -> Any:
    timed = device.timeline[-1].time > 0
    x = [point.time / 1e6 if timed else at for at, point in enumerate(device.timeline)]
    figure = graphs.Figure()
    figure.add_scatter(x=x, y=[point.reserved / GIB for point in device.timeline], name="reserved", line={"color": "#999", "width": 1, "shape": "hv"})
    figure.add_scatter(
        x=x,
        y=[point.held / GIB for point in device.timeline],
        name="held by tensors",
        fill="tozeroy",
        line={"color": COLOURS["parameters"], "width": 1},
    )
    if timed and device.peak_event >= 0:
        figure.add_vline(x=device.peak_time / 1e6, line={"dash": "dot", "color": COLOURS["gradients"]}, annotation_text=f"peak {size(device.peak)}")
    figure.update_layout(
        height=360,
        margin={"l": 60, "r": 20, "t": 20, "b": 40},
        yaxis={"title": "GiB", "rangemode": "tozero"},
        xaxis={"title": "seconds" if timed else "events"},
        legend={"orientation": "h", "y": 1.1},
        template="plotly_white",
    )
    return figure


def _flame(device: Device, graphs: Any) -> Any:
    """Build the tree of stacks, outermost frames first; a node holds what it and everything below it allocated."""
    ids: dict[tuple[int, str], int] = {}
    labels, parents, values, colours = ["all"], [""], [0], [MIXED]
    for one in device.holders:
        values[0] += one.bytes
        node = 0
        path = [_frame(frame) for frame in reversed(one.frames)][:DEPTH] or ["no recorded stack"]
        for label in [*path, one.kind]:
            key = (node, label)
            found = ids.get(key)
            if found is None:
                found = ids[key] = len(labels)
                labels.append(label)
                parents.append(str(node))
                values.append(0)
                colours.append(COLOURS[one.kind])
            node = found
            values[node] += one.bytes
            if colours[node] != COLOURS[one.kind]:
                colours[node] = MIXED
    figure = graphs.Figure(
        graphs.Icicle(
            ids=[str(number) for number in range(len(labels))],
            labels=[escape(label) for label in labels],
            parents=parents,
            values=values,
            text=[size(value) for value in values],
            texttemplate="%{label}<br>%{text}",
            hovertemplate="%{label}<br>%{text}, %{percentRoot:.1%}<extra></extra>",
            branchvalues="total",
            marker={"colors": colours, "line": {"width": 1, "color": "#fff"}},
            tiling={"orientation": "v"},
            pathbar={"visible": True},
        )
    )
    figure.update_layout(height=640, margin={"l": 0, "r": 0, "t": 20, "b": 0})
    return figure


def _plot(figure: Any) -> str:
    config = {"displaylogo": False, "responsive": True, "modeBarButtons": [["zoom2d", "pan2d", "resetScale2d"]]}
    text: str = figure.to_html(full_html=False, include_plotlyjs=False, config=config)
    return text


def _stack(frames: Sequence[Frame]) -> str:
    if not frames:
        return '<span class="quiet">no recorded stack</span>'
    inner = _safe(words.place(frames))
    whole = "\n".join(_safe(_frame(frame)) for frame in frames[:DEPTH])
    return f"<details><summary><code>{inner}</code></summary><pre>{whole}</pre></details>"


def _frame(frame: Frame) -> str:
    file = frame.file.replace("\\", "/").rpartition("/")[2]
    return sanitise(f"{frame.function} {file}:{frame.line}" if frame.line else f"{frame.function} {file}")


def _safe(text: str) -> str:
    return escape(sanitise(text))
