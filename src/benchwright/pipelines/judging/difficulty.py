"""How hard questions are, and a sample of them by it (MMLU-CF, section 3.2, step 3)."""

import logging

import numpy as np
import pandas as pd

from benchwright.construction.difficulty.quota_sampling import LEVELS, sample_by_difficulty
from benchwright.construction.difficulty.rating import item_difficulty as combined_difficulty
from benchwright.construction.difficulty.rating import rate_difficulty
from benchwright.construction.difficulty.worked_examples import BUNDLED
from benchwright.construction.judging.in_memory import named_judges
from benchwright.construction.judging.with_passage import with_passage
from benchwright.construction.sealing.key import read_key
from benchwright.construction.sealing.quiet_errors import no_question_in_errors
from benchwright.datasets.memory_store import MemoryShards
from benchwright.errors import InputError
from benchwright.params.difficulty import DifficultyParams
from benchwright.params.sampling_by_difficulty import SamplingByDifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.sealing import SealingParams
from benchwright.tables import CleanItems

logger = logging.getLogger(__name__)

_NO_FIELD = "Other"


def check_seal_key(sealing: SealingParams) -> bool:
    """Refuse a run whose closed half could not be sealed, before any judge is asked.

    Raises:
        InputError: there is no key, or it is too short.
    """
    try:
        read_key(sealing)
    except InputError as error:
        raise InputError(
            f"{error}; python -c 'from benchwright.construction.sealing.key import new_key; "
            "print(new_key())' makes a key: keep it, without it the closed half is lost"
        ) from None
    return True


def rate_items(
    fielded_items: pd.DataFrame,
    seal_key_checked: bool,
    judge_store: MemoryShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Judges rate every question from 0 to 9; their median or mean is its difficulty.

    A judge sees the passage before a question. Without judges every question is `not_judged`.

    Returns:
        Tables `DifficultyRatings`, `ItemDifficulty` and `JudgeRounds`; the first two are for
        memory.

    Raises:
        InputError: there are no questions, one has no known answer, or a judge is not known or
            cannot be had.
    """
    del seal_key_checked  # only says that the closed half can be sealed
    if fielded_items.empty:
        raise InputError(
            "difficulty: no question came through cleaning; see the funnel of the cleaning rules"
        )
    unknown = int(fielded_items["answer"].lt(0).sum())
    if unknown:
        raise InputError(
            f"difficulty: {unknown} of {len(fielded_items)} questions have no known answer; "
            "switch the cleaning rules about answers on"
        )
    if not difficulty.judges:
        logger.warning("difficulty: no judge is named (difficulty.judges), so nothing is rated")
    with no_question_in_errors(fielded_items, "difficulty"):
        judges = named_judges(difficulty, models, scoring, judge_store, "difficulty")
        examples = BUNDLED[: difficulty.shots]
        rated = rate_difficulty(with_passage(fielded_items), judges, examples, difficulty.attempts)
        ids = fielded_items["item_id"].astype(str).tolist()
        levels = combined_difficulty(ids, rated.ratings, difficulty.combine, seed)
    return rated.ratings, levels, rated.rounds


def sample_items(
    fielded_items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    sampling: SamplingByDifficultyParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Take the sample whose fields and levels come nearest to the quotas.

    Questions without a level are left out; where no question has one, all count as of the level
    nearest to the mean, so that fields, domains and explanations alone decide. Those without a
    field count as Other.

    Returns:
        The sampled `CleanItems` (for memory) in their order, and a `SamplingStrata` table.

    Raises:
        InputError: nothing could be sampled.
    """
    levels = item_difficulty.set_index("item_id")["level"]
    items = fielded_items.assign(
        field=fielded_items["field"].fillna(_NO_FIELD),
        difficulty=fielded_items["item_id"].map(levels).astype(np.float64),
    )
    missing = int(items["difficulty"].isna().sum())
    if missing == len(items):
        level = int(np.clip(np.rint(sampling.mean), 0, LEVELS - 1))
        items["difficulty"] = float(level)
        logger.warning(
            "sampling: no question has a level of difficulty; all %d count as level %d here, so "
            "the sample says nothing of difficulty",
            *(len(items), level),
        )
    elif missing:
        logger.warning(
            "sampling: %d of %d questions have no level of difficulty and are left out",
            *(missing, len(items)),
        )
    with no_question_in_errors(fielded_items, "sampling"):
        sample = sample_by_difficulty(items, sampling, seed)
    if not sample.item_ids:
        raise InputError("sampling: no question was sampled; is sampling.size 0, or nothing left?")
    logger.info(
        "sampled %d questions (%d fewer than asked for) from %d domains of %d possible, %d with an "
        "explanation",
        *(len(sample.item_ids), sample.shortfall, sample.domains, sample.domains_possible),
        sample.explained,
    )
    chosen = items[items["item_id"].isin(set(sample.item_ids))].drop(columns="difficulty")
    return pd.DataFrame(CleanItems.validate(chosen.reset_index(drop=True))), sample.strata
