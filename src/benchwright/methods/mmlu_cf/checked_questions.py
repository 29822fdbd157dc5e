"""Remove questions that judges call bad or harmful (MMLU-CF, section 3.2, step 4)."""

import logging
from collections import Counter
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.checking import check_items, decide
from benchwright.methods.mmlu_cf.judging.judges import (
    named_judges,
    with_passage,
)
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.mmlu_cf import CheckingParams
from benchwright.params.scoring import ModelsParams, ScoringParams

logger = logging.getLogger(__name__)


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
