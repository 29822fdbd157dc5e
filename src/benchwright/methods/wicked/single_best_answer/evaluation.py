"""Thresholds, and recall and precision for single-best-answer items by method and benchmark."""

import re
from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import AnyFloats, Integers
from benchwright.methods.wicked.single_best_answer.labels import JUDGE
from benchwright.statistics.proportion import share_with_bounds
from benchwright.tables.base import Columns


class OperatingPoint(NamedTuple):
    """A threshold on a probability, and its effect on the items it was chosen on; shares 0–1.

    An item is flagged where its probability is at least `threshold`. `reason` says why metrics are
    NaN and is "" otherwise.
    """

    threshold: float
    recall: float
    precision: float
    share_flagged: float
    n: int
    positives: int
    reason: str = ""


def operating_point(probabilities: AnyFloats, labels: Integers, recall: float) -> OperatingPoint:
    """Return the highest threshold whose recall is at least `recall` (WiCkeD chooses 98.9%).

    With fewer than 1/(1 − recall) positives the only recall that high is 1, so the threshold is the
    lowest probability of a positive. Without a positive everything is flagged.

    `probabilities` (n,) are out of fold, `labels` (n,) 0 or 1, `recall` is in (0, 1].
    """
    n = len(labels)
    positives = int(labels.sum())
    if not positives:
        return OperatingPoint(
            threshold=0.0,
            recall=nan,
            precision=nan,
            share_flagged=1.0 if n else nan,
            n=n,
            positives=0,
            reason="no item has the label 1",
        )
    # A little less than the target, so that 0.7 of 10 is 7 and not 8.
    wanted = max(1, int(np.ceil(recall * positives - 1e-9)))
    threshold = float(np.sort(probabilities[labels == 1])[-wanted])
    flagged = probabilities >= threshold
    hits = int(labels[flagged].sum())
    return OperatingPoint(
        threshold,
        recall=hits / positives,
        precision=hits / int(flagged.sum()),
        share_flagged=float(flagged.mean()),
        n=n,
        positives=positives,
    )


_WORDS = re.compile(
    r"\b(?:best|better|main|mainly|chief|chiefly|primar(?:y|ily)|principal|principally"
    r"|(?:most|least)(?=\s+[a-z])|mostly|likely|likeliest|unlikely|typical(?:ly)?|usual(?:ly)?"
    r"|generally|preferred)\b",
    re.IGNORECASE,
)


def asks_for_the_best(question: str) -> bool:
    """Return whether the question asks for a degree, with words such as "best" or "most likely".

    Only the English question is read; the other options may still be plainly wrong.
    """
    return _WORDS.search(question) is not None


ALL = "all"

# Parts are those of `evaluate`; methods are classifier, heuristic, judge:<model>;
# the p-value is that of ranks no better than chance.
EVALUATION = Columns(
    (str, "part", "benchmark", "method", "against"),
    (int, "n", "positives", "flagged"),
    (float, "share_flagged", "recall", "recall_low", "recall_high"),
    (float, "precision", "precision_low", "precision_high", "average_precision", "p_value"),
    (str, "reason"),
)


