"""Rows of the tables that compare rankings, subsets and methods, as text."""

from typing import Any

import pandas as pd

from benchwright.core.wording import rows_of
from benchwright.evidence.kept_ranking import GROUPS
from benchwright.reports.page.parts import Cell, Table
from benchwright.reports.smart.wording import (
    METHODS,
    in_order,
    metric_of,
    write_interval,
    write_percentile,
    write_value,
)


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
    known = set(rank_agreement.loc[rank_agreement["value"].notna(), "metric"])
    head = []
    for group, label in groups.items():
        row = cells.get(("kendall_tau_b", group), {"n_models": 0})
        under = [f"n = {row['n_models']} × {row['n_items']:,}" if row["n_models"] else "none"]
        head.append(Cell(f"All {label}" if group == "all" else label.capitalize(), under))
    rows: list[list[str | Cell]] = []
    for metric in in_order(rank_agreement["metric"].tolist()):
        if metric in known or not metric.startswith("arena_"):
            of_groups = [_cell(metric, cells.get((metric, group))) for group in groups]
            rows.append([metric_of(metric).label, *of_groups])
    label = "Agreement of the two rankings (SMART, Table 3); 95% intervals over items in brackets"
    return Table(label, ["Metric", *head], rows, numbers=range(1, len(head) + 1))


def _cell(metric: str, row: dict[Any, Any] | None) -> str | Cell:
    if row is None:
        return "—"
    over = write_interval(metric, row["low_models"], row["high_models"])
    under = [f"over models {over}" if over else "", row["reason"] if row["value"] is None else ""]
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
        "Metric",
        "Items",
        "Value",
        "On all items",
        "Random mean, middle 95%",
        "Percentile among random subsets",
    )
    rows = [_beside_random(row) for row in rows_of(ordered)]
    return Table(label, head, rows, numbers=range(2, 6))


def _beside_random(row: dict[Any, Any]) -> list[str | Cell]:
    metric = row["metric"]
    method = row["method"]
    percentile = row["percentile"]
    interval = write_interval(metric, row["random_low"], row["random_high"])
    return [
        Cell(metric_of(metric).label, [row["reason"] or ""]),
        Cell(METHODS.get(method, method), [f"{row['n_items']:,}\u00a0items"]),
        write_value(metric, row["value"]),
        write_value(metric, row["full"]),
        Cell(write_value(metric, row["random_mean"]), quiet=interval),
        "—" if percentile is None else write_percentile(percentile),
    ]
