"""Checked questions reworded, shuffled, with an option replaced (MMLU-CF, section 3.4)."""

import logging
from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.datasets.score_store import StoredShards
from benchwright.methods.mmlu_cf.contamination_free import apply_draw, as_items, reword
from benchwright.methods.mmlu_cf.judging.judges import ReplyLimits, ask_in_memory
from benchwright.methods.mmlu_cf.sealing.quiet_errors import no_question_in_errors
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.vectors import wording_similarity
from benchwright.transforms.compose import Rephrased

logger = logging.getLogger(__name__)


def apply_rules(
    final_items: pd.DataFrame,
    judge_store: StoredShards,
    perturbation: PerturbationParams,
    models: ModelsParams,
    scoring: ScoringParams,
    seed: int,
) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Put every question once through the transforms of `perturbation`, in memory.

    Questions that a transform cannot alter are copied. Passages stay as they are.

    Returns:
        A `CleanItems` table (for memory), and how often each rule altered a question or why not;
        under `rephrase_checks` what wordings failed.

    Raises:
        InputError: the rephrasing model or the encoder is not known, or cannot be had.
    """
    with no_question_in_errors(final_items, "rules"):
        rephrasings: Rephrased = {}
        failed: dict[str, int] = {}
        for part in perturbation.transforms:
            if isinstance(part, RephraseParams):
                rephrasings, failed = _reworded(final_items, part, judge_store, models, scoring)
        items, changes = apply_draw(final_items, perturbation, seed, rephrasings)
    for name, counts in changes.items():
        told = ", ".join(f"{reason} {count}" for reason, count in counts.items())
        logger.info("rule %s: %s", name, told)
    return items, {"rules": changes, "rephrase_checks": failed}


def _reworded(
    items: pd.DataFrame,
    params: RephraseParams,
    store: StoredShards,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[Rephrased, dict[str, int]]:
    limits = ReplyLimits(params.max_tokens, params.temperature)
    ask = ask_in_memory(params.model, models, scoring, store, limits, "rephrasing")
    similarity = wording_similarity(params.encoder, models, scoring)
    return reword(as_items(items), ask, similarity, params)