def evaluate(items: pd.DataFrame, annotations: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Evaluate recall and precision of every method on every part of the labelled items.

    Parts are `held_out` (neither trained nor chose the threshold) and `left_out` (benchmarks that
    were not trained on). Bounds are 95% Wilson intervals. `items` have question, benchmark, label,
    judged, split and probability, by item id; `annotations` item_id, labeller, label.
    """
    rows: list[dict[str, Any]] = []
    for part in ("held_out", "left_out"):
        for name, group in _benchmarks(items[items["split"] == part]):
            flagged = group["probability"] >= threshold
            against = "judge" if group["judged"].all() else "labels"
            heuristic = group["question"].map(asks_for_the_best)
            found = [
                {"method": "classifier", **_metrics(group, flagged), **_ranking(group)},
                {"method": "heuristic", **_metrics(group, heuristic)},
                *_judges(group, annotations),
            ]
            rows += [{"part": part, "benchmark": name, "against": against, **row} for row in found]
    return EVALUATION.from_rows(rows)


def _benchmarks(items: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    names = sorted(items["benchmark"].unique())
    if len(names) > 1:
        yield ALL, items
    for name in names:
        yield name, items[items["benchmark"] == name]


def _judges(items: pd.DataFrame, annotations: pd.DataFrame) -> Iterator[dict[str, Any]]:
    read = items[~items["judged"]]
    judged = annotations[annotations["labeller"].str.startswith(JUDGE)]
    for name, labels in judged.groupby("labeller"):
        verdicts = labels.set_index("item_id")["label"].reindex(read.index).dropna()
        if len(verdicts):
            yield {"method": name, **_metrics(read.loc[verdicts.index], verdicts)}


def _metrics(items: pd.DataFrame, flagged: "pd.Series[Any]") -> dict[str, Any]:
    positive = items["label"].to_numpy() == 1
    marked = flagged.to_numpy(dtype=bool)
    positives = positive.sum()
    n = marked.sum()
    hits = (positive & marked).sum()
    return {
        "n": len(items),
        "positives": positives,
        "flagged": n,
        "share_flagged": n / len(items),
        **share_with_bounds("recall", hits, positives),
        **share_with_bounds("precision", hits, n),
        "reason": "" if positives else "no item has the label 1",
    }


def _ranking(items: pd.DataFrame) -> dict[str, float]:
    """Return metrics without a threshold; the p-value is one-sided, against chance."""
    from scipy.stats import mannwhitneyu
    from sklearn.metrics import average_precision_score

    labels = items["label"].to_numpy()
    probability = items["probability"].to_numpy()
    if not labels.any():
        return {"average_precision": nan, "p_value": nan}
    p_value = nan
    if not labels.all():
        p_value = 1.0
        if np.ptp(probability) > 0:  # otherwise the test divides by zero
            ones = probability[labels == 1]
            zeros = probability[labels == 0]
            p_value = mannwhitneyu(ones, zeros, alternative="greater").pvalue
    average = average_precision_score(labels, probability)
    return {"average_precision": average, "p_value": p_value}


_USEFUL_SHARE = 0.5  # of flagged items; above it, most of the benchmark would stay unaltered


def reasons_against(classifier: Mapping[str, Any], evaluation: pd.DataFrame) -> list[str]:
    """List reasons not to use a classifier, from its table of `evaluate`."""
    reasons: list[str] = []
    own = classifier["kind"] == "hub"
    rows = evaluation[evaluation["method"] == "classifier"]
    held_out = rows[rows["part"] == "held_out"].sort_values("benchmark", key=lambda b: b != ALL)
    if held_out.empty:
        return ["No labelled item was held out, so its recall and precision are unknown."]
    kept = held_out.iloc[0]  # of all benchmarks together, or of the only one
    share = kept["share_flagged"]
    if share > _USEFUL_SHARE:
        lower = "" if own else ", or accept a lower recall (single_best_answer.recall)"
        reasons.append(
            f"At this threshold it flags {share:.0%} of the held-out items, which would stay "
            f"unaltered. Label the items with a capable chat model (labels: judge){lower}."
        )
    low = kept["recall_low"]
    target = classifier["recall_target"]
    if isnan(low):
        reasons.append("No held-out item has the label 1, so its recall cannot be verified.")
    elif low < target:
        reasons.append(
            f"The target recall is {target:.1%}. With {int(kept['positives'])} held-out items of "
            f"label 1, the 95% interval of the recall starts at {low:.0%}."
        )
    if not kept["p_value"] <= 0.05:
        reasons.append("It ranks items no better than chance: do not use it.")
    away = rows[(rows["part"] == "left_out") & (rows["benchmark"] != ALL)]
    by_chance = away.loc[~(away["p_value"] <= 0.05), "benchmark"]
    return reasons + [
        f"On {name} it is no better than chance. Label the items instead." for name in by_chance
    ]
