"""Plots of removed items: by step, by rule, by subject and by number of filter models."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots


def plot_funnel(funnel: pd.DataFrame) -> Any:
    """Draw the items left after each step that removed some, and the removed ones."""
    title = "Items left after each step (blue) and removed by it (orange)"
    if funnel.empty:
        return style.empty_plot(title, "There are no counts.")
    shown = funnel[(funnel["kind"] != "removed") | (funnel["removed"] > 0)]
    rows = shown.to_dict("records")
    labels = [style.plain(str(row["step"]).replace("_", " ")) for row in rows]
    start = max(int(funnel["left"].iloc[0]), 1)
    notes = [
        f"−{row['removed']:,} → {row['left']:,}"
        if row["kind"] == "removed"
        else f"{row['left']:,} · {row['left'] / start:.1%}"
        for row in rows
    ]
    traces = [
        plots.bars(
            [int(row[part]) for row in rows],
            colour,
            f"%{{y}}: %{{x:,}} {words}",
            **{"y": labels, "name": words, **more},
        )
        for part, words, colour, more in (
            ("left", "left", style.KEPT, {}),
            ("removed", "removed", style.REMOVED, {"text": notes}),
        )
    ]
    reach = (1.3 * start, 1.75 * start)
    return plots.funnel(title, 70 + 32 * len(rows), traces, reach, rangemode="tozero")


_SUBJECTS = 80  # most bars


def plot_filter_shares(
    items: pd.DataFrame, kept_items: pd.DataFrame, rule_coverage: pd.DataFrame
) -> Any:
    """Draw the items removed by each rule and by all rules together (SMART, Table 1)."""
    n = len(items)
    title = f"Removed by each rule, of {n:,} items (rules can overlap)"
    if rule_coverage.empty:
        return style.empty_plot(title, "There are no rules.")
    rules = rule_coverage.to_dict("records")
    labels = [style.plain(rule["rule"].replace("_", " ")) for rule in rules] + [
        "all rules together"
    ]
    gone = n - len(kept_items)
    removed = [int(rule["removed"]) for rule in rules] + [gone]
    spared = [int(rule["flagged"] - rule["removed"]) for rule in rules] + [0]
    notes = [_note(rule, n) for rule in rules] + [f"{gone:,} · {gone / n:.1%}"]
    colours = [style.REMOVED] * len(rules) + [style.KEPT]
    traces = [
        plots.bars(removed, colours, "%{y}: %{x:,} removed", y=labels, name="removed"),
        plots.bars(
            spared,
            style.QUIET,
            "%{y}: %{x:,} flagged, not removed",
            y=labels,
            name="flagged, not removed",
            marker={"color": style.QUIET, "opacity": 0.45, "line": {"width": 0}},
            text=notes,
            **plots.NOTES_BESIDE,
        ),
    ]
    widest = max(r + s for r, s in zip(removed, spared, strict=True)) or 1
    narrow = {
        "layout.xaxis.range": [0, 1.7 * widest],
        "layout.xaxis.nticks": 4,
        "data.1.text": [note.split(", ")[0] for note in notes],
    }
    return plots.plot(
        title,
        110 + 34 * len(labels),
        traces,
        barmode="stack",
        bargap=0.35,
        showlegend=any(spared),
        legend={"orientation": "h", "y": -0.16, "x": 0, "traceorder": "normal"},
        xaxis=style.axis(range=[0, 1.35 * widest], rangemode="tozero", tickformat=",d"),
        yaxis=style.axis(autorange="reversed", showgrid=False),
        meta={"narrow": narrow},
    )


def plot_subject_shares(subject_shares: pd.DataFrame) -> Any:
    """Draw the share of items that each subject lost (SMART, Table 9)."""
    title = "Share of items removed by subject"
    if subject_shares.empty:
        return style.empty_plot(title, "There are no items.")
    shown = subject_shares
    if len(shown) > _SUBJECTS:
        half = _SUBJECTS // 2
        shown = pd.concat([shown.head(half), shown.tail(half)])
        title += f" ({half} most and {half} least of {len(subject_shares):,} subjects)"
    counts = zip(shown["n_full"], shown["n_kept"], strict=True)
    n_full, n_kept = subject_shares["n_full"], subject_shares["n_kept"]
    whole = (n_full - n_kept).sum() / n_full.sum()
    trace = plots.bars(
        shown["share_removed"].tolist(),
        style.REMOVED,
        "%{customdata}: %{x:.1%} removed (%{text})",
        text=[f"{full:,} → {kept:,}" for full, kept in counts],
        customdata=[style.plain(subject) for subject in shown["subject"]],
        **plots.NOTES_BESIDE,
    )
    rows = len(shown)
    line = plots.vertical_line(
        float(whole), (-0.6, rows - 0.4), {"color": style.KEPT, "dash": "dot", "width": 1.5}
    )
    narrow = {
        "layout.xaxis.range": [0, 1.55],
        "layout.xaxis.tickvals": [0, 0.5, 1],
        "layout.yaxis.ticktext": _subject_labels(shown, 20),
    }
    return plots.plot(
        title,
        110 + 22 * rows,
        [trace],
        bargap=0.3,
        xaxis=style.axis("", range=[0, 1.22], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%"),
        yaxis=plots.rows_down(_subject_labels(shown, 34), range=[rows - 0.4, -0.6]),
        shapes=[{**line, "layer": "below"}],
        annotations=[style.label_above(float(whole), f"all items {whole:.1%}", style.KEPT)],
        meta={"top": 26, "narrow": narrow},
    )


def _subject_labels(shown: pd.DataFrame, most: int) -> list[str]:
    names = (style.clip(str(subject).replace("_", " "), most) for subject in shown["subject"])
    return [style.plain(name) or "(no subject)" for name in names]


def _note(rule: dict[Any, Any], n: int) -> str:
    if rule["status"] == "off":
        return "off"
    if rule["status"] == "not_run":
        return "not run"
    coverage = f", {rule['judged'] / n:.1%} judged" if rule["not_judged"] else ""
    return f"{rule['removed']:,} · {rule['removed'] / n:.1%}{coverage}"


_WIDTH = 0.16  # the points of one size lie side by side within ± this


def plot_filter_model_ablation(filter_model_ablation: pd.DataFrame) -> Any:
    """Draw the share of items removed with each subset of the filter models, by its size."""
    title = "Items removed, by number of filter models"
    table = filter_model_ablation
    if table.empty:
        return style.empty_plot(title, "No rule that uses filter models ran.")
    most = int(table["n_models"].max())
    whole = table[table["n_models"] == most].iloc[0]
    parts = table[table["n_models"] < most]
    traces = [_subsets(parts), _means(parts), _whole_set(whole)]
    sizes = sorted({int(size) for size in table["n_models"]})
    counts = parts["n_models"].value_counts()
    labels = [f"{size}<br>{counts.get(size, 1):,} sets" for size in sizes[:-1]] + [f"{most}<br>all"]
    share = float(whole["share_removed"])
    return plots.plot(
        f"{title}: {share:.1%} with all {most}{_range(parts)}",
        340,
        traces,
        xaxis=style.axis(
            "filter models",
            tickvals=sizes,
            ticktext=labels,
            range=[sizes[0] - 0.5, most + 0.5],
            showgrid=False,
        ),
        yaxis=style.axis("items removed", tickformat=".0%", rangemode="tozero"),
        legend={"orientation": "h", "y": -0.34, "x": 0},
        hovermode="closest",
        meta={"narrow": {"layout.xaxis.ticktext": [str(size) for size in sizes]}},
    )


def _subsets(parts: pd.DataFrame) -> Any:
    return plots.points(
        (parts["n_models"] + _offsets(parts["n_models"])).tolist(),
        parts["share_removed"].tolist(),
        "%{y:.1%} removed with<br>%{customdata}",
        name="one set of models",
        marker={"color": style.QUIET, "size": 7, "opacity": 0.65},
        customdata=[style.plain(names).replace(",", "<br>") for names in parts["models"]],
    )


def _means(parts: pd.DataFrame) -> Any:
    by_size = parts.groupby("n_models")["share_removed"]
    means, spread = by_size.mean(), by_size.std()
    return plots.points(
        [int(size) for size in means.index],
        means.tolist(),
        "%{x} models: mean %{y:.1%}, sd %{customdata}",
        name="mean ± standard deviation",
        marker={
            "color": style.KEPT,
            "size": 9,
            "symbol": "line-ew",
            "line": {"width": 3, "color": style.KEPT},
        },
        error_y={**plots.deviations(spread, style.KEPT), "thickness": 2, "width": 6},
        customdata=["unknown" if np.isnan(sd) else f"{sd:.1%}" for sd in spread],
    )


def _whole_set(whole: pd.Series) -> Any:
    return plots.points(
        [int(whole["n_models"])],
        [float(whole["share_removed"])],
        "%{y:.1%} removed with all:<br>%{customdata}",
        name="all filter models",
        marker={"color": style.REMOVED, "size": 12, "symbol": "diamond"},
        customdata=[style.plain(whole["models"]).replace(",", "<br>")],
    )


def _offsets(sizes: pd.Series) -> pd.Series:
    """Return the place of each point beside the tick of its size, evenly from left to right."""
    place = sizes.groupby(sizes).cumcount()
    count = sizes.groupby(sizes).transform("size")
    return (place + 0.5) / count * 2 * _WIDTH - _WIDTH


def _range(parts: pd.DataFrame) -> str:
    if parts.empty:
        return ""
    means = parts.groupby("n_models")["share_removed"].mean()
    fewest = int(means.index[0])
    return f", {means.iloc[0]:.1%} on average with {fewest}"
