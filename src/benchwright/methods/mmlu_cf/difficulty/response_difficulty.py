"""Difficulty 0–9 from models' responses, for questions without a rating by judges.

The difficulty b of a two-parameter item response model has no levels. Equipercentile linking (Kolen
& Brennan 2014, chapter 2) maps it to the judges' scale: the hardest tenth by b gets the levels of
the hardest tenth of a reference.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchwright.core.array_types import Floats
from benchwright.core.configuration import Configuration, parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.contamination_free import as_items
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import LEVELS
from benchwright.methods.mmlu_cf.difficulty.rating import difficulty_candidates
from benchwright.methods.mmlu_cf.judging.judges import warn_of_server, with_passage
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.params.benchmark import PromptParams
from benchwright.params.mmlu_cf import DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.demonstrations import DemonstrationPool
from benchwright.scoring.prompts import Asked, PromptWriter, unsuited
from benchwright.scoring.rendering import Question, questions
from benchwright.scoring.scores import ask_prompts
from benchwright.statistics.item_response import fit_2pl
from benchwright.tables.responses import Prompts


def levels_by_quantiles(values: ArrayLike, reference_levels: ArrayLike | None = None) -> Floats:
    """Turn continuous difficulties (n,) into levels 0–9 by their percentiles.

    A value's percentile is the share of the values below it plus half of that equal to it. Its
    level is the level at that percentile of `reference_levels`, or its tenth without these. NaN
    stays NaN. Reference levels are of similar items, e.g. judges' ratings of the same ones.
    """
    from scipy.stats import rankdata

    difficulty = np.asarray(values, dtype=np.float64)
    out = np.full(difficulty.shape, np.nan)
    known = ~np.isnan(difficulty)
    levels = np.arange(LEVELS) if reference_levels is None else np.asarray(reference_levels)
    levels = np.sort(levels[~np.isnan(levels)])
    n = len(levels)
    if n and known.any():
        percentile = (rankdata(difficulty[known]) - 0.5) / known.sum()
        places = np.floor(percentile * n).astype(np.intp)
        out[known] = levels[np.minimum(places, n - 1)]
    return out


def difficulty_from_responses(
    responses: ResponseMatrix, min_models: int, reference_levels: ArrayLike | None = None
) -> tuple[dict[str, float], str]:
    """Compute levels of the items that models answered, by their b among all items of the matrix.

    The items get the distribution of the reference levels; without these, each level has a tenth.
    Return levels 0–9 by item id, NaN if unknown, and why they are unknown.
    """
    models = int((~np.isnan(responses.correct)).any(axis=1).sum())
    if models < min_models:
        reason = f"models with answers: {models}; {min_models} are needed"
        return dict.fromkeys(responses.item_ids, np.nan), reason
    fitted = fit_2pl(responses.correct)
    levels = levels_by_quantiles(fitted.difficulty, reference_levels)
    return dict(zip(responses.item_ids, levels.tolist(), strict=True)), fitted.reason


def one_configuration(name: str, scoring: ScoringParams) -> ScoringParams:
    """Return the project's settings (device, precision, sizes) for one configuration."""
    asked = {
        "mode": "live",
        "configurations": [name],
        "conditions": ["question"],
        "calibration": False,
        # Batches in other processes go through an object store that spills to disk.
        "engine": "local",
    }
    return ScoringParams.model_validate({**scoring.model_dump(), **asked})


def right_answers(
    questions: Sequence[Question],
    configuration: Configuration,
    models: ModelsParams,
    scoring: ScoringParams,
    pool: DemonstrationPool,
    store: StoredShards,
) -> list[float]:
    """Ask one configuration, with the code of the scoring stage: 1 right, 0 wrong, NaN unknown.

    `scoring` comes from `one_configuration`. Stored answers are reused, new ones are added.
    """
    asked_as = Configuration(configuration.model, *scoring.asked()[0][1:])
    writer = PromptWriter(asked_as, models.models[asked_as.model], scoring, PromptParams())
    suited = [each for each in questions if not unsuited(each, "question", asked_as.style)]
    prompts = Prompts.from_rows([writer.row(Asked(each, "question", pool)) for each in suited])
    live = ask_prompts(prompts, store, store.add, models, scoring).live_responses
    chosen = {row["item_id"]: _chosen(row, configuration.style) for row in live.to_dict("records")}
    answers = []
    for question in questions:
        option = chosen.get(question.item_id, -1)
        answers.append(np.nan if option < 0 else float(option == question.answer))
    return answers


def answer_questions(
    fielded_items: pd.DataFrame,
    judge_store: StoredShards,
    difficulty: DifficultyParams,
    models: ModelsParams,
    scoring: ScoringParams,
    closed_seed: int,
) -> ResponseMatrix:
    """Ask the models of `difficulty.answering` the questions, for a difficulty without judges.

    Passages come before the questions; nothing else is shown. Return the answers by configuration,
    for memory; without any if no model is named.

    Raises:
        InputError: a model is unknown or unavailable.
    """
    answers: dict[str, list[float]] = {}
    with no_question_in_errors(fielded_items, "difficulty.answering"):
        asked = difficulty_candidates(fielded_items, difficulty.at_most, closed_seed)
        shown = questions(as_items(with_passage(asked).fillna({"field": ""})))
        for name in sorted(difficulty.answering):
            configuration = parse_configuration(name)
            alone = one_configuration(name, scoring)
            models.named(configuration.model, "difficulty.answering")
            warn_of_server(configuration.model, models, "difficulty.answering")
            pool = DemonstrationPool([], alone.demonstrations, 0)
            answers[name] = right_answers(
                shown, configuration, models, scoring=alone, pool=pool, store=judge_store
            )
    ids = tuple(question.item_id for question in shown)
    correct = np.empty((len(answers), len(ids)), dtype=np.float32)
    for row, given in enumerate(answers.values()):
        correct[row] = given
    return ResponseMatrix.of(tuple(answers), ids, correct=correct)


def _chosen(row: Any, style: str) -> int:
    logprobs = row["logprobs"]
    if not isinstance(logprobs, list) or not logprobs:
        return int(row["prediction"])
    values = np.asarray(logprobs, dtype=np.float64)
    if style == "cloze_bytes":
        values /= row["option_bytes"]
    elif style == "cloze_tokens":
        values /= row["option_tokens"]
    return int(np.argmax(values))
