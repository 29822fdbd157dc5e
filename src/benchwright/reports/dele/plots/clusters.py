"""The number of clusters, and a map of the items (DELE, Figures 33–44)."""

from typing import Any

import pandas as pd

from benchwright.reports.dele.plots.rate_curves import COLOURS
from benchwright.reports.page.plot_style import QUIET, axis, empty_plot, plain
from benchwright.reports.page.plots import legend_below, margin, plot

_MAP, _MAP_BETWEEN = 340, 46  # pixels
_CURVE = 190


def plot_cluster_curves(cluster_curves: pd.DataFrame) -> Any:
    """Draw the elbow and silhouette curves over the number of clusters, with the chosen number."""
    title = (
        "Number of clusters: squared distances (elbow) and silhouette; dots mark the chosen number"
    )
    if cluster_curves.empty:
        return empty_plot(title, "The number of clusters is fixed, or no sampler clusters items.")
    traces = []
    for i, (name, rows) in enumerate(cluster_curves.groupby("sampler", sort=True)):
        own = rows.sort_values("k")
        within = own["within"] / own["within"].max() if own["within"].max() > 0 else own["within"]
        traces += [
            {
                "x": own["k"].tolist(),
                "y": values.round(5).tolist(),
                "yaxis": y,
                "mode": "lines+markers",
                "name": plain(name),
                "legendgroup": plain(name),
                "showlegend": y == "y",
                "line": {"color": COLOURS[i % len(COLOURS)], "width": 1.6},
                "marker": {"size": [9 if chosen else 0.1 for chosen in own["chosen"]]},
                "hovertemplate": f"{plain(name)}, k = %{{x}}: %{{y:.3f}}<extra></extra>",
            }
            for y, values in (("y", within), ("y2", own["silhouette"]))
        ]
    height = 2 * _CURVE + 40
    share = _CURVE / height
    return plot(
        title,
        height + 130,
        traces,
        xaxis=axis("clusters", anchor="y2", fixedrange=True),
        yaxis=axis("squared distances, relative", domain=[1 - share, 1], fixedrange=True),
        yaxis2=axis("silhouette", domain=[0, share], fixedrange=True),
        legend=legend_below(58, height),
        margin=margin(110, top=12),
        meta={"narrow": {"layout.height": height + 220}},
    )


def plot_item_map(item_map: pd.DataFrame) -> Any:
    """Draw the items in the plane by t-SNE, one panel per sampler, coloured by its clusters."""
    title = "Items by t-SNE, coloured by cluster; only neighbourhoods are meaningful"
    if item_map.empty:
        return empty_plot(title, "No sampler clusters the texts of items.")
    samplers = list(item_map.groupby("sampler", sort=True))
    rows = -(-len(samplers) // 2)
    height = rows * _MAP + (rows - 1) * _MAP_BETWEEN
    tall = len(samplers) * _MAP + (len(samplers) - 1) * _MAP_BETWEEN
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    names: list[dict[str, Any]] = []
    narrow: dict[str, Any] = {"layout.height": tall + 40}
    hidden: dict[str, Any] = {"showticklabels": False, "showgrid": False, "fixedrange": True}
    above = {"x": 0, "y": 1, "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    for i, (name, own) in enumerate(samplers):
        x, y = ("x", "y") if not i else (f"x{i + 1}", f"y{i + 1}")
        of_x, of_y = (f"{name[0]}axis{name[1:]}" for name in (x, y))
        across = [0, 0.48] if i % 2 == 0 else [0.52, 1]
        axes[of_x] = axis(domain=across, anchor=y, **hidden)
        axes[of_y] = axis(domain=_domain(i // 2, height), anchor=x, **hidden)
        narrow[f"layout.{of_x}.domain"] = [0, 1]
        narrow[f"layout.{of_y}.domain"] = _domain(i, tall)
        traces.append(
            {
                "type": "scattergl",
                "x": own["x"].round(2).tolist(),
                "y": own["y"].round(2).tolist(),
                "xaxis": x,
                "yaxis": y,
                "mode": "markers",
                "marker": {"size": 4, "color": [_colour(c) for c in own["cluster"]]},
                "text": [plain(item) for item in own["item_id"]],
                "customdata": own["cluster"].tolist(),
                "hovertemplate": "%{text}, cluster %{customdata}<extra></extra>",
                "showlegend": False,
            }
        )
        where = {"xref": f"{x} domain", "yref": f"{y} domain"}
        names.append({"text": plain(name), **where, **above})
    return plot(
        title,
        height + 40,
        traces,
        annotations=names,
        margin=margin(8, top=28, right=8),
        meta={"top": 24, "narrow": narrow},
        **axes,
    )


def _domain(row: int, height: int) -> list[float]:
    """Return the lower and upper end of a row of maps, in shares of `height` pixels."""
    top = 1 - row * (_MAP + _MAP_BETWEEN) / height
    return [max(top - _MAP / height, 0), top]


def _colour(cluster: int) -> str:
    return QUIET if cluster < 0 else COLOURS[cluster % len(COLOURS)]
