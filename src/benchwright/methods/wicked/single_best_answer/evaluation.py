"""How well single-best-answer items are found, by whom, and where."""

from collections.abc import Iterator
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
    """Recall and precision of every method on every part of the labelled items.

    Parts are `held_out` (neither trained nor chose the threshold), `cross_validation` (training
    and held-out items, each judged without its fold), `left_out` (benchmarks that were not trained
    on), and `read_twice` (one annotator against another).

    Args:
        items: question, benchmark, label, sure, judged, split, probability, cross_validated and
            cross_flagged, by item id.
        annotations: item_id, labeller, label, doubt.
        threshold: of the classifier.

    Returns:
        A `SbaEvaluation` table.
    """
    rows: list[dict[str, Any]] = []
    parts = {
        "held_out": items[items["split"] == "held_out"],
        "cross_validation": items[items["cross_validated"].notna()],
        "left_out": items[items["split"] == "left_out"],
    }
    for part, chosen in parts.items():
        for name, own in _benchmarks(chosen):
            crossed = part == "cross_validation"
            probability = own["cross_validated" if crossed else "probability"].to_numpy()
            flagged = own["cross_flagged"].to_numpy() if crossed else probability >= threshold
            heuristic = own["question"].map(asks_for_the_best).to_numpy(dtype=bool)
            against = "judge" if own["judged"].all() else "labels"
            key = {"part": part, "benchmark": name, "against": against}
            rows.append(
                key | {"method": "classifier"} | _figures(own, flagged) | _ranking(own, probability)
            )
            rows.append(key | {"method": "heuristic"} | _figures(own, heuristic))
            everything = np.ones(len(own), dtype=bool)
            rows.append(key | {"method": "flag_all"} | _figures(own, everything))
            rows.extend(key | row for row in _judges(own, annotations))
    rows.extend(_annotators(annotations))
    return SbaEvaluation.from_rows([_row(row) for row in rows])


def _benchmarks(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    names = sorted(items["benchmark"].unique())
    if len(names) > 1:
        yield ALL, items
    for name in names:
        yield name, items[items["benchmark"] == name]


def _judges(own: pd.DataFrame, annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A judge against those who read the items."""
    read = own[~own["judged"]]
    judged = annotations[annotations["labeller"].str.startswith(JUDGE)]
    for name, labels in judged.groupby("labeller"):
        said = labels.set_index("item_id")["label"].reindex(read.index).dropna()
        if len(said):
            yield {"method": name} | _figures(read.loc[said.index], said.to_numpy() == 1)


def _annotators(annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    read = annotations[~annotations["labeller"].str.startswith(JUDGE)]
    names = sorted(read["labeller"].unique())
    for one in names:
        for other in names:
            if one == other:
                continue
            both = read[read["labeller"] == one].merge(
                read[read["labeller"] == other], on="item_id", suffixes=("", "_truth")
            )
            if not len(both):
                continue
            said, sure = both["label"] == 1, ~both["doubt_truth"]
            truth = both.assign(label=both["label_truth"], sure=sure, said=said)
            for name, own in _benchmarks(truth):
                key = {"part": "read_twice", "benchmark": name, "method": f"annotator {one}"}
                yield (
                    key | {"against": f"annotator {other}"} | _figures(own, own["said"].to_numpy())
                )


def _figures(own: pd.DataFrame, flagged: NDArray[np.bool_]) -> dict[str, Any]:
    positive = own["label"].to_numpy() == 1
    sure = positive & own["sure"].to_numpy(dtype=bool)
    hits, of, marked = int((positive & flagged).sum()), int(positive.sum()), int(flagged.sum())
    return {
        "n": len(own),
        "positives": of,
        "sure_positives": int(sure.sum()),
        "flagged": marked,
        "share_flagged": marked / len(own),
        **_share("recall", hits, of),
        **_share("recall_sure", int((sure & flagged).sum()), int(sure.sum())),
        **_share("precision", hits, marked),
        "reason": "" if of else "no item has the label 1",
    }


def _share(name: str, successes: int, n: int) -> dict[str, float]:
    interval = wilson_interval(successes, n)
    share = successes / n if n else nan
    return {name: share, f"{name}_low": interval.low, f"{name}_high": interval.high}


def _ranking(own: pd.DataFrame, probability: NDArray[np.float64]) -> dict[str, float]:
    """Figures that need no threshold; the p-value is of ranks no better than chance, one-sided."""
    labels = own["label"].to_numpy()
    found = {"average_precision": average_precision(probability, labels)}
    if 0 < labels.sum() < len(labels):
        from scipy.stats import mannwhitneyu

        ones, zeros = probability[labels == 1], probability[labels == 0]
        if np.ptp(probability) > 0:
            test = mannwhitneyu(ones, zeros, alternative="greater")
            found["roc_auc"] = float(test.statistic) / (len(ones) * len(zeros))
            found["p_value"] = float(test.pvalue)
        else:
            found |= {"roc_auc": 0.5, "p_value": 1.0}
    return found


def _row(row: dict[str, Any]) -> dict[str, Any]:
    shares = {"paper_share": PAPER_SHARES.get(row["benchmark"], nan)}
    full = dict.fromkeys(SbaEvaluation.columns(), nan) | shares | row
    return {name: full[name] for name in SbaEvaluation.columns()}
