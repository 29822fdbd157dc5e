"""Does the subset do better than chance? Random subsets of the same size, and the baseline IRE.

Random subsets are a strong baseline: at half the items they keep nearly all of a ranking. So a
figure of a subset says little until it stands beside those of random subsets of its size (SMART,
section 4.4 and Tables 4 and 5, where one random subset is drawn).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import stage_generator
from benchwright.evidence.panel import Panel, PanelAnswers, panel_answers
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


class _Beside(NamedTuple):
    """One figure of a method's subset and of the random subsets of its size."""

    method: str
    group: str
    metric: str
    random: str
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
    found = [
        beside
        for method, ids in compared_subsets.items()
        for subset in [answers.among(set(ids))]
        for beside in _beside_random(method, subset, answers, groups, rated, evaluation, seed)
    ]
    return _summary(found), _draws(found)


def _beside_random(
    method: str,
    subset: NDArray[np.bool_],
    answers: PanelAnswers,
    groups: Mapping[str, list[str]],
    rated: Mapping[str, float],
    evaluation: EvaluationParams,
    seed: int,
) -> Iterator[_Beside]:
    n, size = len(subset), int(subset.sum())
    compared = {
        group: _Group(answers.of(models), np.array([rated[model] for model in models]))
        for group, models in groups.items()
        if len(models) >= FEWEST_MODELS
    }
    by_chance = {
        kind: _by_chance(
            compared,
            subset_blocks(
                n,
                size,
                evaluation.random_subsets,
                stage_generator(seed, f"yardstick/{method}/{kind}"),
                answers.subjects if kind == "stratified" else None,
            ),
            evaluation.top_models,
        )
        for kind in RANDOM
    }
    for group, (correct, ratings) in compared.items():
        judges = {ARENA: int(np.count_nonzero(~np.isnan(ratings)))}
        own = _figures(correct, subset[None, :], ratings, evaluation.top_models)
        of_all = _figures_of_all(correct, ratings, evaluation.top_models)
        for kind in RANDOM:
            for metric, draws in by_chance[kind][group].items():
                yield _Beside(
                    *(method, group, metric, kind, float(own[metric][0])),
                    *(of_all.get(metric, np.nan), draws, judges.get(metric, len(correct))),
                    *(size, n),
                )


class _Group(NamedTuple):
    """Answers (m, n) of a group's models, and their human ratings (m,)."""

    correct: NDArray[np.float64]
    ratings: NDArray[np.float64]


def _by_chance(
    compared: Mapping[str, _Group], blocks: Iterable[NDArray[np.bool_]], top: int
) -> dict[str, Figures]:
    """The figures of all random subsets by group; of a million items not all fit in memory."""
    found: dict[str, list[Figures]] = {group: [] for group in compared}
    for masks in blocks:
        for group, (correct, ratings) in compared.items():
            found[group].append(_figures(correct, masks, ratings, top))
    return {
        group: {name: np.concatenate([one[name] for one in parts]) for name in parts[0]}
        for group, parts in found.items()
    }


def _figures(
    correct: NDArray[np.float64], masks: NDArray[np.bool_], ratings: NDArray[np.float64], top: int
) -> Figures:
    figures = dict(subset_figures(correct, masks, top)._asdict())
    if np.count_nonzero(~np.isnan(ratings)) >= FEWEST_MODELS:
        figures[ARENA] = pearson_rows(ratings, subset_scores(correct, masks))
    return figures


def _figures_of_all(
    correct: NDArray[np.float64], ratings: NDArray[np.float64], top: int
) -> dict[str, float]:
    """The figures that a set of items has by itself, of all items."""
    everything = np.ones((1, correct.shape[1]), dtype=bool)
    figures = {
        name: float(value[0]) for name, value in full_figures(correct, top)._asdict().items()
    }
    if np.count_nonzero(~np.isnan(ratings)) >= FEWEST_MODELS:
        figures[ARENA] = float(pearson_rows(ratings, subset_scores(correct, everything))[0])
    return figures


def _summary(found: list[_Beside]) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    p_values = [_p_value(beside) for beside in found]
    keys = [(beside.group, beside.metric, beside.random) for beside in found]
    adjusted = np.full(len(found), np.nan)
    for key in dict.fromkeys(keys):
        rivals = [i for i, other in enumerate(keys) if other == key]
        adjusted[rivals] = holm(np.array([p_values[i] for i in rivals]))
    for beside, p_value, p_holm in zip(found, p_values, adjusted, strict=True):
        low, high, mean = _middle(beside.draws)
        reason = "" if np.isfinite(beside.value) else "no figure for this subset"
        rows.append(
            (
                *(beside.method, beside.group, beside.metric, beside.random),
                *(beside.value, beside.full, mean, low, high),
                *(percentile_among(beside.value, beside.draws), p_value, p_holm),
                *(len(beside.draws), beside.n_models, beside.n_items, beside.n_full, reason),
            )
        )
    return Yardstick.from_rows(rows)


def _p_value(beside: _Beside) -> float:
    """NaN where the subset is all items: every subset of that size is the same."""
    if beside.n_items == beside.n_full:
        return np.nan
    return two_sided_p(beside.value, beside.draws)


def _middle(draws: NDArray[np.float64]) -> tuple[float, float, float]:
    """The bounds of the middle 95% and the mean of the draws that have a value."""
    known = draws[np.isfinite(draws)]
    if not len(known):
        return np.nan, np.nan, np.nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high), float(known.mean())


def _draws(found: list[_Beside]) -> pd.DataFrame:
    if not found:
        return RandomSubsets.empty()
    frames = [
        pd.DataFrame(
            {
                "method": beside.method,
                "random": beside.random,
                "models": beside.group,
                "metric": beside.metric,
                "draw": np.arange(len(beside.draws)),
                "value": beside.draws,
            }
        )
        for beside in found
    ]
    return pd.DataFrame(RandomSubsets.validate(pd.concat(frames, ignore_index=True)))


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
                        "ire", ire, value, "; ".join(filter(None, (note, _ire_reason(ire_fit))))
                    )
                )
    return MethodComparison.from_rows(rows)


def _this_run(row: Row, interval: tuple[float, float]) -> Iterator[tuple[Any, ...]]:
    """All items where they have the figure by themselves, the kept ones, and random ones."""
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


def _ire_reason(ire_fit: dict[str, Any]) -> str:
    return str(ire_fit["reason"])
