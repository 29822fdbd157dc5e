"""Rate questions, sample them by difficulty and check them (MMLU-CF, section 3.2, steps 3, 4)."""

import logging
from collections import Counter
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.checking import check_items, decide
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import (
    sample_by_difficulty,
    sampling_pool,
)
from benchwright.methods.mmlu_cf.difficulty.rating import (
    BUNDLED,
    DIFFICULTY,
    combine_ratings,
    difficulty_candidates,
    rate_difficulty,
)
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import difficulty_from_responses
from benchwright.methods.mmlu_cf.judging.judges import (
    judge_agreement,
    named_judges,
    rounds_table,
    with_passage,
)
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.mmlu_cf import CheckingParams, DifficultyParams, SamplingByDifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.tables.mmlu_cf import CleanItems

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
            *(without, len(fielded_items)),
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


def check_sampled_items(
    sampled_items: pd.DataFrame,
    judge_store: StoredShards,
    checking: CheckingParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Ask judges about quality and harms, and remove bad and harmful questions.

    Judges see passages before questions. Without judges all questions are kept, unjudged.

    Returns:
        The `CleanItems` that stay, `judged_values` of ratings and of harms, decisions (these four
        for memory), and `ROUNDS`.

    Raises:
        InputError: a judge is unknown or unavailable, or no question passed.
    """
    params = checking
    if not checking.judges:
        params = checking.model_copy(update={"unjudged": "keep"})
        logger.warning(
            "checking: all %d questions are kept unchecked, because checking.judges is empty",
            len(sampled_items),
        )
    with no_question_in_errors(sampled_items, "checking"):
        judges = named_judges(checking, models, scoring, judge_store, "checking")
        ratings, harms, rounds = check_items(with_passage(sampled_items), judges, params)
        ids = sampled_items["item_id"].astype(str).tolist()
        decisions = decide(ids, ratings, harms, params)
    kept = sampled_items[decisions["kept"].to_numpy()].reset_index(drop=True)
    if kept.empty:
        reasons = ", ".join(f"{name} {n}" for name, n in Counter(decisions["reason"]).most_common())
        raise InputError(
            f"checking: none of {len(decisions)} questions passed the judges ({reasons}); lower "
            "checking.above, set checking.unjudged to keep, or name other judges"
        )
    return kept, ratings, harms, decisions, rounds


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


def count_decisions(
    item_difficulty: pd.DataFrame,
    sampled_items: pd.DataFrame,
    checking_decisions: pd.DataFrame,
    final_items: pd.DataFrame,
) -> dict[str, Any]:
    """Count the questions `sampled`, `checked` (those that passed) and `final`, without ids.

    The `reasons` and `harms` of the checks and the `sources` of levels are counted too, and the
    `domains` and `explained` questions of the sample and of the final questions.
    """
    pools = {"sampled": sampled_items, "final": final_items}
    harms = [harm for cell in checking_decisions["harms"] if cell for harm in cell.split(", ")]
    return {
        "sampled": len(checking_decisions),
        "checked": int(checking_decisions["kept"].sum()),
        "final": len(final_items),
        "reasons": _counts(checking_decisions["reason"]),
        "harms": _counts(harms),
        "sources": _counts(item_difficulty["source"]),
        "domains": {name: int(pool["domain"].nunique()) for name, pool in pools.items()},
        "explained": {name: int(pool["explanation"].notna().sum()) for name, pool in pools.items()},
    }


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))
