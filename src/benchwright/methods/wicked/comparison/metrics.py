"""The run in flat numbers, for MLflow."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.metric_name import metric_name

_OF_MODELS = ("mean_delta", "kendall_tau_b", "tau_b_between_draws", "tau_b_resampled")
_COUNTS = ("reversed_pairs", "significant_reversals")
_OF_ONE = ("accuracy_original", "accuracy_mean", "accuracy_sd", "delta", "delta_se")


class Unchecked(NamedTuple):
    """Items of which nobody has said whether they have a single best answer."""

    lost: int  # items that lost their right option in some draw
    lost_unchecked: int  # those of them that nobody has checked: each may be incoherent
    lost_by_draw: float  # the same in each draw, on average over draws
    single: int  # items known to have a single best answer
    several: int  # items known not to
    unchecked: int  # the others


def count_unchecked(
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    item_ids: set[str] | None = None,
) -> Unchecked:
    """Count the items whose coherence rests on nobody's judgement (WiCkeD, section 3.2).

    `single_best_answer_ids` are ids by what is known of them: `single`, `several`, …; without
    `item_ids` all items are those of the table.
    """
    marks = _marks(perturbation_changes)
    everyone = item_ids or {str(item) for item in marks.index.get_level_values("item_id")}
    single = everyone & set(single_best_answer_ids["single"])
    checked = everyone & {item for ids in single_best_answer_ids.values() for item in ids}
    removed = marks.index[marks["gold_removed"]]
    lost = {str(item) for item in removed.get_level_values("item_id")}
    unchecked = [item for item in removed.get_level_values("item_id") if item not in checked]
    draws = marks.index.get_level_values("condition").nunique()
    return Unchecked(
        len(lost),
        len(lost - checked),
        len(unchecked) / draws if draws else 0.0,
        len(single),
        len(checked - single),
        len(everyone - checked),
    )


def collect_draw_metrics(
    draw_scores: pd.DataFrame,
    draw_summary: pd.DataFrame,
    draw_demonstrations: pd.DataFrame,
    draw_prompts: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
) -> dict[str, float]:
    """Collect the figures of the draws as flat numbers, for MLflow.

    `gold_removed_unchecked` counts items that lost their right option in some draw although
    nobody has said whether a second one would do: each may be incoherent (WiCkeD, section 3).
    """
    marks = _marks(perturbation_changes)
    unchecked = count_unchecked(perturbation_changes, single_best_answer_ids)
    shown = draw_demonstrations["shown"].sum()
    figures = {
        "draws": float(marks.index.get_level_values("condition").nunique()),
        "share_altered": float(marks["altered"].mean()),
        "share_gold_removed": float(marks["gold_removed"].mean()),
        "gold_removed_unchecked": float(unchecked.lost_unchecked),
        "gold_removed_unchecked_per_draw": unchecked.lost_by_draw,
        "prompts_saved": float(draw_prompts["saved"].sum()),
        "share_with_none_demonstration": float(draw_demonstrations["with_none_gold"].sum() / shown)
        if shown
        else np.nan,
    }
    for row in draw_summary.to_dict("records"):
        if row["metric"] in (*_OF_MODELS, *_COUNTS):
            parts = [row["metric"], row["perturbation"], row["asked"]]
            figures[metric_name(".".join(part for part in parts if part))] = float(row["value"])
    for row in draw_scores.to_dict("records"):
        name = metric_name(f"{row['perturbation']}.{row['configuration']}")
        for column in _OF_ONE:
            figures[f"{column}.{name}"] = float(row[column])
    return {name: value for name, value in figures.items() if np.isfinite(value)}


def _marks(perturbation_changes: pd.DataFrame) -> pd.DataFrame:
    """What became of each item in each draw; several transforms of one item are one change."""
    of_items = perturbation_changes[perturbation_changes["role"] == "item"]
    marks = of_items[["altered", "gold_removed"]].astype(bool)
    return marks.groupby([of_items["condition"], of_items["item_id"]]).any()
