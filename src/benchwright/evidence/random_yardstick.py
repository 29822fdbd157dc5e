"""Kept items compared with random subsets of the same size, and with the baseline IRE.

Random subsets are a strong baseline: at half the items they keep nearly all of a ranking. So the
figures of a subset are compared with those of many random subsets of its size (SMART, section 4.4
and Tables 4 and 5, where one random subset is drawn).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.evidence.panel import Panel, panel_answers
from benchwright.evidence.rank_agreement import GROUPS, Ratings, models_in, rating_of
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.percentile import holm, percentile_among, two_sided_p
from benchwright.statistics.random_subsets import subset_blocks
from benchwright.statistics.rank_agreement import FEWEST_MODELS, pearson_rows
from benchwright.statistics.subset_scores import full_figures, subset_figures, subset_scores
from benchwright.tables.evidence import MethodComparison, RandomSubsets, Yardstick

RANDOM = ("plain", "stratified")
ARENA = "arena_pearson"

Figures = Mapping[str, NDArray[np.float64]]


class _Group(NamedTuple):
    """Answers (m, n) of a group's models, their human ratings (m,), and how many are its best."""

    correct: NDArray[np.float64]
    ratings: NDArray[np.float64]
    top: int

    def figures(self, masks: NDArray[np.bool_]) -> Figures:
        found = dict(subset_figures(self.correct, masks, self.top)._asdict())
        return found | self._arena(masks)

    def of_all(self) -> Figures:
        """Return the figures (1,) of all items that need no comparison."""
        everything = np.ones((1, self.correct.shape[1]), dtype=bool)
        return full_figures(self.correct, self.top)._asdict() | self._arena(everything)

    def _arena(self, masks: NDArray[np.bool_]) -> dict[str, NDArray[np.float64]]:
        if np.count_nonzero(~np.isnan(self.ratings)) < FEWEST_MODELS:
            return {}
        return {ARENA: pearson_rows(self.ratings, subset_scores(self.correct, masks))}


class _Beside(NamedTuple):
    """One figure of a method's subset and of the random subsets of its size."""

    key: tuple[str, str, str, str]  # method, group of models, metric, kind of random subset
    value: float
    full: float
    draws: NDArray[np.float64]
    n_models: int
    n_items: int
    n_full: int


def gather_subsets(kept_items: pd.DataFrame, item_parameters: pd.DataFrame) -> dict[str, list[str]]:
    """Gather the ids of the items that each method keeps: this run, and IRE where it was fitted."""
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
    """Compare the kept items, and those IRE would keep, with random subsets of their size.

    Subsets are drawn from the items on which the panel is compared, plain and stratified by
    subject. Gives each figure with the mean and the middle 95% of the random ones, its percentile
    among them and a two-sided p-value, corrected over the methods by Holm; and all draws.
    """
    models = [str(model) for model in scores["model"]]
    answers = panel_answers(response_matrix, items, panel, models)
    if not evaluation.random_subsets or not models or not panel.item_ids:
        return Yardstick.empty(), RandomSubsets.empty()
    rated = {model: rating_of(model, human_ratings) for model in models}
    groups = {group: [str(m) for m in models_in(scores, group)["model"]] for group in GROUPS}
    compared = {
        group: _Group(
            answers.of(own), np.array([rated[model] for model in own]), evaluation.top_models
        )
        for group, own in groups.items()
        if len(own) >= FEWEST_MODELS
    }
    draws = evaluation.random_subsets
    found = [
        beside
        for method, ids in compared_subsets.items()
        for subset in [answers.among(set(ids))]
        for beside in _beside_random(method, subset, answers.subjects, compared, draws, seed)
    ]
    return _summary(found), _draws(found)


def _beside_random(
    method: str,
    subset: NDArray[np.bool_],
    subjects: NDArray[np.intp],
    compared: Mapping[str, _Group],
    draws: int,
    seed: int,
) -> Iterator[_Beside]:
    n, size = len(subset), int(subset.sum())
    by_chance: dict[str, dict[str, Figures]] = {}
    for kind in RANDOM:
        generator = stage_generator(seed, f"yardstick/{method}/{kind}")
        strata = subjects if kind == "stratified" else None
        by_chance[kind] = _by_chance(compared, subset_blocks(n, size, draws, generator, strata))
    for name, group in compared.items():
        judges = {ARENA: int(np.count_nonzero(~np.isnan(group.ratings)))}
        own, of_all = group.figures(subset[None, :]), group.of_all()
        for kind in RANDOM:
            for metric, values in by_chance[kind][name].items():
                counts = (judges.get(metric, len(group.correct)), size, n)
                figures = (float(own[metric][0]), float(of_all[metric][0]), values)
                yield _Beside((method, name, metric, kind), *figures, *counts)


