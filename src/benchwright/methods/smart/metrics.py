"""The metrics of a run as flat numbers, for MLflow and for comparing runs."""

from typing import Any

import pandas as pd

from benchwright.evidence.panel import Panel
from benchwright.evidence.verdict import SubsetVerdict
from benchwright.runs.tracking import known_metrics

_PLACES = {"better": 1, "same": 0, "worse": -1}


def count_items(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rejected_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    panel: Panel,
) -> dict[str, float]:
    """Count items before and after, shares removed by rule (0–1), and models of the panel."""
    n_items = len(items)
    n_kept = len(kept_items)
    metrics: dict[str, float] = {
        "n_items": n_items,
        "n_kept": n_kept,
        "n_removed": n_items - n_kept,
        "share_removed": 1 - n_kept / n_items,
        "n_rejected": len(rejected_items),
        "n_panel_models": len(panel.models),
        "n_held_out_models": len(panel.select("held_out")),
        "n_panel_items": len(panel.item_ids),
    }
    for rule in rule_coverage.to_dict("records"):
        if rule["status"] in ("ran", "partial"):
            metrics[f"share_removed.{rule['rule']}"] = rule["share_removed"]
            metrics[f"flagged.{rule['rule']}"] = rule["flagged"]
        metrics[f"coverage.{rule['rule']}"] = rule["judged"] / n_items
    return metrics


def collect_metrics(
    item_metrics: dict[str, float],
    rank_agreement: pd.DataFrame,
    agreement: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    random_comparison: pd.DataFrame,
    ire_fit: dict[str, Any],
    judged_subset: SubsetVerdict,
) -> dict[str, float]:
    """Collect the run's metrics in one flat table of numbers; `item_metrics` come first.

    Shares are 0–1. Names end in the set of models (`_held_out`, `_all`), then in `.low` and `.high`
    for the bounds of the interval over items. The comparison with plain random subsets gives
    `random_mean.…`, `percentile.…`, and `better_than_random`: 1, 0 or, if worse, −1. A missing
    metric is left out.
    """
    metrics: dict[str, Any] = dict(item_metrics)
    for row in rank_agreement.to_dict("records"):
        name = f"{row['metric']}_{row['models']}"
        metrics[name] = row["value"]
        metrics[f"{name}.low"] = row["low"]
        metrics[f"{name}.high"] = row["high"]
        if row["metric"] == "arena_pearson_full" and row["models"] == "all":
            metrics["n_rated_models"] = row["n_models"]
    metrics |= _beside_random(random_comparison)
    metrics["better_than_random"] = _PLACES.get(judged_subset.place)
    metrics["ire_share_removed"] = ire_fit.get("share_removed")
    if len(agreement):
        metrics["agreement_full"] = agreement["full"].mean()
        metrics["agreement_kept"] = agreement["kept"].mean()
    metrics["similarity_threshold"] = similarity_threshold.get("threshold")
    return known_metrics(metrics)


def _beside_random(random_comparison: pd.DataFrame) -> dict[str, float]:
    """Return the metrics of the run's items and of IRE's with those of plain random subsets."""
    metrics = {}
    for row in random_comparison[random_comparison["random"] == "plain"].to_dict("records"):
        name = f"{row['metric']}_{row['models']}"
        if row["method"] != "kept":
            metrics[f"{row['method']}.{name}"] = row["value"]
            continue
        metrics[f"percentile.{name}"] = row["percentile"]
        metrics[f"random_mean.{name}"] = row["random_mean"]
        metrics[f"{name}.full"] = row["full"]
        # Metrics that rank_agreement has as well have the same value there.
        metrics[name] = row["value"]
    return metrics
