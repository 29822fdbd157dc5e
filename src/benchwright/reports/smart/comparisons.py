"""Rows of the tables that compare rankings, subsets and methods, as text."""

import math
from typing import Any

import pandas as pd

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.evidence.told_apart import not_told_apart
from benchwright.methods.smart.label_errors import kept_minus_removed
from benchwright.methods.smart.review import SUSPECT_ITEMS
from benchwright.reports.page.wording import p_value, rows_of
from benchwright.reports.smart.wording import (
    METHODS,
    SUBSETS,
    in_order,
    metric_of,
    write_interval,
    write_percentile,
    write_value,
)

_RATINGS = "arena_"  # how the names of metrics about human ratings begin
_WIDE = 0.25  # width of an interval from which the report warns


def groups_in(rank_agreement: pd.DataFrame) -> dict[str, str]:
    """Return the sets of models in the table; `stronger` only where it has models."""
    known = set(rank_agreement["models"])
    some = set(rank_agreement.loc[rank_agreement["n_models"] > 0, "models"])
    return {
        group: label
        for group, label in GROUPS.items()
        if group in known and (group != "stronger" or group in some)
    }


def rank_rows(rank_agreement: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row per metric with a cell per set of models, None where the table has none.

    Metrics about ratings are left out if no set of models has them.
    """
    cells = {(row["metric"], row["models"]): row for row in rows_of(rank_agreement)}
    groups = groups_in(rank_agreement)
    usual = {group: cells.get(("kendall_tau_b", group)) for group in groups}
    known = set(rank_agreement.loc[rank_agreement["value"].notna(), "metric"])
    return [
        {
            "label": metric_of(metric).label,
            "cells": [_cell(metric, cells.get((metric, group)), usual[group]) for group in groups],
        }
        for metric in in_order([str(name) for name in rank_agreement["metric"]])
        if not (metric.startswith(_RATINGS) and metric not in known)
    ]


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
        written = [write_interval("arena_pearson", low, high) or "unknown" for low, high in bounds]
        said += (
            f" With {n:,} models the interval over models is {written[0]} before and {written[1]} "
            "after filtering: too wide to tell whether filtering changes the correlation."
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


def _cell(
    metric: str, row: dict[Any, Any] | None, usual: dict[Any, Any] | None
) -> dict[str, Any] | None:
    if row is None:
        return None
    same = usual is not None and all(row[n] == usual[n] for n in ("n_models", "n_items"))
    return {
        "value": write_value(metric, row["value"]),
        "interval": write_interval(metric, row["low"], row["high"]),
        "interval_models": write_interval(metric, row["low_models"], row["high_models"]),
        "reason": row["reason"] if row["n_models"] else "",
        "n": "" if same else f"n = {row['n_models']} × {row['n_items']:,}",
        "n_models": row["n_models"],
        "n_items": row["n_items"],
    }


def comparison_rows(random_comparison: pd.DataFrame, first: str) -> list[dict[str, Any]]:
    """Return the comparison with random subsets by set of models, that of the headline first."""
    rows = rows_of(random_comparison)
    groups = sorted({row["models"] for row in rows}, key=lambda group: (group != first, group))
    metrics = in_order([row["metric"] for row in rows])
    methods = dict.fromkeys(row["method"] for row in rows)
    cells = {
        tuple(row[key] for key in ("models", "metric", "method", "random")): row for row in rows
    }

    def beside(group: str, metric: str, method: str) -> list[dict[Any, Any]]:
        keys = ((group, metric, method, random) for random in SUBSETS)
        return [cells[key] for key in keys if key in cells]

    return [
        {
            "label": GROUPS.get(group, group),
            "n_models": max(row["n_models"] for row in rows if row["models"] == group),
            "rows": [
                _beside(metric, method, several)
                for metric in metrics
                for method in methods
                if (several := beside(group, metric, method))
            ],
        }
        for group in groups
    ]


def _beside(metric: str, method: str, rows: list[dict[Any, Any]]) -> dict[str, Any]:
    row = rows[0]
    return {
        "metric": metric_of(metric).label,
        "method": METHODS.get(method, method),
        "n_items": row["n_items"],
        "value": write_value(metric, row["value"]),
        "full": write_value(metric, row["full"]),
        "outside": _outside(row),
        "reason": row["reason"],
        "random": [
            {
                "kind": SUBSETS.get(by["random"], by["random"]),
                "mean": write_value(metric, by["random_mean"]),
                "interval": write_interval(metric, by["random_low"], by["random_high"]),
                "percentile": "—"
                if by["percentile"] is None
                else write_percentile(by["percentile"]),
                "p": p_value(by["p_value"] if by["p_holm"] is None else by["p_holm"]),
            }
            for by in rows
        ],
    }


def _outside(row: dict[Any, Any]) -> bool:
    """Return whether the written value lies outside the middle 95% of the random subsets."""
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if None in (value, low, high) or low <= value <= high:
        return False
    written = write_value(row["metric"], value)
    return written not in {write_value(row["metric"], bound) for bound in (low, high)}


def method_rows(method_comparison: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the comparison of methods as text."""
    return [
        {
            **row,
            "models": {**GROUPS, "all": "all models"}.get(row["models"], row["models"]),
            "metric": metric_of(row["metric"]).label,
            "method": METHODS.get(row["method"], row["method"]),
            "value": write_value(row["metric"], row["value"]),
            "interval": write_interval(row["metric"], row["low"], row["high"]),
        }
        for row in rows_of(method_comparison)
    ]


def ablation_rows(filter_model_ablation: pd.DataFrame) -> list[dict[str, Any]]:
    """Return mean and standard deviation over subsets of one size (SMART, Table 6)."""
    return [
        {
            "n_models": int(str(size)),
            "subsets": len(part),
            "share": float(share.mean()),
            "sd": float(share.std(ddof=1)) if len(share) > 1 else None,
            "lowest": float(share.min()),
            "highest": float(share.max()),
            "easy": float(part["easy"].mean()),
            "answer_only": float(part["answer_only"].mean()),
        }
        for size, part in filter_model_ablation.groupby("n_models")
        for share in [part["share_removed"].to_numpy(dtype=float)]
    ]


def label_difference(label_error_rates: pd.DataFrame) -> str:
    """Compare the share of wrong labels among kept and removed items; "" if unknown."""
    if label_error_rates.empty:
        return ""
    gap = kept_minus_removed(label_error_rates)
    if math.isnan(gap.difference):
        return ""
    clear = gap.low > 0 or gap.high < 0
    doubt = "" if clear else "; no clear difference"
    p = p_value(gap.p_value)
    return (
        f"Share of wrong labels, kept minus removed: {100 * gap.difference:+.1f} points "
        f"[{100 * gap.low:+.1f}, {100 * gap.high:+.1f}], p {p if p[0] == '<' else f'= {p}'}{doubt}."
    )


def coverage_rows(answer_coverage: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the responses by configuration; those with missing responses come first."""
    lost = answer_coverage["not_extracted"] + answer_coverage["too_long"]
    ordered = answer_coverage.assign(lost=lost).sort_values(
        ["lost", "configuration", "condition"], ascending=[False, True, True]
    )
    return rows_of(ordered)


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


def describe_suspect_effect(suspect_effect: pd.DataFrame) -> str:
    """Describe how far ranks move without suspect items, beside random ones, or return ""."""
    rows = {row["change"]: row for row in suspect_effect.to_dict("records")}
    if "removed" not in rows:
        return ""
    removed = rows["removed"]
    n = removed["n_items"]
    which = f"{n:,} items that the review found wrong"
    text = (
        f"Without the {which if removed['confirmed'] else f'{n:,} most suspect items'}, tau-b "
        f"with the ranking on all items is {removed['kendall_tau_b']:.3f}, and a rank "
        f"changes by at most {removed['largest_shift']:g}"
    )
    if "rekeyed" in rows:
        keyed = rows["rekeyed"]
        text += (
            f"; with the option most often chosen as their answer, {keyed['kendall_tau_b']:.3f} "
            f"and {keyed['largest_shift']:g}"
        )
    if "random" in rows:
        by_chance = rows["random"]
        text += (
            f". Without as many random items it is {by_chance['kendall_tau_b']:.3f} "
            f"[{by_chance['tau_b_low']:.3f}, {by_chance['tau_b_high']:.3f}] and "
            f"{by_chance['largest_shift']:.1f} [{by_chance['shift_low']:g}, "
            f"{by_chance['shift_high']:g}]"
        )
    return text + "."
