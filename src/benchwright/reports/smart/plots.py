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

BRANCHES = {
    "first_peak": "the first peak of the density",
    "halved": "the only peak of the density, halved",
    "fixed": "set in the parameters",
}
"""Descriptions of how the threshold was chosen."""

_OFF = "The rule for similar items was off or could not run."
_SUBJECTS = 80  # most bars
_METHODS = {"kept": "this run", "ire": "IRE"}
_BINS = 40
_WIDTH = 0.16  # the points of one size lie side by side within ± this


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


def plot_filter_shares(
    items: pd.DataFrame, kept_items: pd.DataFrame, rule_coverage: pd.DataFrame
) -> Any:
    """Draw the items removed by each rule and by all rules together (SMART, Table 1)."""
    n, gone = len(items), len(items) - len(kept_items)
    title = f"Removed by each rule, of {n:,} items (rules can overlap)"
    if rule_coverage.empty:
        return shapes.nothing(title, "There are no rules.")
    rules = rule_coverage.to_dict("records")
    names = [*(rule["rule"].replace("_", " ") for rule in rules), "all rules together"]
    removed = [*(int(rule["removed"]) for rule in rules), gone]
    spared = [*(int(rule["flagged"] - rule["removed"]) for rule in rules), 0]
    notes = [*(_note(rule, n) for rule in rules), f"{gone:,} · {gone / n:.1%}"]
    parts = [
        shapes.bars(numbers, colour, what, hover=[f"{m:,} {what}" for m in numbers], notes=text)
        for numbers, colour, what, text in (
            (removed, [REMOVED] * len(rules) + [KEPT], "removed", ()),
            (spared, QUIET, "flagged, not removed", notes),
        )
    ]
    return shapes.rows(title, names, Panel(parts, Scale(form=",d")))


def _note(rule: dict[Any, Any], n: int) -> str:
    if rule["status"] in ("off", "not_run"):
        return str(rule["status"]).replace("_", " ")
    coverage = f", {rule['judged'] / n:.1%} judged" if rule["not_judged"] else ""
    return f"{rule['removed']:,} · {rule['removed'] / n:.1%}{coverage}"


def plot_subject_shares(subject_shares: pd.DataFrame) -> Any:
    """Draw the share of items that each subject lost (SMART, Table 9)."""
    title = "Share of items removed by subject"
    if subject_shares.empty:
        return shapes.nothing(title, "There are no items.")
    shown = subject_shares
    if len(shown) > _SUBJECTS:
        half = _SUBJECTS // 2
        shown = pd.concat([shown.head(half), shown.tail(half)])
        title += f" ({half} most and {half} least of {len(subject_shares):,} subjects)"
    names = [clip(str(name).replace("_", " "), 34) for name in shown["subject"]]
    counts = zip(shown["n_full"], shown["n_kept"], strict=True)
    notes = [f"{full:,} → {kept:,}" for full, kept in counts]
    shares = shown["share_removed"].tolist()
    hover = [f"{name}: {share:.1%}" for name, share in zip(names, shares, strict=True)]
    whole = 1 - subject_shares["n_kept"].sum() / subject_shares["n_full"].sum()
    line = shapes.Line(float(whole), f"all items {whole:.1%}", KEPT)
    drawn = shapes.bars(shares, REMOVED, hover=hover, notes=notes)
    ticks = {tick: f"{tick:.0%}" for tick in (0, 0.25, 0.5, 0.75, 1)}
    scale = Scale(reach=(0, 1.22), ticks=ticks)
    return shapes.rows(title, names, Panel([drawn], scale, lines=[line]), row=22)


