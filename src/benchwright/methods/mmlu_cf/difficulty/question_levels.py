"""Rate the difficulty of questions, by judges or from answers (MMLU-CF, section 3.2, step 3)."""

import logging

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.difficulty.rating import (
    BUNDLED,
    DIFFICULTY,
    combine_ratings,
    difficulty_candidates,
    rate_difficulty,
)
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import difficulty_from_responses
from benchwright.methods.mmlu_cf.judging.judges import (
    named_judges,
    rounds_table,
    with_passage,
)
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.mmlu_cf import DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams

logger = logging.getLogger(__name__)


_FEWEST_RATED = 30  # with fewer ratings, levels from answers do not follow their distribution


def rate_items(
    fielded_items: pd.DataFrame,
    judge_store: StoredShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask judges to rate every question, or `difficulty.at_most` of them, from 0 to 9.

    Judges see worked examples, and passages before questions.

    Returns:
        `judged_values` (for memory) and `ROUNDS`; no rows without judges.

    Raises:
        InputError: there are no questions, a question has no known answer, or a judge is unknown
            or unavailable.
    """
    if fielded_items.empty:
        raise InputError("difficulty: no question passed cleaning; see the dataset cleaning_funnel")
    unknown = int(fielded_items["answer"].lt(0).sum())
    if unknown:
        raise InputError(
            f"difficulty: {unknown} of {len(fielded_items)} questions have no known answer; "
            "switch on the cleaning rules for answers"
        )
    if not difficulty.judges:
        logger.warning("difficulty: no question is rated, because difficulty.judges is empty")
    asked = difficulty_candidates(fielded_items, difficulty.at_most, closed_seed)
    return _rated(asked, judge_store, difficulty, models, scoring)


def _rated(
    items: pd.DataFrame,
    store: StoredShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    with no_question_in_errors(items, "difficulty"):
        judges = named_judges(difficulty, models, scoring, store, "difficulty")
        return rate_difficulty(
            with_passage(items), judges, BUNDLED[: difficulty.shots], difficulty.attempts
        )


def set_levels(
    fielded_items: pd.DataFrame,
    difficulty_ratings: pd.DataFrame,
    difficulty_answers: ResponseMatrix,
    difficulty: DifficultyParams,
    closed_seed: int,
) -> pd.DataFrame:
    """Assign each question the judges' level, else one from models' responses, else none.

    The table must stay in memory; `source` names the origin of each level.
    """
    ids = fielded_items["item_id"].astype(str).tolist()
    judged = combine_ratings(ids, difficulty_ratings, closed_seed)
    if judged["level"].notna().all():
        return judged
    if not difficulty_answers.models:
        return judged
    ratings = judged["difficulty"].dropna()
    reference = ratings.to_numpy() if len(ratings) >= _FEWEST_RATED else None
    levels, reason = difficulty_from_responses(difficulty_answers, difficulty.min_models, reference)
    if reason:
        logger.warning("difficulty: levels from models' responses: %s", reason)
    return combine_ratings(ids, difficulty_ratings, closed_seed, levels)


def rate_final_items(
    contamination_free_items: pd.DataFrame,
    judge_store: StoredShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Ask the judges to rate the questions after the rules (MMLU-CF, Figure 8).

    Returns:
        Levels (`combine_ratings`, for memory) and `ROUNDS`; no rows without judges or
        `difficulty.rate_final`.
    """
    if not (difficulty.rate_final and difficulty.judges):
        return pd.DataFrame(columns=DIFFICULTY), rounds_table("", {})
    ratings, rounds = _rated(contamination_free_items, judge_store, difficulty, models, scoring)
    ids = contamination_free_items["item_id"].astype(str).tolist()
    return combine_ratings(ids, ratings, closed_seed), rounds.assign(task="final difficulty")
