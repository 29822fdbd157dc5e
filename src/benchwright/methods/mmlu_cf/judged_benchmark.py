"""Judge the items of any benchmark, and measure how far judges agree."""

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.checking import check_items
from benchwright.methods.mmlu_cf.difficulty.rating import (
    BUNDLED,
    rate_difficulty,
)
from benchwright.methods.mmlu_cf.judging.judges import (
    judge_agreement,
    named_judges,
)
from benchwright.params.mmlu_cf import CheckingParams, DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams


def judge_benchmark(
    items: pd.DataFrame,
    answer_store: StoredShards,
    difficulty: DifficultyParams,
    checking: CheckingParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ask judges about difficulty, quality and harms of a benchmark's items.

    Replies are kept in the store of scores.

    Returns:
        `judged_values` of levels, ratings and harms, and `ROUNDS` of levels and checks.

    Raises:
        InputError: no judge is named, a judge is unknown, or no item has options.
    """
    if not (difficulty.judges or checking.judges):
        raise InputError("judge: no judges; name models in difficulty.judges and checking.judges")
    with_options = items[items["choices"].map(len).gt(0)]
    if with_options.empty:
        raise InputError("judge: no item has options; judges rate multiple-choice items only")
    asked = (models, scoring, answer_store)
    raters = named_judges(difficulty, *asked, "difficulty", closed=False)
    checkers = named_judges(checking, *asked, "checking", closed=False)
    shown = BUNDLED[: difficulty.shots]
    levels, rounds = rate_difficulty(with_options, raters, shown, difficulty.attempts)
    ratings, harms, checked = check_items(with_options, checkers, checking)
    return levels, ratings, harms, rounds, checked


def compare_judges(
    difficulty_ratings: pd.DataFrame,
    judge_ratings: pd.DataFrame,
    harm_flags: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Measure the agreement of judges (`AGREEMENT`).

    Alpha is ordinal for difficulty and for each criterion of quality, nominal for each harm.
    """
    parts = [
        judge_agreement("difficulty", difficulty_ratings, "ordinal", seed),
        judge_agreement("quality", judge_ratings, "ordinal", seed),
        judge_agreement("harms", harm_flags, "nominal", seed),
    ]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else parts[0]
