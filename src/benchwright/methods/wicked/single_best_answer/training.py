"""Training a classifier on labelled items, and predicting other items with it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer import bert
from benchwright.methods.wicked.single_best_answer.classifier import (
    feature_table,
    fit_logistic,
    judgeable,
    logistic_probabilities,
    texts_to_encode,
)
from benchwright.methods.wicked.single_best_answer.evaluation import operating_point
from benchwright.methods.wicked.single_best_answer.labels import cross_validation_folds
from benchwright.params.scoring import ModelsParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.similarity.vectors import encode_texts, vector_key


def predict(
    items: pd.DataFrame, classifier: Mapping[str, Any], cache: pd.DataFrame, models: ModelsParams
) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Predict the probability that an item has a single best answer.

    Items with fewer than two options or without a known gold cannot be judged.

    Returns:
        Probabilities (n,), NaN for unjudgeable items, and the cache of text vectors.

    Raises:
        InputError: the classifier was trained with another encoder than conf has now, or its
            weights are missing.
    """
    able = judgeable(items)
    probability = np.full(len(items), np.nan)
    asked = items[able]
    if not len(asked):
        return probability, cache
    if classifier["kind"] != "embedding":
        tuning = classifier["fine_tuning"]
        folder = classifier.get("weights_folder")
        source, revision = (folder, None) if folder else (tuning["model"], tuning["revision"])
        loaded = bert.load_classifier(source, revision, trained=True)
        probability[able] = bert.classify(loaded, list(asked["question"]))
        return probability, cache
    groups, encoder = classifier["groups"], classifier["encoder"]
    vectors: Mapping[str, NDArray[np.float32]] = {}
    if encoder is not None:
        now = vector_key(encoder, models)
        if now != classifier["encoder_key"]:
            raise InputError(
                f"the single-best-answer classifier was trained with {classifier['encoder_key']}, "
                f"conf has {now}; kedro run --pipeline sba trains it again"
            )
        vectors, cache = encode_texts(texts_to_encode(asked, groups), cache, encoder, models)
    features = feature_table(asked, vectors, groups)
    probability[able] = logistic_probabilities(classifier["logistic"], features)
    return probability, cache


Rows = NDArray[np.intp]
FitAndPredict = Callable[[Rows, Rows], NDArray[np.float64]]
"""Train on some rows, return the probabilities of others."""

RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.989)
"""Recalls whose operating points the card shows with the chosen one."""


class Trained(NamedTuple):
    """A classifier and its predictions for the labelled items."""

    document: dict[str, Any]  # all that prediction needs, as JSON
    weights: bert.SequenceClassifier | None  # of a fine-tuned encoder, else None
    # (n,) of the training items out of fold, of the others by the classifier.
    probability: NDArray[np.float64]
    vectors: pd.DataFrame  # the cache of text vectors, with the new ones


def train_classifier(
    items: pd.DataFrame, cache: pd.DataFrame, params: SingleBestAnswerParams, models: ModelsParams
) -> Trained:
    """Train on the items of `split` train, choose the threshold out of fold, predict all.

    A classifier of the kind `hub` is neither trained nor given another threshold.

    `items` have question, choices, answer, benchmark, label and split (train, held_out, left_out),
    by item id.
    """
    labels = items["label"].to_numpy()
    train = np.flatnonzero(items["split"] == "train")
    document: dict[str, Any] = {"kind": params.kind, "recall_target": params.recall}
    weights: bert.SequenceClassifier | None = None
    if params.kind == "embedding":
        document |= {"groups": list(params.features), "encoder": None, "encoder_key": None}
        vectors: Mapping[str, NDArray[np.float32]] = {}
        texts = texts_to_encode(items, params.features)
        if texts:
            key = vector_key(params.encoder, models)
            document |= {"encoder": params.encoder, "encoder_key": key}
            vectors, cache = encode_texts(texts, cache, params.encoder, models)
        features = feature_table(items, vectors, params.features)
        document["logistic"] = fit_logistic(features.iloc[train], labels[train])
        predicted = logistic_probabilities(document["logistic"], features)

        def fit_and_predict(fit: Rows, ask: Rows) -> NDArray[np.float64]:
            other = fit_logistic(features.iloc[fit], labels[fit])
            return logistic_probabilities(other, features.iloc[ask])
    else:
        tuning = params.fine_tuning
        document["fine_tuning"] = tuning.model_dump()
        texts = list(items["question"])  # alone, as in the paper
        if params.kind == "hub":
            classifier = bert.load_classifier(tuning.model or "", tuning.revision, trained=True)
        else:
            classifier = bert.fine_tune([texts[row] for row in train], labels[train], tuning)
            weights = classifier
        predicted = bert.classify(classifier, texts)

        def fit_and_predict(fit: Rows, ask: Rows) -> NDArray[np.float64]:
            if params.kind == "hub":  # none of these labels trained it
                return predicted[ask]
            other = bert.fine_tune([texts[row] for row in fit], labels[fit], tuning)
            return bert.classify(other, [texts[row] for row in ask])

    probability = predicted.copy()
    folds = cross_validation_folds(items.iloc[train], params.folds)
    probability[train] = out_of_fold(fit_and_predict, train, folds)
    points = {
        recall: operating_point(probability[train], labels[train], recall)
        for recall in sorted({*RECALLS, params.recall})
    }
    document |= {
        # A classifier that is used as it is decides by its own class, as in the paper.
        "threshold": 0.5 if params.kind == "hub" else points[params.recall].threshold,
        "operating_points": [
            {"target": recall} | point._asdict() for recall, point in points.items()
        ],
        "trained_on": {
            "items": len(train),
            "positives": int(labels[train].sum()),
            "benchmarks": items.iloc[train]["benchmark"].value_counts().sort_index().to_dict(),
            "labels": params.labels,
        },
    }
    return Trained(document, weights, probability, cache)


def out_of_fold(fit_and_predict: FitAndPredict, rows: Rows, folds: Rows) -> NDArray[np.float64]:
    """Return (n,) the probability of each row by a classifier trained on the other folds.

    With a single fold the classifier is trained on that fold itself.
    """
    probability = np.empty(len(rows))
    for fold in np.unique(folds):
        away, inside = rows[folds != fold], rows[folds == fold]
        probability[folds == fold] = fit_and_predict(away if len(away) else inside, inside)
    return probability


def describe(document: Mapping[str, Any]) -> str:
    """Describe the classifier in a line, for cards and messages."""
    if document["kind"] == "embedding":
        groups = ", ".join(document["groups"])
        by = f" with {document['encoder']}" if document["encoder"] else ""
        return f"logistic regression on {groups}{by}"
    tuning = document["fine_tuning"]
    how = "fine-tuned" if document["kind"] == "bert" else "as it is"
    return f"{tuning['model']} {how}, reading the question"
