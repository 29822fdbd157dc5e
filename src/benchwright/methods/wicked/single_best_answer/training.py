"""A classifier trained on labelled items, and what a trained one says of others."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.bert import (
    SequenceClassifier,
    classify,
    fine_tune,
    load_classifier,
    texts_to_classify,
)
from benchwright.methods.wicked.single_best_answer.classifier import (
    LogisticClassifier,
    fit_logistic,
    operating_point,
)
from benchwright.methods.wicked.single_best_answer.features import (
    Features,
    feature_table,
    judgeable,
    texts_to_encode,
)
from benchwright.methods.wicked.single_best_answer.labels import cross_validation_folds
from benchwright.params.scoring import ModelsParams
from benchwright.params.single_best_answer import FineTuningParams, SingleBestAnswerParams
from benchwright.similarity.text_vectors import encode_texts, vector_key


class Predictions(NamedTuple):
    """Probabilities (n,) of n items, NaN where an item cannot be judged, and the vectors' cache."""

    probability: NDArray[np.float64]
    vectors: pd.DataFrame


def predict(
    items: pd.DataFrame, classifier: Mapping[str, Any], cache: pd.DataFrame, models: ModelsParams
) -> Predictions:
    """The probability that an item has a single best answer.

    Items with fewer than two options or without a known gold cannot be judged.

    Raises:
        InputError: the classifier was trained with another encoder than conf has now, or its
            weights are not there.
    """
    able = judgeable(items)
    probability = np.full(len(items), np.nan)
    asked = items[able]
    if not len(asked):
        return Predictions(probability, cache)
    if classifier["kind"] != "embedding":
        tuning = FineTuningParams.model_validate(classifier["fine_tuning"])
        own = classifier.get("weights_folder")
        source, revision = (own, None) if own else (tuning.model or "", tuning.revision)
        loaded = load_classifier(source, revision, trained=True)
        probability[able] = classify(loaded, texts_to_classify(asked, tuning.text), tuning)
        return Predictions(probability, cache)
    groups, encoder = classifier["groups"], classifier["encoder"]
    vectors: Mapping[str, NDArray[np.float32]] = {}
    if encoder is not None:
        now = vector_key(encoder, models)
        if now != classifier["encoder_key"]:
            raise InputError(
                f"the single-best-answer classifier was trained with {classifier['encoder_key']}, "
                f"conf has {now}; kedro run --pipeline sba trains it again"
            )
        encoded = encode_texts(texts_to_encode(asked, groups), cache, encoder, models)
        vectors, cache = encoded.vectors, encoded.cache
    fitted = LogisticClassifier.from_json(classifier["logistic"])
    probability[able] = fitted.probabilities(feature_table(asked, vectors, groups))
    return Predictions(probability, cache)


Rows = NDArray[np.intp]
FitAndPredict = Callable[[Rows, Rows], NDArray[np.float64]]
"""Train on some rows, give the probabilities of others."""

RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.989)
"""Whose operating points the card shows beside the chosen one."""


class Trained(NamedTuple):
    """A classifier and what it says of the labelled items."""

    document: dict[str, Any]  # all that prediction needs, as JSON
    weights: SequenceClassifier | None  # of a fine-tuned encoder, else None
    # (n,) of the training items out of fold, of the others by the classifier.
    probability: NDArray[np.float64]
    # (n,) out of fold over training and held-out items together; NaN elsewhere and where training
    # is too slow for it (`bert`).
    cross_validated: NDArray[np.float64]
    # (n,) whether that was flagged, by a threshold chosen without the item's fold.
    cross_flagged: NDArray[np.bool_]
    vectors: pd.DataFrame  # the cache of text vectors, with the new ones


