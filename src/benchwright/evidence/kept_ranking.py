"""The ranking on the kept items beside that on all items and human ratings (SMART, Table 3)."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import models_of
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.evidence.panel import Panel, clear_pairs, panel_responses
from benchwright.evidence.ratings import Ratings, ratings_of
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.bootstrap import (
    Interval,
    RankIntervals,
    fisher_interval,
    order_interval,
    rank_agreement_intervals,
)
from benchwright.statistics.paired_differences import median_mdd, order_kept
from benchwright.statistics.rank_agreement import (
    FEWEST_MODELS,
    kendall_tau_b,
    max_rank_shift,
    mean_rank_shift,
    pearson,
    spearman,
    too_few,
    williams_test,
)
from benchwright.statistics.subset_scores import subset_scores
from benchwright.tables.evidence import RankAgreementTable

GROUPS = {
    "all": "models",
    "filter": "filter models",
    "held_out": "held-out models",
    "stronger": "held-out models stronger than every filter model",
}

_NO_INTERVAL = Interval(np.nan, np.nan, 0, "")


class RankMetric(NamedTuple):
    """A metric over models, with its intervals over items and over models.

    `n_items` is the number of items; `reason` says why `value` is NaN, or is a note.
    """

    metric: str
    value: float
    n_models: int
    n_items: int
    reason: str
    items: Interval = _NO_INTERVAL
    models: Interval = _NO_INTERVAL

    def cells(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "value": self.value,
            "low": self.items.low,
            "high": self.items.high,
            "low_models": self.models.low,
            "high_models": self.models.high,
            "n_models": self.n_models,
            "n_items": self.n_items,
            "reason": self.reason,
        }


def models_in(scores: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return the rows of `scores` of one of the `GROUPS`.

    `stronger` is the forward split: the held-out models that are better on all items than every
    filter model. Without filter models it is empty.
    """
    if group == "all":
        return scores
    if group != "stronger":
        return scores[scores["role"] == group]
    best = scores.loc[scores["role"] == "filter", "accuracy_full"].max()
    return scores[(scores["role"] == "held_out") & (scores["accuracy_full"] > best)]


def compare_ranks(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    panel: Panel,
    human_ratings: Ratings,
    evaluation: EvaluationParams,
    seed: int,
) -> pd.DataFrame:
    """Compare the ranking on all items with the ranking on the kept items.

    The metrics are Kendall's tau-b (first, since it handles ties), Spearman, Pearson, rank shifts,
    the share of significantly different pairs in the same order, the median minimum detectable
    difference over pairs of models, in points, and Pearson's correlation with human ratings before
    and after, over the rated models (each once), with Williams' test of their difference.
    They are computed for all models, filter models, held-out models and the stronger of these.
    Intervals are bootstrapped over items and over models; those of correlations with ratings are
    Fisher's. Missing metrics have a reason.
    """
    responses = panel_responses(response_matrix, items, panel, [str(m) for m in scores["model"]])
    among = responses.among(set(kept_items["item_id"]))
    rows: list[dict[str, Any]] = []
    for group in GROUPS:
        part = models_in(scores, group)
        models = [str(m) for m in part["model"]]
        correct = responses.of(models)
        families = [panel.families.get(model, model) for model in models]
        generator = stage_generator(seed, "rank_agreement")  # the same resamples for each group
        draws = evaluation.bootstrap_samples
        between = rank_agreement_intervals(correct, among, responses.clusters, draws, generator)
        compared = [
            *(_with_intervals(row, between) for row in compare_scores(part, human_ratings)),
            *compare_pairs(correct, among, responses.clusters, models, families, draws, generator),
            *compare_answers(correct, among, responses.clusters),
        ]
        rows += [{"models": group} | _explained(row, part, group).cells() for row in compared]
    return RankAgreementTable.from_rows(rows)


