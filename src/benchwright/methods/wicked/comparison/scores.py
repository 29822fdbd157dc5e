"""What a perturbation costs models, and what becomes of answers (WiCkeD, Table 1, Figure 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.seeding import stage_generator
from benchwright.methods.wicked.comparison.compared_answers import (
    Bools,
    ComparedAnswers,
    Floats,
    ways_of_asking,
)
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.clustered_mean import (
    Bounded,
    bounded_mean,
    clustered_means,
    clustered_share,
)
from benchwright.statistics.rank_shuffle import RankShuffle, rank_shuffle, reversals
from benchwright.tables.wicked import (
    DrawNoneRates,
    DrawReversals,
    DrawScores,
    DrawSummary,
    DrawTransitions,
)

_SIGNIFICANT = 0.05
_RANKS = ("original", "original_low", "original_high", "mean", "mean_low", "mean_high")


def score_draws(
    compared_answers: Mapping[str, ComparedAnswers], evaluation: EvaluationParams, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Compare accuracies and ranks on the draws with those on the items as they were.

    Models are ranked among those asked in the same way.

    Returns:
        `DrawScores`, `DrawSummary` and `DrawReversals`; all empty where nothing can be compared.
    """
    scores: list[dict[str, Any]] = []
    summary: list[tuple[Any, ...]] = []
    turned: list[tuple[Any, ...]] = []
    for name, seen in compared_answers.items():
        ways = ways_of_asking(seen.configurations)
        shuffles = {
            way: rank_shuffle(
                seen.original[rows],
                seen.drawn[:, rows],
                seen.clusters,
                evaluation.bootstrap_draws,
                stage_generator(seed, f"draw_comparison/{name}/{way}"),
            )
            for way, rows in ways.items()
        }
        scores += _scores(name, seen, ways, shuffles)
        for way, rows in ways.items():
            own, pairs = _reversals(name, way, seen, rows)
            turned += pairs
            summary += _summary(name, way, seen, rows, shuffles[way], own)
    return (
        DrawScores.from_rows(scores),
        DrawSummary.from_rows(summary),
        DrawReversals.from_rows(turned),
    )


def _scores(
    name: str,
    seen: ComparedAnswers,
    ways: Mapping[str, list[int]],
    shuffles: Mapping[str, RankShuffle],
) -> list[dict[str, Any]]:
    m = len(seen.configurations)
    by_draw = seen.drawn.mean(axis=2)  # (d, m)
    change = clustered_means(seen.mean_change(), seen.clusters)
    repeated = np.broadcast_to(seen.original, seen.drawn.shape)
    rank, asked = np.full((m, len(_RANKS)), np.nan), [""] * m
    for way, rows in ways.items():
        rank[rows] = shuffles[way].ranks
        for row in rows:
            asked[row] = way
    known = (seen.shots_drawn >= 0) & (seen.shots_original >= 0)
    fewer_original = known & (seen.shots_original < seen.shots_drawn)
    fewer_drawn = known & (seen.shots_drawn < seen.shots_original)
    equal = known & ~fewer_original & ~fewer_drawn
    columns = {
        "accuracy_original": seen.original.mean(axis=1),
        "accuracy_mean": by_draw.mean(axis=0),
        "accuracy_sd": by_draw.std(axis=0, ddof=1) if len(by_draw) > 1 else np.full(m, np.nan),
        "delta": change.mean,
        "delta_se": change.se,
        "delta_low": change.low,
        "delta_high": change.high,
        "accuracy_altered": mean_where(seen.drawn, seen.altered),
        "accuracy_altered_original": mean_where(repeated, seen.altered),
        "accuracy_gold_removed": mean_where(seen.drawn, seen.gold_removed),
        **{f"rank_{column}": rank[:, place] for place, column in enumerate(_RANKS)},
        "delta_equal_shots": _means_where(seen.drawn - repeated, equal),
    }
    counts = {
        "fewer_shots_original": fewer_original.sum(axis=(0, 2)),
        "fewer_shots_drawn": fewer_drawn.sum(axis=(0, 2)),
        "unknown_shots": (~known).sum(axis=(0, 2)),
    }
    return [
        {
            "perturbation": name,
            "configuration": configuration,
            **parse_configuration(configuration)._asdict(),
            "asked": asked[row],
            "n_items": len(seen.item_ids),
            "draws": len(seen.drawn),
            **{column: float(values[row]) for column, values in columns.items()},
            **{column: int(values[row]) for column, values in counts.items()},
        }
        for row, configuration in enumerate(seen.configurations)
    ]


def mean_where(correct: Floats, marks: Bools) -> Floats:
    """(m,) the mean of (d, m, n) answers over marked (d, n) items; NaN where none is marked."""
    n = int(marks.sum())
    if not n:
        return np.full(correct.shape[1], np.nan)
    total: Floats = np.einsum("dmn,dn->m", correct, marks.astype(np.float64)) / n
    return total


