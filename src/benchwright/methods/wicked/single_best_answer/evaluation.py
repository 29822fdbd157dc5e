"""Recall and precision for single-best-answer items, by method and benchmark."""

from collections.abc import Iterator
from itertools import permutations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.wicked.single_best_answer.classifier import average_precision
from benchwright.methods.wicked.single_best_answer.features import asks_for_the_best
from benchwright.methods.wicked.single_best_answer.labels import JUDGE
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.wicked import SbaEvaluation

PAPER_SHARES = {
    "mmlu": 0.203,
    "mmlu_pro": 0.168,
    "mmlu_redux": 0.147,
    "truthfulqa": 0.032,
    "commonsense_qa": 0.037,
    "arc_challenge": 0.052,
}
"""Shares of single-best-answer items by the paper's classifier (WiCkeD, Table 5)."""

ALL = "all"


def evaluate(items: pd.DataFrame, annotations: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Evaluate recall and precision of every method on every part of the labelled items.

    Parts are `held_out` (neither trained nor chose the threshold), `cross_validation` (training
    and held-out items, each judged without its fold), `left_out` (benchmarks that were not trained
    on), and `read_twice` (one annotator against another).

    Args:
        items: question, benchmark, label, sure, judged, split, probability, cross_validated and
            cross_flagged, by item id.
        annotations: item_id, labeller, label, doubt.
        threshold: of the classifier.
    """
    rows: list[dict[str, Any]] = []
    parts = {
        "held_out": items[items["split"] == "held_out"],
        "cross_validation": items[items["cross_validated"].notna()],
        "left_out": items[items["split"] == "left_out"],
    }
    for part, chosen in parts.items():
        for name, group in _benchmarks(chosen):
            crossed = part == "cross_validation"
            probability = group["cross_validated" if crossed else "probability"].to_numpy()
            methods = {
                "classifier": group["cross_flagged"].to_numpy()
                if crossed
                else probability >= threshold,
                "heuristic": group["question"].map(asks_for_the_best).to_numpy(dtype=bool),
                "flag_all": np.ones(len(group), dtype=bool),
            }
            metrics = [
                {"method": method} | _metrics(group, flagged) for method, flagged in methods.items()
            ]
            metrics[0] |= _ranking(group, probability)
            against = "judge" if group["judged"].all() else "labels"
            key = {"part": part, "benchmark": name, "against": against}
            rows.extend(key | row for row in [*metrics, *_judges(group, annotations)])
    rows.extend(_annotators(annotations))
    blank = dict.fromkeys(SbaEvaluation.columns(), nan)
    return SbaEvaluation.from_rows(
        [
            blank | {"paper_share": PAPER_SHARES.get(row["benchmark"], nan)} | row  # in order
            for row in rows
        ]
    )


def _benchmarks(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    names = sorted(items["benchmark"].unique())
    if len(names) > 1:
        yield ALL, items
    for name in names:
        yield name, items[items["benchmark"] == name]


def _judges(items: pd.DataFrame, annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Compare each judge with the annotators."""
    read = items[~items["judged"]]
    judged = annotations[annotations["labeller"].str.startswith(JUDGE)]
    for name, labels in judged.groupby("labeller"):
        verdicts = labels.set_index("item_id")["label"].reindex(read.index).dropna()
        if len(verdicts):
            yield {"method": name} | _metrics(read.loc[verdicts.index], verdicts.to_numpy() == 1)


def _annotators(annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    read = annotations[~annotations["labeller"].str.startswith(JUDGE)]
    by_name = {str(name): labels for name, labels in read.groupby("labeller")}
    for (name, labels), (other, truth) in permutations(by_name.items(), 2):
        both = labels.merge(truth, on="item_id", suffixes=("", "_truth"))
        if not len(both):
            continue
        flagged, sure = both["label"] == 1, ~both["doubt_truth"]
        both = both.assign(label=both["label_truth"], sure=sure, flagged=flagged)
        key = {"part": "read_twice", "method": f"annotator {name}", "against": f"annotator {other}"}
        for benchmark, group in _benchmarks(both):
            yield key | {"benchmark": benchmark} | _metrics(group, group["flagged"].to_numpy())


def _metrics(items: pd.DataFrame, flagged: NDArray[np.bool_]) -> dict[str, Any]:
    positive = items["label"].to_numpy() == 1
    sure = positive & items["sure"].to_numpy(dtype=bool)
    hits, of, marked = int((positive & flagged).sum()), int(positive.sum()), int(flagged.sum())
    return {
        "n": len(items),
        "positives": of,
        "sure_positives": int(sure.sum()),
        "flagged": marked,
        "share_flagged": marked / len(items),
        **_share("recall", hits, of),
        **_share("recall_sure", int((sure & flagged).sum()), int(sure.sum())),
        **_share("precision", hits, marked),
        "reason": "" if of else "no item has the label 1",
    }


def _share(name: str, successes: int, n: int) -> dict[str, float]:
    interval = wilson_interval(successes, n)
    share = successes / n if n else nan
    return {name: share, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _ranking(items: pd.DataFrame, probability: NDArray[np.float64]) -> dict[str, float]:
    """Return metrics without a threshold; the p-value is one-sided, against chance."""
    labels = items["label"].to_numpy()
    metrics = {"average_precision": average_precision(probability, labels)}
    if 0 < labels.sum() < len(labels):
        from scipy.stats import mannwhitneyu

        ones, zeros = probability[labels == 1], probability[labels == 0]
        if np.ptp(probability) > 0:
            test = mannwhitneyu(ones, zeros, alternative="greater")
            metrics["roc_auc"] = float(test.statistic) / (len(ones) * len(zeros))
            metrics["p_value"] = float(test.pvalue)
        else:
            metrics |= {"roc_auc": 0.5, "p_value": 1.0}
    return metrics
