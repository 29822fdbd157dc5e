"""Questions of each level, and ratings before and after the contamination-free rules."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.difficulty.level_counts import level_counts
from benchwright.methods.mmlu_cf.difficulty.rated_again import ratings_again
from benchwright.params.sampling_by_difficulty import SamplingByDifficultyParams


def count_levels(
    item_difficulty: pd.DataFrame,
    sampled_items: pd.DataFrame,
    checked_items: pd.DataFrame,
    final_difficulty: pd.DataFrame,
    sampling: SamplingByDifficultyParams,
) -> pd.DataFrame:
    """Count the questions of each level, rated, sampled, checked and rated again.

    Returns:
        A `DifficultyCounts` table; pool `final` only where questions were rated again.
    """
    level = item_difficulty.set_index("item_id")["level"]
    pools = {
        "rated": level,
        "sampled": sampled_items["item_id"].map(level),
        "checked": checked_items["item_id"].map(level),
    }
    if len(final_difficulty):
        pools["final"] = final_difficulty["level"]
    return level_counts(pools, sampling)


def compare_ratings(
    item_difficulty: pd.DataFrame, final_difficulty: pd.DataFrame, cf_items: pd.DataFrame
) -> dict[str, Any]:
    """Say how far the rules moved the judges' ratings; see `ratings_again` for the figures."""
    documents = cf_items.set_index("item_id")["doc_id"]
    return ratings_again(item_difficulty, final_difficulty, documents)