def plot_filter_model_ablation(filter_model_ablation: pd.DataFrame) -> Any:
    """Draw the share of items removed with each subset of the filter models, by its size."""
    title = "Items removed, by number of filter models"
    table = filter_model_ablation
    if table.empty:
        return shapes.nothing(title, "No rule that uses filter models ran.")
    most = int(table["n_models"].max())
    whole, parts = table[table["n_models"] == most].iloc[0], table[table["n_models"] < most]
    by_size = parts.groupby("n_models")["share_removed"]
    means, sd = by_size.mean(), by_size.std()
    share = float(whole["share_removed"])
    title += f": {share:.1%} with all {most}"
    if len(parts):
        title += f", {means.iloc[0]:.1%} on average with {means.index[0]}"
    place = (by_size.cumcount() + 0.5) / by_size.transform("size") * 2 * _WIDTH - _WIDTH
    ticks = {size: f"{size} ({n:,} sets)" for size, n in by_size.size().items()}
    traces = [
        shapes.dots(
            parts["n_models"] + place,
            parts["share_removed"],
            QUIET,
            "one set of models",
            hover=[
                f"{row.share_removed:.1%} removed with {row.models}" for row in parts.itertuples()
            ],
        ),
        shapes.dots(
            means.index,
            means,
            KEPT,
            "mean ± standard deviation",
            hover=[f"{size} models: mean {mean:.1%}" for size, mean in means.items()],
            up=(means - sd, means + sd),
            symbol="line-ew-open",
        ),
        shapes.dots(
            [most],
            [share],
            REMOVED,
            "all filter models",
            hover=[f"{share:.1%} removed with all: {whole['models']}"],
            symbol="diamond",
        ),
    ]
    across = Scale(
        "filter models",
        reach=(float(table["n_models"].min()) - 0.5, most + 0.5),
        ticks={**ticks, most: f"{most} (all)"},
    )
    return shapes.curves(title, traces, across, Scale("items removed", ".0%", zero=True))


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


def plot_neighbour_convergence(
    neighbour_convergence: pd.DataFrame, density_by_k: pd.DataFrame
) -> Any:
    """Draw the density of distances for several numbers of neighbours k, with its δ.

    Source: SMART, Figure 5.
    """
    title = "Threshold δ by number of nearest neighbours k"
    table = neighbour_convergence.dropna(subset=["threshold"])
    if table.empty:
        return shapes.nothing(
            title, "The rule for similar items was off, or no density had a peak."
        )
    first, last = table.iloc[0], table.iloc[-1]
    if len(table) > 1:
        title += (
            f": {first['threshold']:.3f} at k = {first['k']}, "
            f"{last['threshold']:.3f} at k = {last['k']}"
        )
    drawn: dict[Any, pd.DataFrame] = dict(list(density_by_k.groupby("k")))
    traces = [
        shapes.line(curve["x"], curve["y"], shapes.PALETTE[i % len(shapes.PALETTE)], f"k = {k}")
        for i, (k, curve) in enumerate(drawn.items())
    ]
    rows = table[table["k"].isin(drawn)].to_dict("records")
    heights = [
        float(np.interp(row["threshold"], drawn[row["k"]]["x"], drawn[row["k"]]["y"], left=0))
        for row in rows
    ]
    hover = [
        f"k = {row['k']}: δ = {row['threshold']:.3f}, {row['items_within']} items closer"
        for row in rows
    ]
    traces.append(
        shapes.dots([row["threshold"] for row in rows], heights, REMOVED, "δ", hover=hover)
    )
    across = Scale("cosine distance", zero=True)
    return shapes.curves(title, traces, across, Scale("density", zero=True, ticks={}))


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


def plot_position_sensitivity(position_sensitivity: pd.DataFrame) -> Any:
    """Draw the share of rotations under which each model chooses another option."""
    title = "Rotations under which the chosen option changes"
    table = position_sensitivity[position_sensitivity["measure"] == "changed"]
    if table.empty:
        return shapes.nothing(title, "No rotations were asked.")
    table = table.sort_values(["share", "model"])
    names = [str(name) for name in table["model"]]
    changed = shapes.dots(
        table["share"],
        range(len(table)),
        REMOVED,
        hover=[f"{name}: {share:.1%}" for name, share in zip(names, table["share"], strict=True)],
        across=(table["low"], table["high"]),
    )
    lowest, highest = table["share"].min(), table["share"].max()
    return shapes.rows(
        f"{title}: {lowest:.0%} to {highest:.0%} (95% intervals)",
        names,
        Panel([changed], Scale("share of rotations", ".0%", (0, 1))),
    )


