"""New wordings of the questions, by a chat model (MMLU-CF, section 3.4, rule 1)."""

import logging
from collections import Counter
from collections.abc import Sequence

import pandas as pd

from benchwright.compute.asking import ask_model
from benchwright.core.natural_order import sort_items
from benchwright.datasets.score_store import StoredShards
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.prompting.demonstrations import DemonstrationPool, open_ended
from benchwright.prompting.rendering import questions as as_questions
from benchwright.similarity.wordings import wording_similarity
from benchwright.tables import Rephrasings
from benchwright.transforms.rephrase import Attempt, Question, rephrase

logger = logging.getLogger(__name__)

_SHOTS = 5  # demonstrations that most harnesses show


def rephrase_questions(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    answer_store: StoredShards,
    perturbation: PerturbationParams,
    models: ModelsParams,
    scoring: ScoringParams,
    seed: int,
) -> pd.DataFrame:
    """Ask a chat model for other wordings of items and demonstrations, and check each.

    Every question is asked for once, whatever the number of draws; of the demonstrations only
    those that some configuration shows (the first 5 where nothing is asked live). Without the
    transform `rephrase` nothing is asked and no model is loaded.

    Returns:
        A `Rephrasings` table, items first, ids in natural order.

    Raises:
        InputError: the model or the encoder is not known, or cannot be had.
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
        max_tokens=params.max_tokens,
        temperature=params.temperature,
        what="rephrasing",
    )
    shown = _shown_demonstrations(items, demonstrations, scoring, seed)
    questions = [*_questions(items, "item"), *_questions(shown, "demonstration")]
    attempts = rephrase(questions, ask, wording_similarity(params.encoder, models, scoring), params)
    _tell(attempts, len(questions), params.model)
    return Rephrasings.from_rows(
        [
            attempt._asdict() | {"model": params.model, "failed": ", ".join(attempt.failed)}
            for attempt in attempts
        ]
    )


def _shown_demonstrations(
    items: pd.DataFrame, demonstrations: pd.DataFrame, scoring: ScoringParams, seed: int
) -> pd.DataFrame:
    """The demonstrations that stand before some item."""
    shots = max((asked.shots for asked in scoring.asked()), default=_SHOTS)
    asked, candidates = as_questions(items), as_questions(demonstrations)
    found: set[str] = set()
    for without_options in (False, True):
        pool = DemonstrationPool(
            [one for one in candidates if open_ended(one) == without_options],
            scoring.demonstrations,
            scoring.demonstration_order,
            seed,
        )
        for question in asked:
            if open_ended(question) == without_options:
                found.update(one.item_id for one in pool.choose(question, shots))
    return demonstrations[demonstrations["item_id"].isin(found)]


def _questions(table: pd.DataFrame, role: str) -> list[Question]:
    ordered = sort_items(table)
    names = ("item_id", "question", "choices", "answer", "answer_text", "passage_id")
    return [
        Question(
            role,
            str(item_id),
            str(text),
            tuple(choices),
            int(answer),
            str(answer_text),
            passage if isinstance(passage, str) else None,
        )
        for item_id, text, choices, answer, answer_text, passage in zip(
            *(ordered[name] for name in names), strict=True
        )
    ]


def _tell(attempts: Sequence[Attempt], questions: int, model: str) -> None:
    """Say how many questions keep their wording, and what their attempts failed."""
    left = questions - sum(attempt.used for attempt in attempts)
    if not left:
        return
    reasons = Counter(name for attempt in attempts for name in attempt.failed)
    told = ", ".join(f"{name} {count}" for name, count in reasons.most_common())
    logger.warning(
        "rephrasing with %s: %d of %d questions keep their wording (attempts that failed: %s)",
        *(model, left, questions, told),
    )
