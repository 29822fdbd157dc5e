"""Rows of the tables that compare rankings, subsets and methods, as text."""

import math
from typing import Any

import pandas as pd

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.evidence.told_apart import not_told_apart
from benchwright.methods.smart.label_errors import kept_minus_removed
from benchwright.methods.smart.review import SUSPECT_ITEMS
from benchwright.reports.page.parts import Cell, Table
from benchwright.reports.page.wording import number, p_value, rows_of
from benchwright.reports.smart.wording import (
    METHODS,
    in_order,
    metric_of,
    write_interval,
    write_percentile,
    write_value,
)

_RATINGS = "arena_"  # how the names of metrics about human ratings begin
_WIDE = 0.25  # width of an interval from which the report warns


def rank_table(rank_agreement: pd.DataFrame) -> Table:
    """Return a row per metric with a cell per set of models, — where the table has none.

    Metrics about ratings are left out if no set of models has them.
    """
    cells = {(row["metric"], row["models"]): row for row in rows_of(rank_agreement)}
    some = set(rank_agreement.loc[rank_agreement["n_models"] > 0, "models"])
    groups = {
        group: label
        for group, label in GROUPS.items()
        if group in set(rank_agreement["models"]) and (group != "stronger" or group in some)
    }
    usual = {group: cells.get(("kendall_tau_b", group)) for group in groups}
    known = set(rank_agreement.loc[rank_agreement["value"].notna(), "metric"])
    head = []
    for group, label in groups.items():
        row = usual[group]
        under = [_size(row) if row["n_models"] else "none"] if row else []
        head.append(Cell(f"All {label}" if group == "all" else label.capitalize(), under))
    rows = [
        [
            metric_of(metric).label,
            *(_cell(metric, cells.get((metric, group)), usual[group]) for group in groups),
        ]
        for metric in in_order([str(name) for name in rank_agreement["metric"]])
        if not (metric.startswith(_RATINGS) and metric not in known)
    ]
    label = "Agreement of the two rankings (SMART, Table 3); 95% intervals over items in brackets"
    return Table(label, ["Metric", *head], rows, range(1, len(head) + 1))


def describe_ratings(rank_agreement: pd.DataFrame, source: str, n_models: int) -> str:
    """Describe the source of human ratings, and what so many rated models can show."""
    if not source:
        return "No human ratings are configured."
    rows = {row["metric"]: row for row in rows_of(rank_agreement) if row["models"] == "all"}
    metrics = [f"arena_pearson_{part}" for part in ("full", "kept")]
    ends = [rows[metric] for metric in metrics if metric in rows]
    n = ends[0]["n_models"] if ends else 0
    said = f"Ratings: {source}; {n:,} of {n_models:,} models counted."
    if not ends or ends[0]["value"] is None:
        return f"{said} No comparison with human ratings: at least 3 models are needed."
    bounds = [(row["low_models"], row["high_models"]) for row in ends]
    if any(low is None or high - low > _WIDE for low, high in bounds):
        said += (
            " The intervals over models are too wide to tell whether filtering changes the "
            "correlation."
        )
    return said


def describe_detectable(rank_agreement: pd.DataFrame, group: str) -> str:
    """Describe the minimum detectable differences on all and on the kept items; "" if unknown."""
    rows = {row["metric"]: row for row in rows_of(rank_agreement) if row["models"] == group}
    full, kept = (rows.get(f"mdd_{part}") for part in ("full", "kept"))
    if full is None or kept is None or full["value"] is None or kept["value"] is None:
        return ""
    before, after = (write_value(row["metric"], row["value"]) for row in (full, kept))
    whose = "two held-out models" if group == "held_out" else "two models"
    gap = rows.get("gap_kept")
    told = not_told_apart(gap["value"]) if gap is not None and gap["value"] is not None else ""
    return (
        f"The minimum detectable difference between {whose} is {before} points on all "
        f"{full['n_items']:,} items and {after} points on the {kept['n_items']:,} kept ones (5% "
        f"level, power 80%, median over pairs). {told}"
    ).strip()


def _size(row: dict[Any, Any]) -> str:
    return f"n = {row['n_models']} × {row['n_items']:,}"


