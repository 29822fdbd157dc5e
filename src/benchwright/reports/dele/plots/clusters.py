"""Clusters of items: how many, and where they lie (DELE, Figures 33–44)."""

from typing import Any

import pandas as pd

from benchwright.reports.dele.plots.panels_of_curves import COLOURS
from benchwright.reports.page.plot_style import QUIET, axis, empty_figure, layout, plain

_NONE = "No sampler clusters the items' texts."
_MAP, _MAP_BETWEEN = 340, 46  # pixels
_CURVE = 190


def draw_cluster_curves(cluster_curves: pd.DataFrame) -> Any:
    """Draw the elbow and the silhouette over the number of clusters, the chosen one marked."""
    import plotly.graph_objects as go

    title = "Number of clusters: squared distances (elbow) and silhouette; dots are the choice"
    if cluster_curves.empty:
        return empty_figure(title, "The number of clusters was given, or nothing was clustered.")
    traces: list[Any] = []
    for i, (name, rows) in enumerate(cluster_curves.groupby("sampler", sort=True)):
        own = rows.sort_values("k")
        within = own["within"] / own["within"].max() if own["within"].max() > 0 else own["within"]
        for y, values in (("y", within), ("y2", own["silhouette"])):
            traces.append(
                go.Scatter(
                    x=own["k"].tolist(),
                    y=values.round(5).tolist(),
                    yaxis=y,
                    mode="lines+markers",
                    name=plain(name),
                    legendgroup=plain(name),
                    showlegend=y == "y",
                    line={"color": COLOURS[i % len(COLOURS)], "width": 1.6},
                    marker={"size": [9 if chosen else 0.1 for chosen in own["chosen"]]},
                    hovertemplate=f"{plain(name)}, k = %{{x}}: %{{y:.3f}}<extra></extra>",
                )
            )
    height = 2 * _CURVE + 40
    share = _CURVE / height
    return go.Figure(
        traces,
        layout(
            title,
            height + 130,
            xaxis=axis("clusters", anchor="y2", fixedrange=True),
            yaxis=axis("squares, of the largest", domain=[1 - share, 1], fixedrange=True),
            yaxis2=axis("silhouette", domain=[0, share], fixedrange=True),
            legend={"orientation": "h", "x": 0, "y": -58 / height, "yanchor": "top"},
            margin={"l": 8, "r": 16, "t": 12, "b": 110},
            meta={"narrow": {"layout.height": height + 220}},
        ),
    )


def draw_item_map(item_map: pd.DataFrame) -> Any:
    """Draw the items in the plane by t-SNE, one panel per sampler, coloured by its clusters."""
    import plotly.graph_objects as go

    title = "Items by t-SNE, coloured by cluster; axes and distances mean nothing, neighbours do"
    if item_map.empty:
        return empty_figure(title, _NONE)
    samplers = sorted(set(item_map["sampler"]))
    rows = -(-len(samplers) // 2)
    height = rows * _MAP + (rows - 1) * _MAP_BETWEEN
    traces: list[Any] = []
    axes: dict[str, Any] = {}
    names: list[dict[str, Any]] = []
    narrow: dict[str, Any] = {}
    tall = len(samplers) * _MAP + (len(samplers) - 1) * _MAP_BETWEEN
    for i, name in enumerate(samplers):
        suffix = "" if not i else str(i + 1)
        top = 1 - (i // 2) * (_MAP + _MAP_BETWEEN) / height
        alone = 1 - i * (_MAP + _MAP_BETWEEN) / tall
        hidden: dict[str, Any] = {"showticklabels": False, "showgrid": False, "fixedrange": True}
        across = [0, 0.48] if i % 2 == 0 else [0.52, 1]
        axes[f"xaxis{suffix}"] = axis(domain=across, anchor=f"y{suffix}", **hidden)
        axes[f"yaxis{suffix}"] = axis(
            domain=[max(top - _MAP / height, 0), top], anchor=f"x{suffix}", **hidden
        )
        narrow[f"layout.xaxis{suffix}.domain"] = [0, 1]
        narrow[f"layout.yaxis{suffix}.domain"] = [max(alone - _MAP / tall, 0), alone]
        own = item_map[item_map["sampler"] == name]
        traces.append(
            go.Scattergl(
                x=own["x"].round(2).tolist(),
                y=own["y"].round(2).tolist(),
                xaxis=f"x{suffix}",
                yaxis=f"y{suffix}",
                mode="markers",
                marker={"size": 4, "color": [_colour(c) for c in own["cluster"]]},
                text=[plain(item) for item in own["item_id"]],
                customdata=own["cluster"].tolist(),
                hovertemplate="%{text}, cluster %{customdata}<extra></extra>",
                showlegend=False,
            )
        )
        names.append(
            {"text": plain(name), "xref": f"x{suffix} domain", "yref": f"y{suffix} domain"}
        )
    shared = {"x": 0, "y": 1, "showarrow": False, "xanchor": "left", "yanchor": "bottom"}
    return go.Figure(
        traces,
        layout(
            title,
            height + 40,
            annotations=[{**note, **shared} for note in names],
            margin={"l": 8, "r": 8, "t": 28, "b": 8},
            meta={"top": 24, "narrow": {"layout.height": tall + 40, **narrow}},
            **axes,
        ),
    )


def _colour(cluster: int) -> str:
    return QUIET if cluster < 0 else COLOURS[cluster % len(COLOURS)]
