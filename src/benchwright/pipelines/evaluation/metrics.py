"""The run in flat numbers, for MLflow and for comparing runs."""

import math
import re
from typing import Any

import pandas as pd

from benchwright.pipelines.evaluation.panel import Panel


def collect_metrics(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rejected_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    agreement: pd.DataFrame,
    filter_model_profile: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    panel: Panel,
) -> dict[str, float]:
    """Collect the run's figures in one flat table of numbers.

    Shares are 0–1. A figure that could not be given is left out.
    """
    n_items, n_kept = len(items), len(kept_items)
    figures: dict[str, float] = {
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
            figures[f"share_removed.{rule['rule']}"] = rule["share_removed"]
            figures[f"flagged.{rule['rule']}"] = rule["flagged"]
        figures[f"coverage.{rule['rule']}"] = rule["judged"] / n_items
    for row in rank_agreement.to_dict("records"):
        suffix = "" if row["models"] == "all" else f".{row['models']}"
        figures[f"{row['metric']}{suffix}"] = row["value"]
    for row in filter_model_profile.to_dict("records"):
        model = metric_name(row["model"])
        figures[f"share_confident.{model}"] = row["share_confident"]
        figures[f"accuracy_choices_only.{model}"] = row["accuracy_choices_only"]
    if len(agreement):
        figures["agreement_full"] = agreement["full"].mean()
        figures["agreement_kept"] = agreement["kept"].mean()
    threshold = similarity_threshold.get("threshold")
    if threshold is not None:
        figures["similarity_threshold"] = threshold
    return {
        name: float(value)
        for name, value in figures.items()
        if pd.notna(value) and math.isfinite(value)
    }


def metric_name(text: str) -> str:
    """A name MLflow takes: letters, digits, `_`, `-` and `.`, anything else becomes `_`."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)
