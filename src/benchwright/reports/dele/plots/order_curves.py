"""The share of pairs of models in the right order by their gap (arXiv:2510.08730)."""

from typing import Any

import pandas as pd

from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.reports.dele.plots.rate_curves import COLOURS
from benchwright.reports.page.plot_style import QUIET, axis, empty_plot, plain
from benchwright.reports.page.plots import legend_below, margin, plot, points
from benchwright.statistics.order_curve import WANTED

_HEIGHT = 300
_NEARLY_ALL = 0.98  # where all curves are above this share, the plot ends


def plot_order_curves(order_curves: pd.DataFrame) -> Any:
    """Draw a line per rate for random subsets, dashed for other samplers."""
    title = "Share of pairs of models in the order of all items, by their gap on all items"
    if order_curves.empty:
        return empty_plot(title, "Too few models have responses.")
    rates = sorted(set(order_curves["rate"]), reverse=True)
    traces = []
    for (sampler, rate), own in order_curves.groupby(["sampler", "rate"], sort=True):
        name = f"{plain(sampler)}, {rate:g}% ({int(own['size'].iloc[0]):,} items)"
        dash = "solid" if sampler == RANDOM else "dash"
        line = {"color": COLOURS[rates.index(rate) % len(COLOURS)], "dash": dash, "width": 2}
        said = f"{name}<br>%{{x:.1f}} points apart: %{{y:.0%}}"
        x, y = (100 * own["gap"]).round(2).tolist(), own["right"].round(4).tolist()
        traces.append(points(x, y, said, mode="lines", name=name, line=line))
    far = order_curves[order_curves["right"] < _NEARLY_ALL]["gap"].max()
    widest = order_curves["gap"].max() if pd.isna(far) else far
    wanted = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": WANTED, "y1": WANTED}
    return plot(
        title,
        _HEIGHT + 110,
        traces,
        xaxis=axis("gap of two models on all items, points", range=[0, 100 * float(widest)]),
        yaxis=axis("in the right order", range=[0.45, 1.02], tickformat=".0%"),
        shapes=[{**wanted, "line": {"color": QUIET, "dash": "dot", "width": 1}}],
        legend=legend_below(62, _HEIGHT),
        showlegend=True,
        margin=margin(140),
    )
