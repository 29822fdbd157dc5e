"""Kept items compared with random subsets of the same size, and with the baseline IRE.

Random subsets are a strong baseline: half of the items preserve nearly all of a ranking. The
metrics of a subset are therefore compared with those of many random subsets of the same size
(SMART, section 4.4 and Tables 4 and 5, where one random subset is drawn).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.evidence.kept_ranking import GROUPS, models_in
from benchwright.evidence.panel import Panel, clear_pairs, headline_group, panel_responses
from benchwright.evidence.ratings import Ratings, ratings_of
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.paired_differences import order_kept
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.random_subsets import subset_blocks
from benchwright.statistics.rank_agreement import FEWEST_MODELS, pearson_rows
from benchwright.statistics.subset_scores import full_metrics, subset_metrics, subset_scores
from benchwright.tables.evidence import RandomComparison, RandomSubsets

RANDOM = ("plain", "stratified")
ARENA = "arena_pearson"
TAU = "kendall_tau_b"
PAIRS = "pairwise_agreement"
TOP_MODELS = 20
"""Best models, whose range of scores is the headroom."""
_LOW = 0.025  # the middle 95% of the random subsets

Metrics = Mapping[str, NDArray[np.float64]]


class _Group(NamedTuple):
    """Correctness (m, n) and ratings (m,) of a group, and its clearly different pairs (m, m).

    Pairs are compared where the verdict reads them only, since they take longest.
    """

    correct: NDArray[np.float64]
    ratings: NDArray[np.float64]
    better: NDArray[np.bool_]

    def metrics(self, masks: NDArray[np.bool_], pairs: bool = True) -> Metrics:
        own = subset_metrics(self.correct, masks, TOP_MODELS)._asdict()
        if pairs and self.better.any():
            own |= {PAIRS: order_kept(subset_scores(self.correct, masks), self.better)}
        return own | self._arena(masks)

    def of_all(self) -> Metrics:
        """Return the metrics (1,) of all items that need no comparison."""
        everything = np.ones((1, self.correct.shape[1]), dtype=bool)
        own = full_metrics(self.correct, TOP_MODELS)._asdict()
        return own | {PAIRS: np.ones(1)} | self._arena(everything)

    def _arena(self, masks: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
        if np.count_nonzero(~np.isnan(self.ratings)) < FEWEST_MODELS:
            return {}
        return {ARENA: pearson_rows(self.ratings, subset_scores(self.correct, masks))}


def gather_subsets(kept_items: pd.DataFrame, item_parameters: pd.DataFrame) -> dict[str, list[str]]:
    """Gather the ids of the items that this run keeps, and those of IRE if it was fitted."""
    subsets = {"kept": kept_items["item_id"].tolist()}
    if len(item_parameters):
        subsets["ire"] = item_parameters.loc[item_parameters["kept_by_ire"], "item_id"].tolist()
    return subsets


def compare_with_random(
    response_matrix: ResponseMatrix,
    items: pd.DataFrame,
    compared_subsets: dict[str, list[str]],
    scores: pd.DataFrame,
    panel: Panel,
    human_ratings: Ratings,
    evaluation: EvaluationParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the kept items and those of IRE with random subsets of the same size.

    Subsets are drawn from the items on which the panel is compared, plain and stratified by
    subject. The first table has each metric with the mean and the middle 95% of the random subsets,
    its percentile and a two-sided p-value, corrected over methods by Holm; the second all draws.
    """
    models = [str(model) for model in scores["model"]]
    responses = panel_responses(response_matrix, items, panel, models)
    if not evaluation.random_subsets or not models or not panel.item_ids:
        return RandomComparison.empty(), RandomSubsets.empty()
    main = headline_group(panel)
    compared: dict[str, _Group] = {}
    for group in GROUPS:
        members = [str(model) for model in models_in(scores, group)["model"]]
        if len(members) < FEWEST_MODELS:
            continue
        correct = responses.of(members)
        better = np.zeros((0, 0), dtype=bool)
        if group == main:
            better = clear_pairs(correct, responses.clusters, members)
        compared[group] = _Group(correct, ratings_of(members, human_ratings), better)
    rows: list[dict[str, Any]] = []
    draws: list[pd.DataFrame] = []
    for method, ids in compared_subsets.items():
        subset = responses.among(set(ids))
        beside = _beside_random(
            method,
            subset,
            responses.subjects,
            compared=compared,
            draws=evaluation.random_subsets,
            seed=seed,
        )
        for row, values in beside:
            rows.append(row)
            key = {name: row[name] for name in ("method", "models", "metric", "random")}
            frame = pd.DataFrame({"draw": np.arange(len(values)), "value": values})
            draws.append(frame.assign(**key))
    if not rows:
        return RandomComparison.empty(), RandomSubsets.empty()
    table = RandomComparison.from_rows(rows)
    tests = table.groupby(["models", "metric", "random"])["p_value"]
    table["p_holm"] = tests.transform(holm)
    return table, pd.concat(draws, ignore_index=True)[RandomSubsets.columns()]


def _beside_random(
    method: str,
    subset: NDArray[np.bool_],
    subjects: NDArray[np.intp],
    compared: Mapping[str, _Group],
    draws: int,
    seed: int,
) -> Iterator[tuple[dict[str, Any], NDArray[np.float64]]]:
    """Yield rows of `RandomComparison` without `p_holm`, and metrics of random subsets (draws,)."""
    n = len(subset)
    size = int(subset.sum())
    by_chance: dict[str, dict[str, Metrics]] = {}
    for kind in RANDOM:
        generator = stage_generator(seed, f"yardstick/{method}/{kind}")
        strata = subjects if kind == "stratified" else None
        blocks = subset_blocks(n, size, draws, generator, strata)
        by_chance[kind] = _by_chance(compared, blocks, method == "kept" and kind == "plain")
    for name, group in compared.items():
        rated = int(np.count_nonzero(~np.isnan(group.ratings)))
        of_subset = group.metrics(subset[None, :])
        of_all = group.of_all()
        for kind in RANDOM:
            for metric, values in by_chance[kind][name].items():
                value = float(of_subset[metric][0])
                known = values[np.isfinite(values)]
                low, high = np.quantile(known, [_LOW, 1 - _LOW]) if len(known) else (np.nan, np.nan)
                row = {
                    "method": method,
                    "models": name,
                    "metric": metric,
                    "random": kind,
                    "value": value,
                    "full": float(of_all[metric][0]),
                    "random_mean": float(known.mean()) if len(known) else np.nan,
                    "random_low": float(low),
                    "random_high": float(high),
                    "percentile": percentile_among(value, values),
                    # If the subset is all items, every subset of that size is the same.
                    "p_value": np.nan if size == n else two_sided_p(value, values),
                    "draws": len(values),
                    "n_models": rated if metric == ARENA else len(group.correct),
                    "n_items": size,
                    "n_full": n,
                    "reason": "" if np.isfinite(value) else "undefined for this subset",
                }
                yield row, values


def _by_chance(
    compared: Mapping[str, _Group], blocks: Iterable[NDArray[np.bool_]], pairs: bool
) -> dict[str, Metrics]:
    """Return the metrics of all random subsets by group, one block in memory at a time."""
    metrics: dict[str, list[Metrics]] = {name: [] for name in compared}
    for masks in blocks:
        for name, group in compared.items():
            metrics[name].append(group.metrics(masks, pairs))
    return {name: _joined(parts) for name, parts in metrics.items()}


def _joined(blocks: Sequence[Metrics]) -> Metrics:
    return {metric: np.concatenate([block[metric] for block in blocks]) for metric in blocks[0]}
