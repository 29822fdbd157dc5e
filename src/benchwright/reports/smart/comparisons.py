"""The comparisons of rankings, subsets and methods as rows of words, ready for a table."""

import math
from typing import Any

import pandas as pd

from benchwright.evidence.rank_agreement import GROUPS
from benchwright.methods.smart.label_errors import kept_minus_removed
from benchwright.reports.page.wording import rows_of
from benchwright.reports.smart.wording import (
    METHODS,
    SUBSETS,
    in_order,
    metric_of,
    write_interval,
    write_p,
    write_percentile,
    write_value,
)

_RATINGS = "arena_"  # how the names of figures about human ratings begin


def groups_in(rank_agreement: pd.DataFrame) -> dict[str, str]:
    """The sets of models that the table has; `stronger` only where it has models."""
    known = set(rank_agreement["models"])
    some = set(rank_agreement.loc[rank_agreement["n_models"] > 0, "models"])
    return {
        group: label
        for group, label in GROUPS.items()
        if group in known and (group != "stronger" or group in some)
    }


def rank_rows(rank_agreement: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry per metric with its cells by set of models; None where there is no row.

    Figures about ratings that no set of models has are left out.
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


def has_ratings(rank_agreement: pd.DataFrame) -> bool:
    """Whether any figure about human ratings is known."""
    about = rank_agreement["metric"].astype(str).str.startswith(_RATINGS)
    return bool(rank_agreement.loc[about, "value"].notna().any())


def describe_detectable(rank_agreement: pd.DataFrame, group: str) -> str:
    """Which difference of two models could be seen on all and on the kept items, or ""."""
    rows = {row["metric"]: row for row in rows_of(rank_agreement) if row["models"] == group}
    full, kept = (rows.get(f"mdd_{part}") for part in ("full", "kept"))
    if full is None or kept is None or full["value"] is None or kept["value"] is None:
        return ""
    before, after = (write_value(row["metric"], row["value"]) for row in (full, kept))
    whose = "two held-out models" if group == "held_out" else "two models"
    return (
        f"A difference of {before} points between {whose} could be detected on all "
        f"{full['n_items']:,} items, one of {after} points on the {kept['n_items']:,} kept ones "
        "(minimum detectable difference at the 5% level with a power of 80%; median over pairs)."
    )


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


def yardstick_rows(yardstick: pd.DataFrame, first: str) -> list[dict[str, Any]]:
    """The comparison with random subsets by set of models, that of the headline first."""
    rows = rows_of(yardstick)
    groups = sorted({row["models"] for row in rows}, key=lambda group: (group != first, group))
    metrics = in_order([row["metric"] for row in rows])
    methods = dict.fromkeys(row["method"] for row in rows)
    cells = {
        tuple(row[key] for key in ("models", "metric", "method", "random")): row for row in rows
    }
    return [
        {
            "label": GROUPS.get(group, group),
            "n_models": max(row["n_models"] for row in rows if row["models"] == group),
            "rows": [
                _beside(metric, method, beside)
                for metric in metrics
                for method in methods
                if (
                    beside := [
                        cells[group, metric, method, random]
                        for random in SUBSETS
                        if (group, metric, method, random) in cells
                    ]
                )
            ],
        }
        for group in groups
    ]


def _beside(metric: str, method: str, rows: list[dict[Any, Any]]) -> dict[str, Any]:
    """A figure of one subset, beside each kind of random subsets."""
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
                "percentile": _dash_or_percentile(by["percentile"]),
                "p": write_p(by["p_value"] if by["p_holm"] is None else by["p_holm"]),
            }
            for by in rows
        ],
    }


def _outside(row: dict[Any, Any]) -> bool:
    """Whether the value lies outside the middle 95% of the random subsets, as it is written."""
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if None in (value, low, high) or low <= value <= high:
        return False
    written = write_value(row["metric"], value)
    return written not in {write_value(row["metric"], bound) for bound in (low, high)}


def _dash_or_percentile(value: float | None) -> str:
    return "—" if value is None else write_percentile(value)


def _set_of_models(group: str) -> str:
    return "all models" if group == "all" else GROUPS.get(group, group)


def method_rows(method_comparison: pd.DataFrame) -> list[dict[str, Any]]:
    """Ways to choose items side by side, all in words."""
    return [
        {
            **row,
            "models": _set_of_models(row["models"]),
            "metric": metric_of(row["metric"]).label,
            "method": METHODS.get(row["method"], row["method"]),
            "value": write_value(row["metric"], row["value"]),
            "interval": write_interval(row["metric"], row["low"], row["high"]),
        }
        for row in rows_of(method_comparison)
    ]


def ablation_rows(filter_model_ablation: pd.DataFrame) -> list[dict[str, Any]]:
    """Mean and standard deviation over subsets of one size (SMART, Table 6)."""
    out = []
    for size, part in filter_model_ablation.groupby("n_models"):
        share = part["share_removed"].to_numpy(dtype=float)
        spread = float(share.std(ddof=1)) if len(share) > 1 else None
        out.append(
            {
                "n_models": int(str(size)),
                "subsets": len(part),
                "share": float(share.mean()),
                "sd": spread,
                "lowest": float(share.min()),
                "highest": float(share.max()),
                "easy": float(part["easy"].mean()),
                "answer_only": float(part["answer_only"].mean()),
            }
        )
    return out


def label_difference(label_error_rates: pd.DataFrame) -> str:
    """Whether labels are wrong more often among kept items than among removed ones, or ""."""
    if label_error_rates.empty:
        return ""
    found = kept_minus_removed(label_error_rates)
    if math.isnan(found.difference):
        return ""
    clear = found.low > 0 or found.high < 0
    said = "" if clear else "; no clear difference"
    return (
        f"Share of wrong labels, kept minus removed: {100 * found.difference:+.1f} points "
        f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}], p {_p_value(found.p_value)}{said}."
    )


def _p_value(value: float) -> str:
    written = write_p(value)
    return written if written.startswith("<") else f"= {written}"


def coverage_rows(answer_coverage: pd.DataFrame) -> list[dict[Any, Any]]:
    """What each configuration answered; those with answers that were lost come first."""
    lost = answer_coverage["not_extracted"] + answer_coverage["too_long"]
    ordered = answer_coverage.assign(lost=lost).sort_values(
        ["lost", "configuration", "condition"], ascending=[False, True, True]
    )
    return rows_of(ordered)
