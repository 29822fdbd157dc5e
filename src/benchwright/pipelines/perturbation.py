"""Nodes of the perturbation stage, over `benchwright.transforms`."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from kedro.pipeline import Pipeline

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.wicked.single_best_answer.labels import (
    judgeable,
    label_by_judge,
    label_numbers,
)
from benchwright.methods.wicked.single_best_answer.training import predict
from benchwright.params.perturbation import PerturbationParams, RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.pipelines.nodes import ASKS_MODELS, node
from benchwright.scoring.asking import ask_model
from benchwright.scoring.demonstrations import demonstration_pools
from benchwright.scoring.rendering import questions as as_questions
from benchwright.similarity.vectors import wording_similarity
from benchwright.tables.wicked import Rephrasings, SbaPredictions
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
        *(model, left, questions, failed),
    )


def judge_single_best_answers(
    items: pd.DataFrame,
    shown_demonstrations: pd.DataFrame,
    single_best_answer_labels: pd.DataFrame,
    answer_store: StoredShards,
    perturbation: PerturbationParams,
    single_best_answer: SingleBestAnswerParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> dict[str, int]:
    """With `sba: judge`, ask a chat model for the label of all items that have none.

    Replies are stored: another run asks only what is new. Return 0 or 1 by id, without items that
    cannot be judged or got no readable reply.

    Raises:
        InputError: `sba: judge` without a judge, or the judge is unknown or unavailable.
    """
    if perturbation.sba != "judge":
        return {}
    labels = read_labels(single_best_answer_labels, perturbation)
    columns = ["item_id", "question", "choices", "answer"]
    asked = pd.concat([items[columns], shown_demonstrations[columns]], ignore_index=True)
    asked = asked[judgeable(asked) & ~asked["item_id"].isin(labels).to_numpy()]
    judge = single_best_answer.judge
    judged = label_by_judge(asked, judge, models, scoring, answer_store)
    if len(judged) < len(asked):
        logger.warning(
            "judge %s: no label could be read for %d of %d items",
            *(judge.model, len(asked) - len(judged), len(asked)),
        )
    return judged


def predict_single_best_answers(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    single_best_answer_labels: pd.DataFrame,
    sba_judged: Mapping[str, int],
    sba_classifier: Mapping[str, Any] | None,
    perturbation: PerturbationParams,
) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Decide for each item and demonstration whether it has a single best answer.

    Labels of the file take precedence. For items without one, `sba: judge` has the judge's label,
    and `sba: model` compares the probability of the classifier with its threshold.

    Returns:
        An `SbaPredictions` table; ids with a single best answer (`sba`) and known to have none
        (`other`).

    Raises:
        InputError: a label is not 0 or 1, or `sba: model` without a classifier.
    """
    labels = read_labels(single_best_answer_labels, perturbation)
    columns = ["item_id", "question", "choices", "answer"]
    tables = {"item": items[columns], "demonstration": demonstrations[columns]}
    shown = pd.concat(
        [table.assign(role=role) for role, table in tables.items() if len(table)],
        ignore_index=True,
    )
    probability = np.full(len(shown), np.nan)
    flagged = np.zeros(len(shown), dtype=np.bool_)
    if perturbation.sba == "model":
        if sba_classifier is None:
            raise InputError(
                "perturbation.sba is model, but there is no classifier of single-best-answer "
                "items; train one with kedro run --pipeline sba, or set sba to file"
            )
        probability = predict(shown, sba_classifier)
        flagged = probability >= sba_classifier["threshold"]  # NaN is not
    able = judgeable(shown) | (perturbation.sba in ("file", "none"))
    rows: list[tuple[Any, ...]] = []
    ids: dict[str, set[str]] = {"sba": set(), "other": set()}
    for role, item_id, chance, flag, can in zip(
        shown["role"], shown["item_id"], probability, flagged, able, strict=True
    ):
        if item_id in labels:
            single, source = bool(labels[item_id]), "label"
        elif item_id in sba_judged:
            single, source = bool(sba_judged[item_id]), "judge"
        elif not np.isnan(chance):
            single, source = bool(flag), "model"
        else:
            single, source = False, "unlabelled" if can else "not_judgeable"
        rows.append((role, item_id, chance, single, source))
        if source != "unlabelled":
            ids["sba" if single else "other"].add(item_id)
    known = {kind: sorted(found) for kind, found in ids.items()}
    return SbaPredictions.from_rows(rows), known


def read_labels(
    single_best_answer_labels: pd.DataFrame, perturbation: PerturbationParams
) -> dict[str, int]:
    """Return the label of each labelled item: 1 with a single best answer, else 0.

    If annotators disagree, the label is 1: a missed item becomes incoherent, a wrong one only stays
    unaltered. `sba: none` reads no labels.

    Raises:
        InputError: a label is not 0 or 1.
    """
    if perturbation.sba == "none" or single_best_answer_labels.empty:
        return {}
    numbers = label_numbers(single_best_answer_labels)
    highest = numbers.groupby(single_best_answer_labels["item_id"].astype(str)).max()
    return {str(item): int(label) for item, label in highest.items()}


_SHOWN = ["items", "shown_demonstrations"]
_ASKING = ["params:models", "params:scoring"]
_NODES = [
    node(
        choose_shown_demonstrations,
        ["items", "demonstrations", "params:scoring", "params:seed"],
        "shown_demonstrations",
    ),
    node(
        judge_single_best_answers,
        [
            *(*_SHOWN, "single_best_answer_labels", "answer_store"),
            *("params:perturbation", "params:single_best_answer", *_ASKING),
        ],
        "sba_judged",
        ASKS_MODELS,
    ),
    node(
        predict_single_best_answers,
        [
            *("items", "demonstrations", "single_best_answer_labels", "sba_judged"),
            *("sba_classifier", "params:perturbation"),
        ],
        ["sba_predictions", "single_best_answer_ids"],
    ),
    node(
        rephrase_questions,
        [*_SHOWN, "answer_store", "params:perturbation", *_ASKING],
        "rephrasings",
        ASKS_MODELS,
    ),
    node(
        perturb_items,
        [
            *("items", "demonstrations", "single_best_answer_ids", "rephrasings"),
            *("params:perturbation", "params:seed"),
        ],
        ["perturbed_items", "perturbation_changes"],
    ),
]


def create_pipeline() -> Pipeline:
    """Return the pipeline: items → perturbed copies, and the changes of each."""
    return Pipeline(_NODES)