def _cell(metric: str, row: dict[Any, Any] | None, usual: dict[Any, Any] | None) -> str | Cell:
    if row is None:
        return "—"
    over = write_interval(metric, row["low_models"], row["high_models"])
    under = [f"over models {over}"] if over else []
    if row["n_models"]:
        same = usual is not None and all(row[n] == usual[n] for n in ("n_models", "n_items"))
        under += [row["reason"]] if row["reason"] else [] if same else [_size(row)]
    interval = write_interval(metric, row["low"], row["high"])
    return Cell(write_value(metric, row["value"]), under, quiet=interval)


def random_table(random_comparison: pd.DataFrame, group: str) -> Table:
    """Return the comparison with plain random subsets for one set of models."""
    table = random_comparison[
        (random_comparison["models"] == group) & (random_comparison["random"] == "plain")
    ]
    places = {name: place for place, name in enumerate(in_order(table["metric"].tolist()))}
    ordered = table.sort_values("metric", key=lambda names: names.map(places), kind="stable")
    n_models = int(table["n_models"].max()) if len(table) else 0
    label = f"Comparison with random subsets of the same size: {n_models} {GROUPS[group]}"
    head = (
        *("Metric", "Items", "Value", "On all items", "Random mean, middle 95%"),
        *("Percentile", "p"),
    )
    return Table(label, head, [_beside_random(row) for row in rows_of(ordered)], range(2, 7))


def _beside_random(row: dict[Any, Any]) -> list[str | Cell]:
    metric, method, percentile = row["metric"], row["method"], row["percentile"]
    interval = write_interval(metric, row["random_low"], row["random_high"])
    return [
        Cell(metric_of(metric).label, [row["reason"] or ""]),
        Cell(METHODS.get(method, method), [f"{row['n_items']:,}\u00a0items"]),
        Cell(write_value(metric, row["value"]), strong=_outside(row)),
        write_value(metric, row["full"]),
        Cell(write_value(metric, row["random_mean"]), quiet=interval),
        "—" if percentile is None else write_percentile(percentile),
        p_value(row["p_value"] if row["p_holm"] is None else row["p_holm"]),
    ]


def _outside(row: dict[Any, Any]) -> bool:
    """Return whether the written value lies outside the middle 95% of the random subsets."""
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if None in (value, low, high) or low <= value <= high:
        return False
    written = write_value(row["metric"], value)
    return written not in {write_value(row["metric"], bound) for bound in (low, high)}


def ablation_table(filter_model_ablation: pd.DataFrame) -> Table:
    """Return mean and standard deviation over subsets of one size (SMART, Table 6)."""
    rows = []
    for size, part in filter_model_ablation.groupby("n_models"):
        share = part["share_removed"]
        sd = f"± {share.std():.2%}" if len(share) > 1 else ""
        means = (number(part[rule].mean()) for rule in ("easy", "answer_only"))
        rows.append([str(size), str(len(part)), Cell(f"{share.mean():.2%}", quiet=sd), *means])
    label = (
        "Items removed with subsets of the filter models: mean ± standard deviation over subsets "
        "(SMART, Table 6)"
    )
    head = ["Filter models", "Subsets", "Share removed", "Easy, mean", "Answer only, mean"]
    return Table(label, head, rows, range(5))


def label_difference(label_error_rates: pd.DataFrame) -> str:
    """Compare the share of wrong labels among kept and removed items; "" if unknown."""
    if label_error_rates.empty:
        return ""
    gap = kept_minus_removed(label_error_rates)
    if math.isnan(gap.difference):
        return ""
    doubt = "" if gap.low > 0 or gap.high < 0 else "; no clear difference"
    return (
        f"Share of wrong labels, kept minus removed: {100 * gap.difference:+.1f} points "
        f"[{100 * gap.low:+.1f}, {100 * gap.high:+.1f}], p: {p_value(gap.p_value)}{doubt}."
    )


def describe_suspects_reviewed(review_agreement: pd.DataFrame) -> str:
    """Describe the precision of the ranking of suspect items, or return ""."""
    found = review_agreement[review_agreement["rule"] == SUSPECT_ITEMS]
    if found.empty:
        return ""
    row = found.iloc[0]
    return (
        f"Of {row['reviewed']:,} reviewed suspect items {row['agree']:,} were found wrong or "
        f"unclear: {row['share_agree']:.0%} [{row['low']:.0%}, {row['high']:.0%}]."
    )
