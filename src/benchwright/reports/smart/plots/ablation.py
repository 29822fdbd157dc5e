"""What fewer filter models would have removed (SMART, Table 6)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import (
    KEPT,
    QUIET,
    REMOVED,
    axis,
    empty_figure,
    plain,
)
from benchwright.reports.page.plots import plot, points

_WIDTH = 0.16  # the points of one size lie side by side within ± this


def draw_filter_model_ablation(filter_model_ablation: pd.DataFrame) -> Any:
    """Draw the share of items removed with each subset of the filter models, by its size."""
    title = "Items removed, by number of filter models"
    table = filter_model_ablation
    if table.empty:
        return empty_figure(title, "No rule that asks filter models has run.")
    most = int(table["n_models"].max())
    whole = table[table["n_models"] == most].iloc[0]
    parts = table[table["n_models"] < most]
    traces = [_points(parts), _means(parts), _whole_set(whole)]
    sizes = sorted({int(size) for size in table["n_models"]})
    counts = parts["n_models"].value_counts()
    labels = [f"{size}<br>{counts.get(size, 1):,} sets" for size in sizes[:-1]] + [f"{most}<br>all"]
    share = float(whole["share_removed"])
    return plot(
        f"{title}: {share:.1%} with all {most}{_range(parts)}",
        340,
        traces,
        xaxis=axis(
            "filter models",
            tickvals=sizes,
            ticktext=labels,
            range=[sizes[0] - 0.5, most + 0.5],
            showgrid=False,
        ),
        yaxis=axis("items removed", tickformat=".0%", rangemode="tozero"),
        legend={"orientation": "h", "y": -0.34, "x": 0},
        hovermode="closest",
        meta={"narrow": {"layout.xaxis.ticktext": [str(size) for size in sizes]}},
    )


def _points(parts: pd.DataFrame) -> Any:
    return points(
        (parts["n_models"] + _offsets(parts["n_models"])).tolist(),
        parts["share_removed"].tolist(),
        "%{y:.1%} removed with<br>%{customdata}",
        name="one set of models",
        marker={"color": QUIET, "size": 7, "opacity": 0.65},
        customdata=[_models(names) for names in parts["models"]],
    )


def _means(parts: pd.DataFrame) -> Any:
    by_size = parts.groupby("n_models")["share_removed"]
    means, deviations = by_size.mean(), by_size.std()
    return points(
        [int(size) for size in means.index],
        means.tolist(),
        "%{x} models: mean %{y:.1%}, sd %{customdata}",
        name="mean ± standard deviation",
        marker={"color": KEPT, "size": 9, "symbol": "line-ew", "line": {"width": 3, "color": KEPT}},
        error_y={
            "type": "data",
            "array": deviations.fillna(0).tolist(),
            "color": KEPT,
            "thickness": 2,
            "width": 6,
        },
        customdata=["unknown" if np.isnan(sd) else f"{sd:.1%}" for sd in deviations],
    )


def _whole_set(whole: pd.Series) -> Any:
    return points(
        [int(whole["n_models"])],
        [float(whole["share_removed"])],
        "%{y:.1%} removed with all:<br>%{customdata}",
        name="all filter models",
        marker={"color": REMOVED, "size": 12, "symbol": "diamond"},
        customdata=[_models(whole["models"])],
    )


def _models(names: str) -> str:
    return plain(names).replace(",", "<br>")


def _offsets(sizes: pd.Series) -> pd.Series:
    """Where each point lies beside the tick of its size: evenly from left to right."""
    place = sizes.groupby(sizes).cumcount()
    count = sizes.groupby(sizes).transform("size")
    return (place + 0.5) / count * 2 * _WIDTH - _WIDTH


def _range(parts: pd.DataFrame) -> str:
    """The means with fewer models, in words, or ""."""
    if parts.empty:
        return ""
    means = parts.groupby("n_models")["share_removed"].mean()
    fewest = int(means.index[0])
    return f", {means.iloc[0]:.1%} on average with {fewest}"
