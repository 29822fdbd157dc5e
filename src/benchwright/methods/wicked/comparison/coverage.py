"""Counts of altered items, and the metrics of a run."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from benchwright.methods.wicked.comparison.compared_responses import perturbation_of
from benchwright.runs.tracking import known_metrics
from benchwright.tables.wicked import ComparisonCoverage

ALTERED = "altered"


def count_changes(perturbation_changes: pd.DataFrame) -> pd.DataFrame:
    """Count altered and unaltered items by transform and reason, over all copies.

    Return a `ComparisonCoverage` table: items before demonstrations, transforms in their order,
    `altered` first, then the reasons, the most frequent first.
    """
    changes = perturbation_changes.assign(
        perturbation=perturbation_changes["condition"].map(perturbation_of),
        outcome=perturbation_changes["reason"].where(~perturbation_changes["altered"], ALTERED),
    )
    rows = []
    for (perturbation, role), of_role in changes.groupby(["perturbation", "role"], sort=False):
        for transform, group in of_role.groupby("transform", sort=False):
            parts = dict(list(group.groupby("outcome")))
            for outcome in sorted(parts, key=lambda name: (name != ALTERED, -len(parts[name]))):
                part = parts[outcome]
                rows.append(
                    {
                        "perturbation": perturbation,
                        "role": role,
                        "transform": transform,
                        "outcome": outcome,
                        "n": len(part),
                        "items": part["item_id"].nunique(),
                        "share": len(part) / len(group),
                        "gold_removed": int(part["gold_removed"].sum()),
                    }
                )
    return ComparisonCoverage.from_rows(rows)


_OF_MODELS = ("mean_delta", "kendall_tau_b", "tau_b_between_copies", "tau_b_resampled")
_OF_ONE = ("accuracy_original", "accuracy_mean", "accuracy_sd", "delta", "delta_se")


class Unchecked(NamedTuple):
    """Numbers of items with and without a single-best-answer label."""

    lost: int  # items that lost their gold option in at least one copy
    lost_unchecked: int  # of these, items without a label: each may be incoherent
    sba: int  # items labelled as single-best-answer items
    other: int  # items labelled as others
    unchecked: int  # items without a label


def count_unchecked(
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    item_ids: set[str] | None = None,
) -> Unchecked:
    """Count items by single-best-answer label and removed gold option (WiCkeD, section 3.2).

    `single_best_answer_ids` has ids by label: `sba`, `other`. By default, `item_ids` are those
    of the table.
    """
    marks = changes_of_items(perturbation_changes)
    everyone = item_ids or {str(item) for item in marks.index.get_level_values("item_id")}
    single = everyone & set(single_best_answer_ids["sba"])
    checked = everyone & {item for ids in single_best_answer_ids.values() for item in ids}
    removed = marks.index[marks["gold_removed"]]
    lost = {str(item) for item in removed.get_level_values("item_id")}
    return Unchecked(
        lost=len(lost),
        lost_unchecked=len(lost - checked),
        sba=len(single),
        other=len(checked - single),
        unchecked=len(everyone - checked),
    )


def collect_comparison_metrics(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
) -> dict[str, float]:
    """Collect the metrics of the copies as flat numbers, for MLflow.

    `gold_removed_unchecked` counts unlabelled items that lost their gold option in at least one
    copy: each may be incoherent (WiCkeD, section 3).
    """
    marks = changes_of_items(perturbation_changes)
    unchecked = count_unchecked(perturbation_changes, single_best_answer_ids)
    metrics = {
        "copies": float(marks.index.get_level_values("condition").nunique()),
        "share_altered": float(marks["altered"].mean()),
        "share_gold_removed": float(marks["gold_removed"].mean()),
        "gold_removed_unchecked": float(unchecked.lost_unchecked),
    }
    for row in comparison_summary.to_dict("records"):
        if row["metric"] in _OF_MODELS:
            parts = [row["metric"], row["perturbation"], row["asking_style"]]
            metrics[".".join(filter(None, parts))] = float(row["value"])
    for row in comparison_scores.to_dict("records"):
        for column in _OF_ONE:
            metrics[f"{column}.{row['perturbation']}.{row['configuration']}"] = float(row[column])
    return known_metrics(metrics)


def changes_of_items(perturbation_changes: pd.DataFrame) -> pd.DataFrame:
    """Return whether each item was altered and lost its gold option, by condition and item."""
    of_items = perturbation_changes[perturbation_changes["role"] == "item"]
    marks = of_items[["altered", "gold_removed"]].astype(bool)
    return marks.groupby([of_items["condition"], of_items["item_id"]]).any()
