"""Which items have a single best answer, so that no option may be taken from them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.labels import label_numbers
from benchwright.methods.wicked.single_best_answer.predict import predict
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams
from benchwright.tables import SbaPredictions


def predict_single_best_answers(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    single_best_answer_labels: pd.DataFrame,
    sba_classifier: Mapping[str, Any] | None,
    text_vector_cache: pd.DataFrame,
    perturbation: PerturbationParams,
    models: ModelsParams,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Says of each item and demonstration whether it has a single best answer, and who says so.

    A label counts where there is one; elsewhere, with `sba: model`, the classifier's probability
    against its threshold.

    Returns:
        A `SbaPredictions` table, and the cache of text vectors.

    Raises:
        InputError: a label is not 0 or 1; or `sba: model`, and nothing is trained, or it was
            trained with another encoder.
    """
    labelled = read_labels(single_best_answer_labels, perturbation)
    single, several = set(labelled["single"]), set(labelled["several"])
    shown = pd.concat(
        [table.assign(role=role) for role, table in _roles(items, demonstrations)],
        ignore_index=True,
    )
    probability = np.full(len(shown), np.nan)
    flagged = np.zeros(len(shown), dtype=np.bool_)
    if perturbation.sba == "model":
        if sba_classifier is None:
            raise InputError(
                "perturbation.sba is model, but no classifier of single-best-answer items is "
                "trained: kedro run --pipeline sba trains one (or set sba to file)"
            )
        predicted = predict(shown, sba_classifier, text_vector_cache, models)
        probability, text_vector_cache = predicted.probability, predicted.vectors
        flagged = probability >= sba_classifier["threshold"]  # NaN is not
    silent = "not_judgeable" if perturbation.sba == "model" else "unlabelled"
    rows = [
        (role, item_id, chance, item_id in single, "label")
        if item_id in single or item_id in several
        else (role, item_id, chance, bool(flag), silent if np.isnan(chance) else "model")
        for role, item_id, chance, flag in zip(
            shown["role"], shown["item_id"], probability, flagged, strict=True
        )
    ]
    return SbaPredictions.from_rows(rows), text_vector_cache


def _roles(items: pd.DataFrame, demonstrations: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    columns = ["item_id", "question", "choices", "answer"]
    tables = [("item", items[columns]), ("demonstration", demonstrations[columns])]
    return [(role, table) for role, table in tables if len(table)]


def collect_single_best_answers(
    sba_predictions: pd.DataFrame,
    single_best_answer_labels: pd.DataFrame,
    perturbation: PerturbationParams,
) -> dict[str, list[str]]:
    """Lists the ids of single-best-answer items, and of those found to have none.

    Returns:
        `single`: ids of items with a single best answer; `several`: those labelled or, with
        `sba: model`, judged to have none. Labels of other benchmarks' items are in them too.
    """
    labelled = read_labels(single_best_answer_labels, perturbation)
    by_model = sba_predictions[sba_predictions["source"].isin(["model", "not_judgeable"])]
    flagged = by_model["single_best_answer"]
    return {
        "single": sorted({*labelled["single"], *by_model.loc[flagged, "item_id"]}),
        "several": sorted({*labelled["several"], *by_model.loc[~flagged, "item_id"]}),
    }


def read_labels(
    single_best_answer_labels: pd.DataFrame, perturbation: PerturbationParams
) -> dict[str, list[str]]:
    """Take from the labels which items have a single best answer and which surely have not.

    An item that several annotators labelled has one if any of them says so: a missed one becomes
    incoherent, one too many is only copied. `sba: none` in the settings reads no labels.

    Returns:
        `single`: ids of items with a single best answer; `several`: those read and found without.

    Raises:
        InputError: a label is not 0 or 1.
    """
    if perturbation.sba == "none" or single_best_answer_labels.empty:
        return {"single": [], "several": []}
    numbers = label_numbers(single_best_answer_labels)
    highest = numbers.groupby(single_best_answer_labels["item_id"].astype(str)).max()
    return {
        "single": sorted(highest.index[highest == 1]),
        "several": sorted(highest.index[highest == 0]),
    }
