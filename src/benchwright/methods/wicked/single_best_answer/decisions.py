"""Decide which items have a single best answer, by labels, a judge or a classifier."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.methods.wicked.single_best_answer.labels import (
    judgeable,
    label_by_judge,
    label_numbers,
)
from benchwright.methods.wicked.single_best_answer.training import predict
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.tables.wicked import SbaPredictions

logger = logging.getLogger(__name__)


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
            judge.model,
            len(asked) - len(judged),
            len(asked),
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
