"""Plots of the SMART report."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.reports.page import shapes
from benchwright.reports.page.plot_style import KEPT, REMOVED
from benchwright.reports.page.shapes import Panel, Scale
from benchwright.reports.smart.wording import BRANCHES, METHODS, write_percentile

_OFF = "The rule for similar items was off or could not run."
_BINS = 40


def plot_funnel(funnel: pd.DataFrame) -> Any:
    """Draw the items left after each step that removed some, and the removed ones."""
    title = "Items left after each step (blue) and removed by it (orange)"
    if funnel.empty:
        return shapes.nothing(title, "There are no counts.")
    shown = funnel[(funnel["kind"] != "removed") | (funnel["removed"] > 0)]
    start = max(int(funnel["left"].iloc[0]), 1)
    steps = [
        (
            str(row["step"]).replace("_", " "),
            int(row["left"]),
            int(row["removed"]),
            f"−{row['removed']:,} → {row['left']:,}"
            if row["kind"] == "removed"
            else f"{row['left']:,} · {row['left'] / start:.1%}",
        )
        for row in shown.to_dict("records")
    ]
    return shapes.funnel(title, steps)


def plot_rank_chart(scores: pd.DataFrame) -> Any:
    """Draw each model's rank on all items (left) and on the kept items (right)."""
    title = (
        "Ranks of models on all items (left) and kept items (right): blue improved, orange worsened"
    )
    table = scores.dropna(subset=["rank_full", "rank_kept"]).sort_values(["rank_full", "model"])
    if table.empty:
        return shapes.nothing(title, "No model has a score on both sets of items.")
    return shapes.slopes(title, table, ("full", "kept"))


def plot_distance_distribution(
    distance_density: pd.DataFrame, similarity_threshold: dict[str, Any]
) -> Any:
    """Draw the density of distances to the nearest neighbours, its peaks and the threshold.

    Source: SMART, Figure 3.
    """
    threshold = similarity_threshold.get("threshold")
    if distance_density.empty or threshold is None or pd.isna(threshold):
        return shapes.nothing("Distances between neighbouring items", _OFF)
    branch = BRANCHES.get(str(similarity_threshold.get("branch")), "")
    title = (
        f"Cosine distances of each item to its {similarity_threshold.get('k')} nearest: "
        f"δ = {threshold:.3f}, {branch}"
    )
    curve = distance_density
    peaks = curve[curve["peak"]]
    left = curve[curve["x"] <= similarity_threshold["limit"]]
    traces = [
        shapes.band(left["x"], [0] * len(left), left["y"], "similar", REMOVED),
        shapes.line(curve["x"], curve["y"], KEPT, "density"),
        shapes.dots(peaks["x"], peaks["y"], KEPT, "peaks"),
    ]
    return shapes.curves(
        title,
        traces,
        Scale("cosine distance", zero=True),
        Scale("density", zero=True, ticks={}),
        lines=[shapes.Line(float(threshold), f"δ = {threshold:.3f}", REMOVED)],
    )


def plot_random_band(random_subsets: pd.DataFrame, random_comparison: pd.DataFrame) -> Any:
    """Draw Kendall's tau-b of random subsets, of this run and of IRE.

    The plot is about held-out models if they were compared, else about all models.
    """
    title = "Kendall tau-b with the ranking on all items"
    rows, draws = (
        table[table["metric"] == "kendall_tau_b"] for table in (random_comparison, random_subsets)
    )
    rows = rows[rows["value"].notna()]
    group = "held_out" if (rows["models"] == "held_out").any() else "all"
    draws = draws[(draws["models"] == group) & (draws["random"] == "plain")]
    rows = rows[(rows["models"] == group) & (rows["random"] == "plain")]
    rows = rows[rows["method"].isin(draws["method"])]
    shown = [row for name in METHODS for row in rows[rows["method"] == name].to_dict("records")]
    if not shown:
        why = "No random subsets were drawn, or there are too few models to rank."
        return shapes.nothing(title, why)
    title += f": random subsets of the same size ({shown[0]['n_models']} {GROUPS[group]})"
    values = np.concatenate([draws["value"], rows["value"]])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.06 * (high - low) or 0.01
    edges = np.linspace(low - room, high + room, _BINS + 1).tolist()
    panels = [
        _band(row, draws.loc[draws["method"] == row["method"], "value"], edges) for row in shown
    ]
    return shapes.stacked(title, panels)


def _band(row: dict[Any, Any], draws: pd.Series, edges: Sequence[float]) -> Panel:
    """Return the random subsets of a method's size, their middle 95%, and its value."""
    bars = shapes.histogram(draws.dropna(), edges, "random subsets")
    most = 1.05 * max(bars["y"])
    bounds = [row["random_low"], row["random_high"]]
    middle = shapes.band(bounds, [0, 0], [most, most], "middle 95%")
    label = f"{METHODS[row['method']]} {row['value']:.3f}"
    if pd.notna(row["percentile"]):
        label += f", percentile {write_percentile(row['percentile'])}"
    across, down = Scale(reach=(edges[0], edges[-1])), Scale(reach=(0, most), ticks={})
    own = shapes.Line(row["value"], label, REMOVED, "solid")
    return Panel([middle, bars], across, down, f"{row['n_items']:,} items", [own])