def train_classifier(
    items: pd.DataFrame, cache: pd.DataFrame, params: SingleBestAnswerParams, models: ModelsParams
) -> Trained:
    """Train on the items of `split` train, choose the threshold out of fold, predict all.

    `items` have question, choices, answer, benchmark, label and split (train, held_out, left_out),
    by item id.
    """
    labels = items["label"].to_numpy()
    train = np.flatnonzero(items["split"] == "train")
    document: dict[str, Any] = {"kind": params.kind, "recall_target": params.recall}
    weights: SequenceClassifier | None = None
    vectors = cache
    if params.kind == "embedding":
        features, vectors = _features(items, cache, params, models)
        fitted = fit_logistic(_of(features, train), labels[train], params.strength)
        probability = fitted.probabilities(features)
        fit_and_predict = _logistic(features, labels, params.strength)
        document |= {"groups": list(params.features), "encoder": None, "encoder_key": None}
        if texts_to_encode(items, params.features):
            key = vector_key(params.encoder, models)
            document |= {"encoder": params.encoder, "encoder_key": key}
        document["logistic"] = fitted.to_json()
    else:
        tuning = params.fine_tuning
        texts = texts_to_classify(items, tuning.text)
        document["fine_tuning"] = tuning.model_dump()
        if params.kind == "hub":
            used = load_classifier(tuning.model or "", tuning.revision, trained=True)
            probability = classify(used, texts, tuning)
            fit_and_predict = _constant(probability)
        else:
            weights = fine_tune([texts[row] for row in train], labels[train], tuning)
            probability = classify(weights, texts, tuning)

            def fit_and_predict(fit: Rows, ask: Rows) -> NDArray[np.float64]:
                one = fine_tune([texts[row] for row in fit], labels[fit], tuning)
                return classify(one, [texts[row] for row in ask], tuning)

    probability = probability.copy()
    folds = cross_validation_folds(items.iloc[train], params.folds)
    probability[train] = out_of_fold(fit_and_predict, train, folds)
    chosen = operating_point(probability[train], labels[train], params.recall)
    shown = sorted({*RECALLS, params.recall})
    document |= {
        "threshold": chosen.threshold,
        "operating_points": [
            {"target": recall}
            | operating_point(probability[train], labels[train], recall)._asdict()
            for recall in shown
        ],
        "trained_on": {
            "items": len(train),
            "positives": int(labels[train].sum()),
            "benchmarks": items.iloc[train]["benchmark"].value_counts().sort_index().to_dict(),
            "labels": params.labels,
        },
    }
    crossed = np.full(len(items), np.nan)
    flagged = np.zeros(len(items), dtype=np.bool_)
    if params.kind == "embedding":
        rows = np.flatnonzero(items["split"] != "left_out")
        crossed[rows], flagged[rows] = _cross_validate(fit_and_predict, items, rows, labels, params)
    return Trained(document, weights, probability, crossed, flagged, vectors)


def out_of_fold(fit_and_predict: FitAndPredict, rows: Rows, folds: Rows) -> NDArray[np.float64]:
    """(n,) the probability of each of n rows by a classifier trained on the other folds.

    A single fold has no others: then the row's probability is the one it was trained with.
    """
    found = np.empty(len(rows))
    for fold in np.unique(folds):
        away, inside = rows[folds != fold], rows[folds == fold]
        found[folds == fold] = fit_and_predict(away if len(away) else inside, inside)
    return found


def _cross_validate(
    fit_and_predict: FitAndPredict,
    items: pd.DataFrame,
    rows: Rows,
    labels: NDArray[np.int64],
    params: SingleBestAnswerParams,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Probabilities and flags of all rows; a row's fold neither trained nor chose its threshold."""
    folds = cross_validation_folds(items.iloc[rows], params.folds)
    probability = out_of_fold(fit_and_predict, rows, folds)
    flagged = np.zeros(len(rows), dtype=np.bool_)
    for fold in np.unique(folds):
        away = folds != fold
        inner = out_of_fold(fit_and_predict, rows[away], folds[away]) if away.any() else probability
        against = labels[rows[away]] if away.any() else labels[rows]
        threshold = operating_point(inner, against, params.recall).threshold
        flagged[~away] = probability[~away] >= threshold
    return probability, flagged


def _features(
    items: pd.DataFrame, cache: pd.DataFrame, params: SingleBestAnswerParams, models: ModelsParams
) -> tuple[Features, pd.DataFrame]:
    texts = texts_to_encode(items, params.features)
    if not texts:
        return feature_table(items, {}, params.features), cache
    encoded = encode_texts(texts, cache, params.encoder, models)
    return feature_table(items, encoded.vectors, params.features), encoded.cache


def _of(features: Features, rows: Rows) -> Features:
    return Features(features.names, features.table[rows])


def _logistic(features: Features, labels: NDArray[np.int64], strength: float) -> FitAndPredict:
    def fit_and_predict(fit: Rows, ask: Rows) -> NDArray[np.float64]:
        fitted = fit_logistic(_of(features, fit), labels[fit], strength)
        return fitted.probabilities(_of(features, ask))

    return fit_and_predict


def _constant(probability: NDArray[np.float64]) -> FitAndPredict:
    """A classifier that none of these labels trained."""
    return lambda _, ask: probability[ask]


def describe(document: Mapping[str, Any]) -> str:
    """The classifier in a line, for cards and messages."""
    if document["kind"] == "embedding":
        groups = ", ".join(document["groups"])
        by = f" with {document['encoder']}" if document["encoder"] else ""
        return f"logistic regression on {groups}{by}"
    tuning = document["fine_tuning"]
    how = "fine-tuned" if document["kind"] == "bert" else "as it is"
    return f"{tuning['model']} {how}, reading the {tuning['text']}"
