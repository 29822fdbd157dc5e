"""Plots of the SMART report."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.evidence.scores import spread
from benchwright.reports.page import shapes
from benchwright.reports.page.plot_style import (
    KEPT,
    MOST_RANKED,
    QUIET,
    REMOVED,
    clip,
    distinct_names,
)
from benchwright.reports.page.shapes import Panel, Scale
from benchwright.reports.smart.wording import METHODS, write_percentile

BRANCHES = {
    "first_peak": "the first peak of the density",
    "halved": "the only peak of the density, halved",
    "fixed": "set in the parameters",
}
"""Descriptions of how the threshold was chosen."""

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
    table = scores.dropna(subset=["rank_full", "rank_kept"])
    if table.empty:
        return shapes.nothing(title, "No model has a score on both sets of items.")
    shown = spread([str(model) for model in table["model"]], MOST_RANKED)
    if len(shown) < len(table):
        title += f"; {len(shown)} of {len(table):,} models"
    table = table[table["model"].isin(shown)].sort_values(["rank_full", "model"])
    names = distinct_names([str(model) for model in table["model"]])
    slopes = [
        shapes.Slope(
            name,
            row["rank_full"],
            row["rank_kept"],
            (f"{row['accuracy_full']:.1%}", f"{row['accuracy_kept']:.1%}"),
        )
        for name, row in zip(names, table.to_dict("records"), strict=True)
    ]
    return shapes.slopes(title, slopes)


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
        shapes.dots(
            peaks["x"],
            peaks["y"],
            KEPT,
            "peaks",
            hover=[f"peak at {x:.3f}" for x in peaks["x"]],
            symbol="triangle-down",
        ),
    ]
    return shapes.curves(
        title,
        traces,
        Scale("cosine distance", zero=True),
        Scale("density", zero=True, ticks={}),
        lines=[shapes.Line(float(threshold), f"δ = {threshold:.3f}", REMOVED)],
    )


def plot_encoder_overlap(encoder_overlap: pd.DataFrame) -> Any:
    """Draw how far pairs of encoders agree on which items are similar.

    The share of equal verdicts is shown with its value for independent encoders, and with the
    Jaccard index, which ignores items that both encoders call different.
    """
    title = "Agreement of encoders on similar items"
    table = encoder_overlap
    if table.empty:
        return shapes.nothing(title, "There are fewer than two encoders to compare.")
    counts = [
        f"similar: {row.similar_a:,} and {row.similar_b:,} of {row.n_items:,} items, "
        f"{row.both:,} by both"
        for row in table.itertuples()
    ]
    series = (
        ("jaccard", "Jaccard index: both / either", REMOVED, "circle"),
        ("same_verdict", "same verdict: share of all items", KEPT, "circle"),
        ("expected_same", "same verdict if independent", QUIET, "line-ns-open"),
    )
    traces = [
        shapes.dots(
            table[column],
            range(len(table)),
            colour,
            name,
            hover=[
                f"{name}: {value:.1%}; {count}"
                for value, count in zip(table[column], counts, strict=True)
            ],
            symbol=symbol,
        )
        for column, name, colour, symbol in series
    ]
    names = [
        f"{clip(str(row.encoder_a), 26)} / {clip(str(row.encoder_b), 26)}"
        for row in table.itertuples()
    ]
    return shapes.rows(title, names, Panel(traces, Scale("", ".0%", (-0.02, 1.02))), row=40)


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