def _means_where(values: Floats, marks: Bools) -> Floats:
    """(m,) the mean of (d, m, n) values where (d, m, n) marks are; NaN where none is."""
    n = marks.sum(axis=(0, 2))
    total = np.where(marks, values, 0).sum(axis=(0, 2))
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _reversals(
    name: str, way: str, seen: ComparedAnswers, rows: list[int]
) -> tuple[list[tuple[str, float, str]], list[tuple[Any, ...]]]:
    """Counts of pairs for the summary, and the pairs themselves, the surest first."""
    original, after = seen.original[rows], seen.drawn.mean(axis=0)[rows]
    found = reversals(original, after, seen.clusters, _SIGNIFICANT)
    reason = "" if found.pairs else f"{len(rows)} model; at least 2 are needed"
    missing = np.nan if reason else 0.0
    counts = [
        ("pairs", float(found.pairs), ""),
        ("reversed_pairs", len(found.reversed_pairs) + missing, reason),
        ("significant_reversals", found.significant + missing, reason),
    ]
    before, mean = original.mean(axis=1), after.mean(axis=1)
    pairs = []
    for place in np.argsort(found.p_holm, kind="stable"):
        a, b = found.reversed_pairs[place]
        pairs.append(
            (
                *(name, way, seen.configurations[rows[a]], seen.configurations[rows[b]]),
                *(before[a] - before[b], mean[a] - mean[b], float(found.p_holm[place])),
            )
        )
    return counts, pairs


def _summary(
    name: str,
    way: str,
    seen: ComparedAnswers,
    rows: list[int],
    shuffle: RankShuffle,
    pairs: list[tuple[str, float, str]],
) -> list[tuple[Any, ...]]:
    means = {
        "mean_accuracy_original": seen.original[rows],
        "mean_accuracy": seen.drawn.mean(axis=0)[rows],
        "mean_delta": seen.mean_change()[rows],
    }
    bounded = {
        metric: bounded_mean(values.mean(axis=0), seen.clusters) for metric, values in means.items()
    }
    bounded |= {k: figure for k, figure in shuffle._asdict().items() if isinstance(figure, Bounded)}
    reason = shuffle.tau_b_resampled.reason
    bounded["tau_b_percentile"] = Bounded(shuffle.percentile, np.nan, np.nan, reason)
    bounded |= {metric: Bounded(value, np.nan, np.nan, why) for metric, value, why in pairs}
    counts = (len(rows), len(seen.item_ids), len(seen.drawn))
    return [
        (name, way, metric, one.value, one.low, one.high, *counts, one.reason)
        for metric, one in bounded.items()
    ]


def follow_answers(
    compared_answers: Mapping[str, ComparedAnswers],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count answers that changed, and answers that say none is right.

    Returns:
        `DrawTransitions`: shares of altered items by what became of the answer, apart for gold kept
        and removed; `DrawNoneRates`: how often "none" was picked where it is right and where not,
        among items into which a draw put such an option.
    """
    transitions: list[tuple[Any, ...]] = []
    rates: list[tuple[Any, ...]] = []
    for name, seen in compared_answers.items():
        transitions += _transitions(name, seen)
        rates += _none_rates(name, seen)
    return DrawTransitions.from_rows(transitions), DrawNoneRates.from_rows(rates)


def _transitions(name: str, seen: ComparedAnswers) -> list[tuple[Any, ...]]:
    before = np.broadcast_to(seen.original >= 0.5, seen.drawn.shape)
    after = seen.drawn >= 0.5
    became = ((before, after), (before, ~after), (~before, after), (~before, ~after))
    out = []
    for gold, marks in (
        ("kept", seen.altered & ~seen.gold_removed),
        ("removed", seen.altered & seen.gold_removed),
    ):
        shares = [mean_where((a & b).astype(np.float64), marks) for a, b in became]
        n = int(marks.sum())
        out += [
            (name, configuration, gold, n, *(float(values[row]) for values in shares))
            for row, configuration in enumerate(seen.configurations)
        ]
    return out


def _none_rates(name: str, seen: ComparedAnswers) -> list[tuple[Any, ...]]:
    clusters = np.broadcast_to(seen.clusters, seen.has_none.shape)
    out: list[tuple[Any, ...]] = []
    if not seen.has_none.any():
        return out
    for gold, marks in (
        ("kept", seen.has_none & ~seen.gold_removed),
        ("removed", seen.has_none & seen.gold_removed),
    ):
        chance = float((1 / seen.options[marks]).mean()) if marks.any() else np.nan
        for row, configuration in enumerate(seen.configurations):
            hits = seen.picked_none[:, row][marks]
            found = clustered_share(hits, clusters[marks])
            counts = (found.n, int(hits.sum()))
            bounds = (found.share, found.low, found.high)
            out.append((name, configuration, gold, *counts, *bounds, chance, found.reason))
    return out
