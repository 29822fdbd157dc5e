"""Training a classifier on labelled items, and predicting other items with it."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats, Places
from benchwright.methods.wicked.single_best_answer import bert
from benchwright.methods.wicked.single_best_answer.evaluation import operating_point
from benchwright.methods.wicked.single_best_answer.labels import cross_validation_folds, judgeable
from benchwright.params.single_best_answer import SingleBestAnswerParams


def predict(items: pd.DataFrame, classifier: Mapping[str, Any]) -> Floats:
    """Return probabilities (n,) that items have a single best answer, NaN for unjudgeable ones.

    Items with fewer than two options or without a known gold cannot be judged.

    Raises:
        InputError: the weights of the classifier cannot be loaded.
    """
    able = judgeable(items)
    probability = np.full(len(items), np.nan)
    if able.any():
        tuning = classifier["fine_tuning"]
        if folder := classifier.get("weights_folder"):
            loaded = bert.load_classifier(folder, trained=True)
        else:
            loaded = bert.load_classifier(tuning["model"], tuning["revision"], trained=True)
        probability[able] = bert.classify(loaded, list(items.loc[able, "question"]))
    return probability


FitAndPredict = Callable[[Places, Places], Floats]
"""Train on some rows, return the probabilities of others."""

RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.989)
"""Recalls whose operating points are saved with the chosen one."""


class Trained(NamedTuple):
    """A classifier and its predictions for the labelled items."""

    document: dict[str, Any]  # all that prediction needs, as JSON
    weights: bert.SequenceClassifier | None  # those trained here, if any
    # (n,) of the training items out of fold, of the others by the classifier.
    probability: Floats


def train_classifier(items: pd.DataFrame, params: SingleBestAnswerParams) -> Trained:
    """Train on the items of `split` train, choose the threshold out of fold, predict all.

    A classifier of the kind `hub` is neither trained nor given another threshold.

    `items` have question, choices, answer, benchmark, label and split (train, held_out, left_out),
    by item id.
    """
    labels = items["label"].to_numpy()
    questions = items["question"]  # alone, as in the paper
    train = np.flatnonzero(items["split"] == "train")
    tuning = params.fine_tuning
    weights = None
    if params.kind == "hub":  # none of these labels trained it
        classifier = bert.load_classifier(tuning.model, tuning.revision, trained=True)
        probability = bert.classify(classifier, questions.tolist())
    else:
        weights = bert.fine_tune(questions.iloc[train].tolist(), labels[train], tuning)
        probability = bert.classify(weights, questions.tolist())

        def fit_and_predict(fit: Places, ask: Places) -> Floats:
            other = bert.fine_tune(questions.iloc[fit].tolist(), labels[fit], tuning)
            return bert.classify(other, questions.iloc[ask].tolist())

        folds = cross_validation_folds(items.iloc[train], params.folds)
        probability[train] = out_of_fold(fit_and_predict, train, folds)
    points = {}
    for recall in sorted({*RECALLS, params.recall}):
        points[recall] = operating_point(probability[train], labels[train], recall)
    document = {
        "kind": params.kind,
        "recall_target": params.recall,
        "fine_tuning": tuning.model_dump(),
        # A classifier that is used as it is decides by its own class, as in the paper.
        "threshold": 0.5 if params.kind == "hub" else points[params.recall].threshold,
        "operating_points": [
            {"target": recall, **point._asdict()} for recall, point in points.items()
        ],
        "trained_on": {
            "items": len(train),
            "positives": int(labels[train].sum()),
            "benchmarks": items.iloc[train]["benchmark"].value_counts().sort_index().to_dict(),
            "labels": params.labels,
        },
    }
    return Trained(document, weights, probability)


def out_of_fold(fit_and_predict: FitAndPredict, rows: Places, folds: Places) -> Floats:
    """Return (n,) the probability of each row by a classifier trained on the other folds.

    With a single fold the classifier is trained on that fold itself.
    """
    probability = np.empty(len(rows))
    for fold in np.unique(folds):
        inside = rows[folds == fold]
        others = rows[folds != fold]
        probability[folds == fold] = fit_and_predict(others if len(others) else inside, inside)
    return probability