def _by_chance(
    compared: Mapping[str, _Group], blocks: Iterable[NDArray[np.bool_]]
) -> dict[str, Figures]:
    """Figures of all random subsets by group, one block in memory at a time."""
    found: dict[str, list[Figures]] = {name: [] for name in compared}
    for masks in blocks:
        for name, group in compared.items():
            found[name].append(group.figures(masks))
    return {
        name: {metric: np.concatenate([one[metric] for one in parts]) for metric in parts[0]}
        for name, parts in found.items()
    }


def _summary(found: list[_Beside]) -> pd.DataFrame:
    # Where the subset is all items, every subset of that size is the same.
    p_values = [
        np.nan if one.n_items == one.n_full else two_sided_p(one.value, one.draws) for one in found
    ]
    keys = [one.key[1:] for one in found]
    adjusted = np.full(len(found), np.nan)
    for key in dict.fromkeys(keys):
        rivals = [i for i, other in enumerate(keys) if other == key]
        adjusted[rivals] = holm(np.array([p_values[i] for i in rivals]))
    rows: list[tuple[Any, ...]] = []
    for one, p_value, p_holm in zip(found, p_values, adjusted, strict=True):
        low, high, mean = _middle(one.draws)
        reason = "" if np.isfinite(one.value) else "no figure for this subset"
        place = (percentile_among(one.value, one.draws), p_value, p_holm)
        counts = (len(one.draws), one.n_models, one.n_items, one.n_full)
        rows.append((*one.key, one.value, one.full, mean, low, high, *place, *counts, reason))
    return Yardstick.from_rows(rows)


def _middle(draws: NDArray[np.float64]) -> tuple[float, float, float]:
    known = draws[np.isfinite(draws)]
    if not len(known):
        return np.nan, np.nan, np.nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high), float(known.mean())


def _draws(found: list[_Beside]) -> pd.DataFrame:
    if not found:
        return RandomSubsets.empty()
    keys = ["method", "models", "metric", "random"]
    frames = [
        pd.DataFrame({"draw": np.arange(len(one.draws)), "value": one.draws}).assign(
            **dict(zip(keys, one.key, strict=True))
        )
        for one in found
    ]
    table = pd.concat(frames, ignore_index=True)[RandomSubsets.columns()]
    return pd.DataFrame(RandomSubsets.validate(table))


COMPARED = ("kendall_tau_b", "arena_pearson")

Row = dict[Any, Any]


def compare_methods(
    rank_agreement: pd.DataFrame, yardstick: pd.DataFrame, ire_fit: dict[str, Any]
) -> pd.DataFrame:
    """Put the ways to choose items side by side: Kendall's tau-b and Pearson with human ratings.

    Random is the mean over plain random subsets of this run's size with their middle 95%; the
    interval of this run is over items. IRE has its own size. Shares are of the items on which the
    panel is compared.
    """
    plain = yardstick[yardstick["random"] == "plain"].to_dict("records")
    found = {(row["method"], row["models"], row["metric"]): row for row in plain}
    intervals = {
        (row["models"], row["metric"]): (row["low"], row["high"])
        for row in rank_agreement.to_dict("records")
    }
    rows: list[tuple[Any, ...]] = []
    for group in ("all", "held_out"):
        for metric in COMPARED:
            own, ire = found.get(("kept", group, metric)), found.get(("ire", group, metric))
            if own is not None:
                interval = intervals.get((group, metric), (math.nan, math.nan))
                rows += _this_run(own, interval)
            if ire is not None:
                partly = "partly in-sample" if group == "all" else ""
                note = "fitted on all models: in-sample" if ire_fit["in_sample"] else partly
                value = (ire["value"], math.nan, math.nan)
                rows.append(
                    _method_row(
                        "ire", ire, value, "; ".join(filter(None, (note, ire_fit["reason"])))
                    )
                )
    return MethodComparison.from_rows(rows)


def _this_run(row: Row, interval: tuple[float, float]) -> Iterator[tuple[Any, ...]]:
    if math.isfinite(row["full"]):
        whole = {**row, "n_items": row["n_full"]}
        yield _method_row("full", whole, (row["full"], math.nan, math.nan), "")
    yield _method_row("kept", row, (row["value"], *interval), "")
    by_chance = row["random_mean"], row["random_low"], row["random_high"]
    yield _method_row("random", row, by_chance, f"mean of {row['draws']:,} random subsets")


def _method_row(
    method: str, row: Row, figure: tuple[float, float, float], reason: str
) -> tuple[Any, ...]:
    removed = 1 - row["n_items"] / row["n_full"] if row["n_full"] else math.nan
    place = method, row["metric"], row["models"]
    return (*place, *figure, removed, row["n_models"], row["n_items"], reason)
