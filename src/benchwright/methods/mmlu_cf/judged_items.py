"""What judges say of the items of a benchmark: difficulty, quality, harms (MMLU-CF, Figure 4)."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.checking import decide
from benchwright.methods.mmlu_cf.difficulty.rating import combine_ratings
from benchwright.params.mmlu_cf import CheckingParams
from benchwright.runs.tracking import known_metrics
from benchwright.tables.mmlu_cf import JudgedItems, Judgements

EASY = 4
"""The paper calls levels below it easy: nearly a third of MMLU (section 3.2, step 3)."""


def tabulate_judgements(
    difficulty_ratings: pd.DataFrame, judge_ratings: pd.DataFrame, harm_flags: pd.DataFrame
) -> pd.DataFrame:
    """Put the values of each judge on each item in one row, as a `Judgements` table."""
    levels = difficulty_ratings.assign(criterion="level")
    values = pd.concat([levels, judge_ratings, harm_flags])
    wide = values.pivot(index=["item_id", "judge"], columns="criterion", values="value")  # noqa: PD010
    wide = wide.rename_axis(columns=None).reset_index().reindex(columns=Judgements.columns())
    wide = wide.sort_values(["item_id", "judge"], ignore_index=True)
    return Judgements.of(wide)


def summarise_items(
    items: pd.DataFrame,
    difficulty_ratings: pd.DataFrame,
    judge_ratings: pd.DataFrame,
    harm_flags: pd.DataFrame,
    checking: CheckingParams,
    seed: int,
) -> pd.DataFrame:
    """Combine the judges to one level and one decision per item, as a `JudgedItems` table.

    No item is removed: `reason` says what the check of MMLU-CF would do. The rows are those of
    `items`, in their order.
    """
    ids = items["item_id"].astype(str).tolist()
    levels = combine_ratings(ids, difficulty_ratings, seed)[["difficulty", "level"]]
    decisions = decide(ids, judge_ratings, harm_flags, checking).drop(columns=["item_id", "kept"])
    named = items[["item_id", "subject"]].reset_index(drop=True)
    table = pd.concat([named, levels, decisions], axis=1)
    return JudgedItems.of(table)


def collect_judge_metrics(judged_items: pd.DataFrame) -> dict[str, float]:
    """Collect shares (0–1; of items with a level, or checked) and means, for MLflow."""
    level = judged_items["level"].dropna()
    checked = judged_items[judged_items["reason"] != "unjudged"]
    metrics: dict[str, Any] = {
        "items": len(judged_items),
        "share_rated": len(level) / len(judged_items),
        "mean_difficulty": judged_items["difficulty"].mean(),
        "share_easy": level.lt(EASY).mean(),
        "share_checked": len(checked) / len(judged_items),
        "share_passed": checked["reason"].eq("good").mean(),
        "share_harmful": checked["reason"].eq("harmful").mean(),
    }
    return known_metrics(metrics)
