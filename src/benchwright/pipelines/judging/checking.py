"""Which sampled questions several judges find good and harmless (MMLU-CF, section 3.2, step 4)."""

import logging
from collections import Counter
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import StoredShards
from benchwright.methods.mmlu_cf.checking.check import check_items, checking_agreement, decide
from benchwright.methods.mmlu_cf.difficulty.rating import last_ratings
from benchwright.methods.mmlu_cf.judging.agreement import judge_agreement
from benchwright.methods.mmlu_cf.judging.in_memory import named_judges
from benchwright.methods.mmlu_cf.judging.with_passage import with_passage
from benchwright.methods.mmlu_cf.sealing.quiet_errors import no_question_in_errors
from benchwright.params.checking import CheckingParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.tables import JudgeAgreement

logger = logging.getLogger(__name__)


def check_sampled_items(
    sampled_items: pd.DataFrame,
    judge_store: StoredShards,
    checking: CheckingParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Judges rate the sampled questions and look for harms; bad and harmful ones go.

    A judge sees the passage before a question. Without judges all questions stay, unjudged.

    Returns:
        The `CleanItems` that stay, `JudgeRatings`, `HarmFlags`, `CheckingDecisions` (these four
        for memory), and `JudgeRounds`.

    Raises:
        InputError: a judge is not known or cannot be had, or no question passed.
    """
    params = checking
    if not checking.judges:
        params = checking.model_copy(update={"unjudged": "keep"})
        logger.warning(
            "checking: no judge is named (checking.judges): all %d questions stay, unchecked",
            len(sampled_items),
        )
    with no_question_in_errors(sampled_items, "checking"):
        judges = named_judges(checking, models, scoring, judge_store, "checking")
        checked = check_items(with_passage(sampled_items), judges, params)
        ids = sampled_items["item_id"].astype(str).tolist()
        decisions = decide(ids, checked.ratings, checked.harms, params)
    kept = sampled_items[decisions["kept"].to_numpy()].reset_index(drop=True)
    if kept.empty:
        told = ", ".join(f"{name} {n}" for name, n in Counter(decisions["reason"]).most_common())
        raise InputError(
            f"checking: none of {len(decisions)} questions passed the judges ({told}); lower "
            "checking.above, set checking.unjudged to keep, or name other judges"
        )
    return kept, checked.ratings, checked.harms, decisions, checked.rounds


def compare_judges(
    difficulty_ratings: pd.DataFrame,
    judge_ratings: pd.DataFrame,
    harm_flags: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Say how far judges agree on difficulty, quality and harms: a `JudgeAgreement` table."""
    levels = last_ratings(difficulty_ratings).rename(columns={"rating": "value"})
    levels["criterion"] = "difficulty"
    parts = [
        judge_agreement("difficulty", levels, "ordinal", seed),
        checking_agreement(judge_ratings, harm_flags, seed),
    ]
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else JudgeAgreement.empty()


def count_decisions(
    item_difficulty: pd.DataFrame, checking_decisions: pd.DataFrame, final_items: pd.DataFrame
) -> dict[str, Any]:
    """Count what became of questions, without naming any.

    Returns:
        Numbers of questions `sampled`, `checked` (those that passed) and `final`; `reasons` and
        `harms` of the checks; `sources` of the levels of difficulty.
    """
    harms = [harm for told in checking_decisions["harms"] if told for harm in told.split(", ")]
    return {
        "sampled": len(checking_decisions),
        "checked": int(checking_decisions["kept"].sum()),
        "final": len(final_items),
        "reasons": _counts(checking_decisions["reason"]),
        "harms": _counts(harms),
        "sources": _counts(item_difficulty["source"]),
    }


def _counts(values: Any) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))
