"""The run's items beside all items, random ones and IRE (SMART, Tables 3–5)."""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from benchwright.tables.evidence import MethodComparison

COMPARED = ("kendall_tau_b", "arena_pearson")

Row = dict[Any, Any]


def compare_methods(
    rank_agreement: pd.DataFrame, yardstick: pd.DataFrame, ire_fit: dict[str, Any]
) -> pd.DataFrame:
    """Put the ways to choose items side by side: Kendall's tau-b and Pearson with human ratings.

    Random is the mean over plain random subsets of this run's size with their middle 95%; the
    interval of this run is over items. IRE has its own size. Shares are of the items on which the
    panel is compared.
    """
    plain = yardstick[yardstick["random"] == "plain"].to_dict("records")
    found = {(row["method"], row["models"], row["metric"]): row for row in plain}
    intervals = {
        (row["models"], row["metric"]): (row["low"], row["high"])
        for row in rank_agreement.to_dict("records")
    }
    rows: list[tuple[Any, ...]] = []
    for group in ("all", "held_out"):
        for metric in COMPARED:
            own, ire = found.get(("kept", group, metric)), found.get(("ire", group, metric))
            if own is not None:
                interval = intervals.get((group, metric), (math.nan, math.nan))
                rows += _this_run(own, interval)
            if ire is not None:
                partly = "partly in-sample" if group == "all" else ""
                note = "fitted on all models: in-sample" if ire_fit["in_sample"] else partly
                value = (ire["value"], math.nan, math.nan)
                rows.append(_row("ire", ire, value, "; ".join(filter(None, (note, _why(ire_fit))))))
    return MethodComparison.from_rows(rows)


def _this_run(row: Row, interval: tuple[float, float]) -> Iterator[tuple[Any, ...]]:
    """All items where they have the figure by themselves, the kept ones, and random ones."""
    if math.isfinite(row["full"]):
        whole = {**row, "n_items": row["n_full"]}
        yield _row("full", whole, (row["full"], math.nan, math.nan), "")
    yield _row("kept", row, (row["value"], *interval), "")
    by_chance = row["random_mean"], row["random_low"], row["random_high"]
    yield _row("random", row, by_chance, f"mean of {row['draws']:,} random subsets")


def _row(method: str, row: Row, figure: tuple[float, float, float], reason: str) -> tuple[Any, ...]:
    removed = 1 - row["n_items"] / row["n_full"] if row["n_full"] else math.nan
    place = method, row["metric"], row["models"]
    return (*place, *figure, removed, row["n_models"], row["n_items"], reason)


def _why(ire_fit: dict[str, Any]) -> str:
    return str(ire_fit["reason"])
