"""The classifier of single-best-answer items and its evaluation (WiCkeD, appendix A)."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.evaluation import evaluate, reasons_against
from benchwright.methods.wicked.single_best_answer.labels import (
    JUDGE,
    held_out_items,
    judgeable,
    one_label_per_item,
)
from benchwright.methods.wicked.single_best_answer.training import train_classifier
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.tables.base import Columns

logger = logging.getLogger(__name__)


_HELD_OUT = 0.25  # share of the labelled items for evaluation


_EVALUATED_ONLY = ("commonsense_qa",)  # benchmarks whose labels train nothing


# The probability of a training item is out of fold; it is missing for items without text.
LABELS = Columns(
    (str, "item_id", "benchmark", "labeller"),
    (int, "label"),
    (float, "probability"),
    (str, "split"),  # train, held_out, left_out, missing (no text), unused (no options or gold)
)


def train_single_best_answer_classifier(
    sba_judged_annotations: pd.DataFrame,
    sba_judged_texts: pd.DataFrame,
    single_best_answer: SingleBestAnswerParams,
) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """Train on three quarters of the labelled items and choose the threshold by recall.

    With `labels: judge`, training items have the label of the judge. The other items have the
    annotators' label, if any, as in the paper.

    Returns:
        The classifier, the labels with their probabilities, and one row per labelled item for the
        evaluation.

    Raises:
        InputError: the training items do not have both labels.
    """
    rated = one_label_per_item(sba_judged_annotations)
    texts = sba_judged_texts[judgeable(sba_judged_texts)].set_index("item_id")
    known = rated.join(texts, how="inner").sort_index()
    left_out = known["benchmark"].isin(_EVALUATED_ONLY).to_numpy()
    split = np.where(left_out, "left_out", "train").astype(object)
    held_out = held_out_items(known[~left_out], _HELD_OUT)
    split[np.flatnonzero(~left_out)[held_out]] = "held_out"
    known = known.assign(split=split.tolist())
    if single_best_answer.labels == "judge":
        known = _with_labels_of_judge(known, sba_judged_annotations)
    _require_both_labels(known, rated)
    trained = train_classifier(known, single_best_answer)
    known = known.assign(probability=trained.probability)
    with_text = set(sba_judged_texts["item_id"])
    labels = sba_judged_annotations.assign(
        probability=sba_judged_annotations["item_id"].map(known["probability"]).astype(float),
        split=[
            known["split"].get(item_id, "unused" if item_id in with_text else "missing")
            for item_id in sba_judged_annotations["item_id"]
        ],
    )
    return (
        trained.document | {"weights": trained.weights},
        LABELS.from_rows(labels.to_dict("records")),
        known.drop(columns=["choices"]).reset_index(),
    )


def _require_both_labels(known: pd.DataFrame, rated: pd.DataFrame) -> None:
    """Raise InputError, with the runs that add items, unless both labels occur."""
    training = known.loc[known["split"] == "train", "label"]
    if training.nunique() == 2:
        return
    away = rated[~rated.index.isin(known.index) & ~rated["benchmark"].isin(_EVALUATED_ONLY)]
    present = f"all {len(training)} have the label {training.iloc[0]}" if len(training) else "none"
    runs = " and ".join(
        f"kedro run --namespaces ingestion --params benchmark={name}"
        for name in away["benchmark"].value_counts().index
    )
    raise InputError(
        f"a classifier needs training items of both labels; of {len(rated)} labelled items, "
        f"training items with text: {present}; "
        + (f"{runs} reads more; then run sba again" if runs else "label more items")
    )


def _with_labels_of_judge(known: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Give training items the label of the judge; leave out those without one."""
    judged = annotations[annotations["labeller"].str.startswith(JUDGE)]
    by_judge = judged.set_index("item_id")["label"].reindex(known.index)
    label = known["label"].where(known["split"] != "train", by_judge)
    return known.assign(label=label)[label.notna()].astype({"label": int})


def evaluate_single_best_answer_classifier(
    sba_labelled_items: pd.DataFrame, sba_labels: pd.DataFrame, sba_classifier: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Evaluate the classifier, the heuristic and the judge, and warn where it is not useful.

    Returns:
        The table of `evaluate`, and the metrics of the classifier for MLflow.
    """
    table = evaluate(
        sba_labelled_items.set_index("item_id"), sba_labels, float(sba_classifier["threshold"])
    )
    names = ("recall", "precision", "share_flagged", "average_precision")
    metrics = {
        f"sba_{row['part']}_{row['benchmark']}_{name}": float(row[name])
        for row in table[table["method"] == "classifier"].to_dict("records")
        for name in names
        if pd.notna(row[name])
    }
    for reason in reasons_against(sba_classifier, table):
        logger.warning("classifier of single-best-answer items: %s", reason)
    return table, metrics
