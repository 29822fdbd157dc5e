"""Plots of the SMART report."""

from typing import Any

import pandas as pd

from benchwright.evidence.kept_ranking import GROUPS
from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.verdict import beside_random
from benchwright.reports.page import shapes
from benchwright.reports.page.figure import Line, Mark, Scale
from benchwright.reports.page.plot_style import KEPT, REMOVED
from benchwright.reports.smart.wording import BRANCHES, write_percentile

_OFF = "The rule for similar items was off or could not run."


def plot_funnel(funnel: pd.DataFrame) -> Any:
    """Draw the items left after each step that removed some, and the removed ones."""
    title = "Items left after each step (blue) and removed by it (orange)"
    if funnel.empty:
        return shapes.nothing(title, "There are no counts.")
    shown = funnel[(funnel["kind"] != "removed") | (funnel["removed"] > 0)]
    start = max(int(funnel["left"].iloc[0]), 1)
    steps = [
        shapes.Step(
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
    most = 1.05 * curve["y"].max()
    marks = [
        shapes.band([0, similarity_threshold["limit"]], [0, 0], [most] * 2, "similar", REMOVED),
        Mark("line", curve["x"], curve["y"], KEPT, "density"),
        Mark("dots", peaks["x"], peaks["y"], KEPT, "peaks"),
    ]
    return shapes.curves(
        title,
        marks,
        Scale("cosine distance", zero=True),
        Scale("density", reach=(0, most), ticks={}),
        lines=[Line(float(threshold), f"δ = {threshold:.3f}", REMOVED)],
    )


def plot_random_band(
    random_subsets: pd.DataFrame, random_comparison: pd.DataFrame, panel: Panel
) -> Any:
    """Draw Kendall's tau-b of this run among random subsets of the same size."""
    title = "Kendall tau-b with the ranking on all items"
    group = headline_group(panel)
    row = beside_random(random_comparison, group)
    wanted = {"method": "kept", "models": group, "metric": "kendall_tau_b", "random": "plain"}
    own = (random_subsets[list(wanted)] == pd.Series(wanted)).all(axis=1)
    draws = random_subsets.loc[own, "value"].dropna()
    if pd.isna(row.get("value")) or draws.empty:
        why = "No random subsets were drawn, or there are too few models to rank."
        return shapes.nothing(title, why)
    whose = f"{row['n_models']} {GROUPS[group]}, {row['n_items']:,} items"
    title += f": random subsets of the same size ({whose})"
    middle = row["random_low"], row["random_high"]
    label = f"This run {row['value']:.3f}, percentile {write_percentile(row['percentile'])}"
    line = Line(row["value"], label, REMOVED, "solid")
    return shapes.distribution(title, draws.tolist(), "random subsets", middle, line)
