"""Perturbed copies of items and demonstrations, and the new wordings that they use."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from benchwright.core.stored_shards import StoredShards
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.asking import ask_model
from benchwright.scoring.demonstrations import demonstration_pools
from benchwright.scoring.rendering import questions as as_questions
from benchwright.similarity.vectors import wording_similarity
from benchwright.tables.wicked import Rephrasings
from benchwright.transforms.compose import perturb
from benchwright.transforms.rephrase import (
    LONGEST_REPLY,
    Attempt,
    new_questions,
    questions_of,
    rephrase,
)

logger = logging.getLogger(__name__)


def perturb_items(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    rephrasings: pd.DataFrame,
    perturbation: PerturbationParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the perturbed copies of items and demonstrations.

    Items that cannot be altered coherently stay unaltered, with a reason.
    """
    single, new = single_best_answer_ids["sba"], new_questions(rephrasings.itertuples())
    made = perturb(items, demonstrations, perturbation, seed, single, new)
    return made.perturbed_items, made.changes


_SHOTS = 5  # demonstrations that most harnesses show


def choose_shown_demonstrations(
    items: pd.DataFrame, demonstrations: pd.DataFrame, scoring: ScoringParams, seed: int
) -> pd.DataFrame:
    """Return the demonstrations that some configuration shows; 5 if no model is scored live."""
    shots = max((asked.shots for asked in scoring.asked()), default=_SHOTS)
    pool_of = demonstration_pools(as_questions(demonstrations), scoring, seed)
    shown = {
        demonstration.item_id
        for question in as_questions(items)
        for demonstration in pool_of(question).choose(question, shots)
    }
    return demonstrations[demonstrations["item_id"].isin(shown)]


def rephrase_questions(
    items: pd.DataFrame,
    shown_demonstrations: pd.DataFrame,
    answer_store: StoredShards,
    perturbation: PerturbationParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> pd.DataFrame:
    """Ask a chat model for other wordings of items and demonstrations, and check each.

    Every question is rephrased once, whatever the number of copies. Without the transform
    `rephrase`, no model is loaded.

    Raises:
        InputError: the model or the encoder is unknown or unavailable.
    """
    chosen = [part for part in perturbation.transforms if isinstance(part, RephraseParams)]
    if not chosen:
        return Rephrasings.empty()
    params = chosen[0]
    ask = ask_model(
        params.model,
        models,
        scoring,
        answer_store,
        max_tokens=LONGEST_REPLY,
        what="rephrasing",
    )
    questions = questions_of(items, "item") + questions_of(shown_demonstrations, "demonstration")
    attempts = rephrase(questions, ask, wording_similarity(params.encoder, models, scoring), params)
    _warn(attempts, len(questions), params.model)
    return Rephrasings.from_rows(
        [
            attempt._asdict() | {"model": params.model, "failed": ", ".join(attempt.failed)}
            for attempt in attempts
        ]
    )


def _warn(attempts: Sequence[Attempt], questions: int, model: str) -> None:
    """Warn about the number of questions that keep their wording, and the checks that failed."""
    left = questions - sum(attempt.used for attempt in attempts)
    if not left:
        return
    reasons = Counter(name for attempt in attempts for name in attempt.failed)
    failed = ", ".join(f"{name} {count}" for name, count in reasons.most_common())
    logger.warning(
        "rephrasing with %s: %d of %d questions keep their wording (failed checks: %s)",
        model,
        left,
        questions,
        failed,
    )
