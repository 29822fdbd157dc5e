"""Labels → classifier → its evaluation (WiCkeD, appendix A)."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from kedro.pipeline import Pipeline

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.stored_shards import StoredShards
from benchwright.datasets.saved_tables import SavedTable
from benchwright.methods.wicked.single_best_answer.evaluation import evaluate, reasons_against
from benchwright.methods.wicked.single_best_answer.labels import (
    JUDGE,
    held_out_items,
    judgeable,
    label_by_judge,
    one_label_per_item,
    read_annotations,
)
from benchwright.methods.wicked.single_best_answer.training import train_classifier
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.pipelines.nodes import ASKS_MODELS, node
from benchwright.tables.base import Columns

logger = logging.getLogger(__name__)

_HELD_OUT = 0.25  # share of the labelled items for evaluation
_EVALUATED_ONLY = ("commonsense_qa",)  # benchmarks whose labels train nothing
_SHOWN = ["question", "choices", "answer"]

# The probability of a training item is out of fold; it is missing for items without text.
LABELS = Columns(
    (str, "item_id", "benchmark", "labeller"),
    (int, "label"),
    (float, "probability"),
    (str, "split"),  # train, held_out, left_out, missing (no text), unused (no options or gold)
)


def gather_labelled_items(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    saved_items: Sequence[SavedTable],
    single_best_answer_annotations: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find the texts of the labelled items: in this run, then in tables saved by earlier runs.

    Each item is taken from the newest saved version of its benchmark that has it.

    Returns:
        The labels (item_id, benchmark, labeller, label), and the texts of labelled items
        (item_id, question, choices, answer), by id.
    """
    annotations = read_annotations(single_best_answer_annotations)
    wanted = set(annotations["item_id"])
    parts: list[pd.DataFrame] = []
    for table in (items, demonstrations, calibration_items):
        parts.append(table[table["item_id"].isin(wanted)])
        wanted -= set(parts[-1]["item_id"])
    for saved in saved_items:
        labelled = annotations.loc[annotations["benchmark"] == saved.benchmark, "item_id"]
        missing = wanted.intersection(labelled)
        if missing:
            table = saved.read()
            parts.append(table[table["item_id"].isin(missing)])
            wanted -= set(parts[-1]["item_id"])
    parts = [part for part in parts if len(part)]
    texts = pd.concat(parts) if parts else items.head(0)
    texts = texts[["item_id", *_SHOWN]].sort_values("item_id", ignore_index=True)
    return annotations, texts


def ask_judge(
    items: pd.DataFrame,
    sba_texts: pd.DataFrame,
    sba_annotations: pd.DataFrame,
    answer_store: StoredShards,
    single_best_answer: SingleBestAnswerParams,
    models: ModelsParams,
    scoring: ScoringParams,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Label with a chat model the items that annotators labelled, and some items of the run.

    Items without a readable reply get no label. With `labels: file` no model is called.

    Returns:
        All labels and the texts of all labelled items, with those of the judge.
    """
    judge = single_best_answer.judge
    if single_best_answer.labels == "file" or judge.model is None:
        return sba_annotations, sba_texts
    # The benchmark's name is not in the table; an id starts with it.
    others = items.loc[~items["item_id"].isin(sba_texts["item_id"]), ["item_id", *_SHOWN]]
    hashed = pd.Series(
        item_uniforms(0, "single_best_answer_judge", others["item_id"].tolist()), others.index
    )
    others = others.loc[hashed.sort_values(kind="stable").index[: judge.items]]
    texts = pd.concat([sba_texts, others]) if len(others) else sba_texts
    texts = texts[judgeable(texts)].sort_values("item_id", ignore_index=True)
    judged = label_by_judge(texts, judge, models, scoring, answer_store)
    benchmark_of = dict(zip(sba_annotations["item_id"], sba_annotations["benchmark"], strict=True))
    new = pd.DataFrame(
        {
            "item_id": list(judged),
            "benchmark": [benchmark_of.get(item_id, item_id.split("/")[0]) for item_id in judged],
            "labeller": JUDGE + judge.model,
            "label": list(judged.values()),
        }
    )
    together = pd.concat([sba_annotations, new]) if len(new) else sba_annotations
    every = pd.concat([sba_texts, texts]).drop_duplicates("item_id")
    return (
        together.sort_values(["item_id", "labeller"], ignore_index=True),
        every.sort_values("item_id", ignore_index=True),
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


_NODES = [
    node(
        gather_labelled_items,
        [
            *("items", "demonstrations", "calibration_items"),
            *("saved_items", "single_best_answer_annotations"),
        ],
        ["sba_annotations", "sba_texts"],
    ),
    node(
        ask_judge,
        [
            *("items", "sba_texts", "sba_annotations", "answer_store"),
            *("params:single_best_answer", "params:models", "params:scoring"),
        ],
        ["sba_judged_annotations", "sba_judged_texts"],
        ASKS_MODELS,
    ),
    node(
        train_single_best_answer_classifier,
        ["sba_judged_annotations", "sba_judged_texts", "params:single_best_answer"],
        ["sba_classifier", "sba_labels", "sba_labelled_items"],
    ),
    node(
        evaluate_single_best_answer_classifier,
        ["sba_labelled_items", "sba_labels", "sba_classifier"],
        ["sba_evaluation", "sba_metrics"],
    ),
]


def create_pipeline() -> Pipeline:
    """Return the training and evaluation of a classifier on labelled items."""
    return Pipeline(_NODES)