def plot_random_band(random_subsets: pd.DataFrame, random_comparison: pd.DataFrame) -> Any:
    """Draw Kendall's tau-b of random subsets, of this run and of IRE.

    The plot is about held-out models if they were compared, else about all models.
    """
    title = "Kendall tau-b with the ranking on all items"
    return _plot_bands(random_subsets, random_comparison, "kendall_tau_b", title, 3)


def plot_spread_band(random_subsets: pd.DataFrame, random_comparison: pd.DataFrame) -> Any:
    """Draw the range of the best models' scores on random subsets, in this run and in IRE.

    The unit is accuracy points (0–100). A wider range separates the best models better.
    """
    title = "Range of the best models' scores, in points"
    return _plot_bands(random_subsets, random_comparison, "spread_top", title, 1)


def group_shown(random_comparison: pd.DataFrame, metric: str) -> str:
    """Return `held_out` where the metric is known for it, else `all`."""
    known = random_comparison[
        (random_comparison["metric"] == metric) & random_comparison["value"].notna()
    ]
    return "held_out" if (known["models"] == "held_out").any() else "all"


def _plot_bands(
    random_subsets: pd.DataFrame,
    random_comparison: pd.DataFrame,
    metric: str,
    title: str,
    digits: int,
) -> Any:
    group = group_shown(random_comparison, metric)
    rows, draws = (
        table[(table["metric"] == metric) & (table["models"] == group)]
        for table in (random_comparison, random_subsets)
    )
    rows = rows[rows["value"].notna() & rows["method"].isin(draws["method"])]
    rows = rows.sort_values("random").drop_duplicates("method")  # plain before stratified
    shown = [row for name in _METHODS for row in rows[rows["method"] == name].to_dict("records")]
    if not shown:
        why = "No random subsets were drawn, or there are too few models to rank."
        return shapes.nothing(title, why)
    n_models = int(random_comparison.loc[random_comparison["models"] == group, "n_models"].max())
    title += f": random subsets of the same size ({n_models} {GROUPS[group]})"
    values = np.concatenate([draws["value"], rows["value"], rows["full"]])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.06 * (high - low) or 0.01
    edges = np.linspace(low - room, high + room, _BINS + 1).tolist()
    panels = [_band(row, draws[draws["method"] == row["method"]], edges, digits) for row in shown]
    return shapes.stacked(title, panels)


def _band(row: dict[Any, Any], draws: pd.DataFrame, edges: Sequence[float], digits: int) -> Panel:
    """Return the random subsets of a method's size, their middle 95%, and its value."""
    plain, stratified = (
        draws.loc[draws["random"] == kind, "value"].dropna() for kind in ("plain", "stratified")
    )
    traces = shapes.histogram(plain, edges, "random subsets", stratified)
    most = 1.05 * max(value for trace in traces for value in trace["y"])
    bounds = [row["random_low"], row["random_high"]]
    traces.insert(0, shapes.band(bounds, [0, 0], [most, most], "middle 95%"))
    own = f"{_METHODS[row['method']]} {row['value']:.{digits}f}"
    lines = [shapes.Line(row["value"], own, REMOVED, "solid")]
    if pd.notna(row["full"]):
        lines.append(shapes.Line(row["full"], f"all items {row['full']:.{digits}f}", KEPT))
    down = Scale(reach=(0, most), ticks={})
    size = f"{row['n_items']:,} items"
    return Panel(traces, Scale(reach=(edges[0], edges[-1])), down, size, lines)
