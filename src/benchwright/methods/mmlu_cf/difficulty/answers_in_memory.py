"""Models' answers to questions that will be closed: no table, no score store, no Ray."""

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import Configuration, configuration_name, parse_configuration
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.datasets.score_store import StoredShards
from benchwright.methods.mmlu_cf.difficulty.candidates import difficulty_candidates
from benchwright.methods.mmlu_cf.judging.with_passage import with_passage
from benchwright.methods.mmlu_cf.sealing.quiet_errors import no_question_in_errors
from benchwright.params.difficulty import DifficultyParams
from benchwright.params.prompt import PromptParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.prompting.demonstrations import DemonstrationPool
from benchwright.prompting.rendering import Question
from benchwright.scoring.prompts import Asked, PromptWriter, unsuited
from benchwright.scoring.scores import collect_responses, score_prompts
from benchwright.tables.responses import Prompts

logger = logging.getLogger(__name__)

ANSWERS = ("item_id", "model", "correct")
"""Columns of answers as plain rows; `correct` is 0–1, NaN where the model gave no answer."""


def one_configuration(name: str, scoring: ScoringParams) -> ScoringParams:
    """The project's own settings (device, precision, sizes) for one configuration, asked here."""
    asked = {
        "mode": "live",
        "configurations": [name],
        "conditions": ["question"],
        "calibration": False,
        # Batches in other processes go through an object store that spills to disk.
        "engine": "local",
    }
    return ScoringParams.model_validate({**scoring.model_dump(), **asked})


def options_chosen(
    questions: Iterable[Question],
    configuration: Configuration,
    models: ModelsParams,
    scoring: ScoringParams,
    pool: DemonstrationPool,
    store: StoredShards,
) -> dict[str, int]:
    """The option that a model takes, by item id, with the scoring stage's own code.

    −1 where its answer is not known; questions that do not suit the style are left out.

    Args:
        questions: with options.
        configuration: how the model is asked.
        models: all models.
        scoring: of `one_configuration`.
        pool: demonstrations.
        store: what is there is not asked again; the rest is added, shard by shard.

    Raises:
        InputError: the model's weights or its server cannot be had, or demonstrations are missing.
    """
    asked_as = Configuration(configuration.model, *scoring.asked()[0][1:])
    writer = PromptWriter(asked_as, models.models[asked_as.model], scoring, PromptParams())
    rows = [
        writer.row(Asked(question, "question", pool))
        for question in questions
        if not unsuited(question, "question", asked_as.style)
    ]
    prompts = Prompts.from_rows(rows)
    for shard in score_prompts(prompts, store, models, scoring):
        for name, frame in shard.items():
            store.add(name, frame)
    answers = collect_responses(prompts, store, models, scoring).live_responses
    return {
        str(row["item_id"]): _chosen(row, configuration.style) for row in answers.to_dict("records")
    }


def answer_questions(
    fielded_items: pd.DataFrame,
    judge_store: StoredShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
    seed: int,
) -> pd.DataFrame:
    """Models of `difficulty.answering` answer the questions, for a difficulty without judges.

    Passages come before the questions; nothing else is shown.

    Returns:
        Rows of item_id, model (the configuration) and correct, for memory; none where no model is
        named or `difficulty.fallback` is none.

    Raises:
        InputError: a model is not known or cannot be had.
    """
    names = difficulty.answering if difficulty.fallback == "responses" else ()
    rows: list[tuple[str, str, float]] = []
    with no_question_in_errors(fielded_items, "difficulty.answering"):
        asked = difficulty_candidates(fielded_items, difficulty.at_most, seed)
        shown = _questions(with_passage(asked))
        for name in sorted(names):
            configuration = parse_configuration(name)
            _known(configuration, models)
            own = one_configuration(name, scoring)
            pool = DemonstrationPool([], own.demonstrations, own.demonstration_order, seed)
            chosen = options_chosen(shown, configuration, models, own, pool, judge_store)
            right = [right_answer(chosen.get(one.item_id), one.answer) for one in shown]
            rows += [(one.item_id, name, value) for one, value in zip(shown, right, strict=True)]
            logger.info(
                "%s answered %d of %d questions, %.1f%% of these right",
                *(name, int(np.isfinite(right).sum()), len(right)),
                100 * float(np.nanmean(right)) if np.isfinite(right).any() else np.nan,
            )
    return pd.DataFrame(rows, columns=list(ANSWERS)).astype({"correct": np.float64})


def right_answer(chosen: int | None, answer: int) -> float:
    """1 for the gold, 0 for another option, NaN where none is known."""
    return np.nan if chosen is None or chosen < 0 else float(chosen == answer)


def _known(configuration: Configuration, models: ModelsParams) -> None:
    if configuration.model not in models.models:
        known = ", ".join(sorted(models.models)) or "none"
        raise InputError(
            f"difficulty.answering: model {configuration.model!r} is not known; there are {known} "
            "(conf: models.models)"
        )
    if models.models[configuration.model].endpoint is not None:
        logger.warning(
            "difficulty.answering: %s is a server: questions of the closed half go there, and it "
            "may keep them",
            configuration_name(*configuration),
        )


def _questions(items: pd.DataFrame) -> list[Question]:
    return [
        Question(
            *(
                str(item_id),
                field if isinstance(field, str) else "",
                str(question),
                tuple(map(str, choices)),
                int(answer),
            ),
            content_hash=content_hash(str(question), tuple(map(str, choices))),
        )
        for item_id, field, question, choices, answer in zip(
            *(items[name] for name in ("item_id", "field", "question", "choices", "answer")),
            strict=True,
        )
    ]


def _chosen(row: Any, style: str) -> int:
    """The option that an answer takes; −1 where none is known."""
    logprobs = row["logprobs"]
    if not isinstance(logprobs, list) or not logprobs:
        return int(row["prediction"])
    size = {"cloze_bytes": row["option_bytes"], "cloze_tokens": row["option_tokens"]}.get(style)
    values = np.asarray(logprobs, dtype=np.float64)
    return int(np.argmax(values if size is None else values / np.asarray(size)))
