"""Rewording, shuffling, replacing options in the checked questions (MMLU-CF, 3.2, step 5)."""

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.contamination_free import apply_transforms, as_items
from benchwright.methods.mmlu_cf.judging.judges import ask_in_memory
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.vectors import wording_similarity
from benchwright.transforms.compose import Rephrased
from benchwright.transforms.rephrase import (
    LONGEST_REPLY,
    new_questions,
    questions_of,
    rephrase,
)

logger = logging.getLogger(__name__)


def apply_rules(
    final_items: pd.DataFrame,
    judge_store: StoredShards,
    perturbation: PerturbationParams,
    models: ModelsParams,
    scoring: ScoringParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Apply the transforms of `perturbation` once to every question, in memory.

    Questions that a transform cannot alter are copied. Passages do not change.

    Returns:
        A `CleanItems` table (for memory), and per rule the number of altered questions and the
        reasons for copies; `rephrase_checks` counts failed wordings.

    Raises:
        InputError: the rephrasing model or the encoder is unknown or not available.
    """
    with no_question_in_errors(final_items, "rules"):
        rephrasings: Rephrased = {}
        failed = Counter[str]()
        for part in perturbation.transforms:
            if isinstance(part, RephraseParams):
                ask = ask_in_memory(
                    part.model,
                    models,
                    scoring,
                    judge_store,
                    max_tokens=LONGEST_REPLY,
                    what="rephrasing",
                )
                similarity = wording_similarity(part.encoder, models, scoring)
                questions = questions_of(as_items(final_items), "item")
                attempts = rephrase(questions, ask, similarity, part)
                rephrasings = new_questions(attempts)
                failed = Counter(name for attempt in attempts for name in attempt.failed)
        items, changes = apply_transforms(final_items, perturbation, closed_seed, rephrasings)
    for name, counts in changes.items():
        reasons = ", ".join(f"{reason} {count}" for reason, count in counts.items())
        logger.info("rule %s: %s", name, reasons)
    return items, {"rules": changes, "rephrase_checks": dict(sorted(failed.items()))}
