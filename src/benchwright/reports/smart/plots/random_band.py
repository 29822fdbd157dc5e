"""Plots that compare this run with random subsets of the same size."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots

_METHODS = {"kept": "this run", "ire": "IRE"}
_NONE = "No random subsets were drawn, or there are too few models to rank."
_BINS = 40
_PANEL, _BETWEEN = 130, 70  # pixels


class _Method(NamedTuple):
    """A method's value and those of random subsets of the same size."""

    name: str
    n_items: int
    value: float
    full: float
    low: float
    high: float
    plain: NDArray[np.float64]
    stratified: NDArray[np.float64]


def plot_random_band(random_subsets: pd.DataFrame, random_comparison: pd.DataFrame) -> Any:
    """Draw Kendall's tau-b of random subsets, of this run and of IRE.

    The plot is about held-out models if they were compared, else about all models.
    """
    title = "Kendall tau-b with the ranking on all items"
    return _draw(random_subsets, random_comparison, "kendall_tau_b", title, 3)


def plot_spread_band(random_subsets: pd.DataFrame, random_comparison: pd.DataFrame) -> Any:
    """Draw the range of the best models' scores on random subsets, in this run and in IRE.

    The unit is accuracy points (0–100). A wider range separates the best models better.
    """
    title = "Range of the best models' scores, in points"
    return _draw(random_subsets, random_comparison, "spread_top", title, 1)


def group_shown(random_comparison: pd.DataFrame, metric: str) -> str:
    """Return `held_out` where the metric is known for it, else `all`."""
    known = random_comparison[
        (random_comparison["metric"] == metric) & random_comparison["value"].notna()
    ]
    return "held_out" if (known["models"] == "held_out").any() else "all"


def _draw(
    random_subsets: pd.DataFrame,
    random_comparison: pd.DataFrame,
    metric: str,
    title: str,
    digits: int,
) -> Any:
    group = group_shown(random_comparison, metric)
    methods = _methods(random_subsets, random_comparison, metric, group)
    if not methods:
        return style.empty_plot(title, _NONE)
    n_models = int(random_comparison.loc[random_comparison["models"] == group, "n_models"].max())
    title += f": random subsets of the same size ({n_models} {GROUPS[group]})"
    low, high = _range(methods)
    edges = np.linspace(low, high, _BINS + 1)
    height = len(methods) * _PANEL + (len(methods) - 1) * _BETWEEN
    traces: list[Any] = []
    shapes: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    for i, method in enumerate(methods):
        suffix = "" if i == 0 else str(i + 1)
        top = 1 - i * (_PANEL + _BETWEEN) / height
        bottom = max(top - _PANEL / height, 0)
        axes[f"yaxis{suffix}"] = style.axis(
            domain=[bottom, top], showticklabels=False, fixedrange=True, rangemode="tozero"
        )
        traces += _bars(method, edges, f"y{suffix}", first=i == 0)
        shapes += _marks(method, f"y{suffix} domain")
        annotations += _names(method, f"y{suffix} domain", (low + high) / 2, digits)
    lowest = "y" if len(methods) == 1 else f"y{len(methods)}"
    return plots.plot(
        title,
        height + 48 + 120,
        traces,
        bargap=0.06,
        barmode="overlay",
        hovermode="x",
        margin=plots.margin(80, top=48 + 40),
        legend=plots.legend_below(62, height),
        xaxis=style.axis(range=[low, high], anchor=lowest, fixedrange=True, nticks=8),
        shapes=shapes,
        annotations=annotations,
        meta={"top": 52, "narrow": {"layout.xaxis.nticks": 4}},
        **axes,
    )