def compare_scores(part: pd.DataFrame, ratings: Ratings) -> Iterator[RankMetric]:
    """Compare the accuracies and ranks of models before and after, and with their ratings."""
    full = part["accuracy_full"].to_numpy(dtype=np.float64)
    after = part["accuracy_kept"].to_numpy(dtype=np.float64)
    n_full = int(part["n_full"].max()) if len(part) else 0
    n_kept = int(part["n_kept"].max()) if len(part) else 0
    for metric, seen in (
        ("kendall_tau_b", kendall_tau_b(full, after)),
        ("spearman", spearman(full, after)),
        ("pearson", pearson(full, after)),
        ("mean_rank_shift", mean_rank_shift(full, after)),
        ("max_rank_shift", max_rank_shift(full, after)),
    ):
        yield RankMetric(metric, seen.value, seen.n, n_full, seen.reason)

    rated = ratings_of([str(model) for model in part["model"]], ratings)
    before = pearson(full, rated)
    later = pearson(after, rated)
    known = ~np.isnan(rated)
    both = pearson(full[known], after[known])
    test = williams_test(before.value, later.value, both.value, before.n)
    for metric, found, n_items in (
        ("arena_pearson_full", before, n_full),
        ("arena_pearson_kept", later, n_kept),
        ("arena_williams_p", test, n_full),
    ):
        why = found.reason.replace("model", "rated model", 1)
        between = _NO_INTERVAL if found is test else fisher_interval(found.value, before.n)
        yield RankMetric(metric, found.value, before.n, n_items, why, models=between)


def _with_intervals(row: RankMetric, between: RankIntervals) -> RankMetric:
    items = between.over_items.get(row.metric, row.items)
    models = between.over_models.get(row.metric, row.models)
    notes = [
        f"over {what}: {interval.reason}"
        for what, interval in (("items", items), ("models", models))
        if interval.draws and interval.reason
    ]
    return row._replace(items=items, models=models, reason=row.reason or "; ".join(notes))


def compare_pairs(
    correct: NDArray[np.floating],
    kept: NDArray[np.bool_],
    clusters: NDArray[np.intp],
    models: Sequence[str],
    families: Sequence[str] = (),
    draws: int = 0,
    generator: np.random.Generator | None = None,
) -> Iterator[RankMetric]:
    """Compare the order of pairs of models (m, n), with intervals over their `families` (m,)."""
    m, n = correct.shape
    better = clear_pairs(correct, clusters, models)
    total = np.count_nonzero(better)
    scores = subset_scores(correct, kept[None])
    different = len(set(models_of(models)))
    reason = ""
    if not kept.any():
        reason = "no item is kept"
    elif different < FEWEST_MODELS:
        reason = too_few(different, FEWEST_MODELS)
    elif not total:
        reason = f"none of {m} models differs significantly from another on all items"
    share = float(order_kept(scores, better)[0])
    over = order_interval(scores[0], better, families, draws, generator)
    said = reason or f"pairs that differ significantly on all items: {total:,}"
    yield RankMetric("pairwise_agreement", share, m, n, said, models=over)
    yield RankMetric("clear_pairs", math.nan if reason else float(total), m, n, reason)


def compare_answers(
    correct: NDArray[np.floating], kept: NDArray[np.bool_], clusters: NDArray[np.intp]
) -> Iterator[RankMetric]:
    """Compare what the answers (m, n) of models to all items and to the kept ones (n,) tell."""
    few = "" if len(correct) > 1 else too_few(len(correct), 2)
    for metric, chosen in (("mdd_full", np.ones_like(kept)), ("mdd_kept", kept)):
        points = 100 * median_mdd(correct[:, chosen], clusters[chosen])
        yield RankMetric(metric, points, len(correct), int(chosen.sum()), few)


def _explained(row: RankMetric, part: pd.DataFrame, group: str) -> RankMetric:
    if part.empty:
        return row._replace(reason=f"no {GROUPS[group]}")
    if not part["n_kept"].max():
        return row._replace(value=np.nan, reason="none of the panel's items was kept")
    return row
