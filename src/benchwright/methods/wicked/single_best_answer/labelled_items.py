"""Labelled items with their texts, and the labels that a judge adds (WiCkeD, appendix A)."""

from collections.abc import Sequence

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.core.stored_shards import StoredShards
from benchwright.datasets.saved_tables import SavedTable
from benchwright.methods.wicked.single_best_answer.labels import (
    JUDGE,
    judgeable,
    label_by_judge,
    read_annotations,
)
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams

_SHOWN = ["question", "choices", "answer"]


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