def _methods(
    random_subsets: pd.DataFrame, random_comparison: pd.DataFrame, metric: str, group: str
) -> list[_Method]:
    rows = random_comparison[
        (random_comparison["metric"] == metric) & (random_comparison["models"] == group)
    ]
    draws = random_subsets[
        (random_subsets["metric"] == metric) & (random_subsets["models"] == group)
    ]
    methods = []
    for method, name in _METHODS.items():
        of_method = rows[(rows["method"] == method) & rows["value"].notna()]
        of_method = of_method.sort_values("random")  # plain first
        of_size = draws[draws["method"] == method]
        plain, stratified = (
            of_size.loc[of_size["random"] == kind, "value"].dropna().to_numpy()
            for kind in ("plain", "stratified")
        )
        if of_method.empty or not (len(plain) or len(stratified)):
            continue
        row = of_method.to_dict("records")[0]
        columns = ("value", "full", "random_low", "random_high")
        value, full, low, high = (float(row[column]) for column in columns)
        n_items = int(row["n_items"])
        methods.append(_Method(name, n_items, value, full, low, high, plain, stratified))
    return methods


def _range(methods: list[_Method]) -> tuple[float, float]:
    """Return a range with a margin on both sides of the data."""
    parts = [part for m in methods for part in (m.plain, m.stratified, [m.value, m.full])]
    drawn = np.concatenate(parts)
    low, high = float(np.nanmin(drawn)), float(np.nanmax(drawn))
    room = 0.06 * (high - low) or 0.01
    return low - room, high + room


def _bars(
    method: _Method, edges: NDArray[np.float64], y: str, *, first: bool
) -> list[dict[str, Any]]:
    """Plain subsets as bars, stratified ones as an outline."""
    middle = ((edges[:-1] + edges[1:]) / 2).round(6).tolist()
    plain, stratified = (
        np.histogram(draws, edges)[0].tolist() for draws in (method.plain, method.stratified)
    )
    shared = {"yaxis": y, "showlegend": first}
    return [
        {
            "type": "bar",
            "x": middle,
            "y": plain,
            "name": "random subsets",
            "legendgroup": "plain",
            "marker": {"color": style.QUIET, "opacity": 0.55, "line": {"width": 0}},
            "hovertemplate": "%{y:,} random subsets<extra></extra>",
            **shared,
        },
        plots.points(
            middle,
            stratified,
            "%{y:,} random subsets by subject",
            name="random subsets, stratified by subject",
            legendgroup="stratified",
            mode="lines",
            line={"color": style.KEPT, "width": 1.5, "shape": "hvh"},
            **shared,
        ),
    ]


def _marks(method: _Method, yref: str) -> list[dict[str, Any]]:
    """Return the middle 95% as a band, the method's value and that of all items as lines."""
    shapes: list[dict[str, Any]] = []
    if np.isfinite(method.low) and np.isfinite(method.high):
        band = {"x0": method.low, "x1": method.high, "line": {"width": 0}}
        shapes.append(
            {"type": "rect", "fillcolor": "rgba(128,128,128,0.13)", "layer": "below", **band}
        )
    lines: list[tuple[float, dict[str, Any]]] = [
        (method.value, {"color": style.REMOVED, "width": 2.5}),
        (method.full, {"color": style.KEPT, "width": 2, "dash": "dot"}),
    ]
    for x, line in lines:
        if np.isfinite(x):
            shapes.append(plots.vertical_line(x, (0, 1), line))
    return [{**shape, "yref": yref, "y0": 0, "y1": 1} for shape in shapes]


def _names(method: _Method, yref: str, middle: float, digits: int) -> list[dict[str, Any]]:
    """Return the labels of the lines, above the panel."""
    texts = [
        (method.value, f"<b>{method.name} {method.value:.{digits}f}</b>", style.REMOVED, 0),
        (method.full, f"all items {method.full:.{digits}f}", style.KEPT, 16),
    ]
    notes: list[dict[str, Any]] = [
        {
            "x": x,
            "xanchor": "right" if x > middle else "left",
            "text": text,
            "yshift": shift,
            "font": {"color": colour},
        }
        for x, text, colour, shift in texts
        if np.isfinite(x)
    ]
    size = {"x": 0, "xref": "paper", "xanchor": "left", "text": f"{method.n_items:,} items"}
    size |= {"yshift": 32}
    shared = {"y": 1, "yref": yref, "yanchor": "bottom", "showarrow": False}
    return [{**note, **shared} for note in [*notes, size]]
