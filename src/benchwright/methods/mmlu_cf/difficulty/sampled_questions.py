"""Sample questions by field and difficulty (MMLU-CF, section 3.2, step 3)."""

import logging

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import (
    sample_by_difficulty,
    sampling_pool,
)
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.mmlu_cf import CheckingParams, SamplingByDifficultyParams
from benchwright.tables.mmlu_cf import CleanItems

logger = logging.getLogger(__name__)


def sample_items(
    fielded_items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    sampling_by_difficulty: SamplingByDifficultyParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw the sample whose fields and levels come nearest to the quotas.

    Questions without a level are omitted. If no question has one, all count as the level nearest
    to the mean, so that only fields, domains and explanations decide. Questions without a field
    count as Other.

    Returns:
        The sampled `CleanItems` (for memory) in their order, and the counts of strata.

    Raises:
        InputError: nothing could be sampled.
    """
    params = sampling_by_difficulty
    items, strata = _sampled(fielded_items, item_difficulty, params, closed_seed)
    if items.empty:
        raise InputError(
            "sampling: no question was sampled, since none was collected or has a difficulty"
        )
    rated = item_difficulty.loc[item_difficulty["level"].notna(), "item_id"]
    without = int((~fielded_items["item_id"].isin(rated)).sum())
    if without:
        logger.warning(
            "sampling: %d of %d questions have no level of difficulty; %s",
            without,
            len(fielded_items),
            "they are omitted" if len(rated) else "it does not affect the sample",
        )
    return items, strata


def choose_final_items(
    checked_items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    checking: CheckingParams,
    sampling_by_difficulty: SamplingByDifficultyParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sample `checking.size` of the checked questions under the same quotas; None keeps all.

    Returns:
        The `CleanItems` of the benchmark (for memory) in their order, and the counts of strata
        with the targets of a sample of that size.
    """
    size = len(checked_items) if checking.size is None else checking.size
    sized = sampling_by_difficulty.model_copy(update={"size": size})
    return _sampled(checked_items, item_difficulty, sized, closed_seed)


def _sampled(
    items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    sampling: SamplingByDifficultyParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    pool = sampling_pool(items, item_difficulty, sampling)
    with no_question_in_errors(items, "sampling"):
        ids, strata = sample_by_difficulty(pool, sampling, closed_seed)
    chosen = pool[pool["item_id"].isin(set(ids))].drop(columns="difficulty")
    if chosen.empty:
        return CleanItems.empty(), strata
    return pd.DataFrame(CleanItems.validate(chosen.reset_index(drop=True))), strata
