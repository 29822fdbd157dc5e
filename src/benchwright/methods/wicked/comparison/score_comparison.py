"""Change of accuracy, ranks and answers on perturbed copies (WiCkeD, Table 1, Figure 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.array_types import Bools, Floats
from benchwright.core.configuration import parse_configuration
from benchwright.core.seeding import stage_generator
from benchwright.methods.wicked.comparison.compared_responses import (
    ComparedResponses,
    asking_styles,
)
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.proportion import (
    Bounded,
    bounded_mean,
    clustered_means,
    clustered_share,
)
from benchwright.statistics.rank_shuffle import RankShuffle, rank_shuffle
from benchwright.tables import wicked as tables

_RANKS = ("original", "original_low", "original_high", "mean", "mean_low", "mean_high")


def compare_scores(
    compared_responses: Mapping[str, ComparedResponses], evaluation: EvaluationParams, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare accuracies and ranks on the copies with those on the original items.

    Models are ranked within their asking style. Return `ComparisonScores` and
    `ComparisonSummary` tables, empty where nothing can be compared.
    """
    scores: list[dict[str, Any]] = []
    summary: list[tuple[Any, ...]] = []
    for name, compared in compared_responses.items():
        styles = asking_styles(compared.configurations)
        shuffles = {
            style: rank_shuffle(
                compared.original[rows],
                compared.perturbed[:, rows],
                compared.clusters,
                evaluation.bootstrap_samples,
                stage_generator(seed, f"draw_comparison/{name}/{style}"),
            )
            for style, rows in styles.items()
        }
        scores += _scores(name, compared, styles, shuffles)
        for style, rows in styles.items():
            metrics = _metrics(compared, rows, shuffles[style])
            basis = (len(rows), len(compared.item_ids), len(compared.perturbed))
            summary += [
                (name, style, metric, each.value, each.low, each.high, *basis, each.reason)
                for metric, each in metrics.items()
            ]
    return (
        tables.ComparisonScores.from_rows(scores),
        tables.ComparisonSummary.from_rows(summary),
    )


def _scores(
    name: str,
    compared: ComparedResponses,
    styles: Mapping[str, list[int]],
    shuffles: Mapping[str, RankShuffle],
) -> list[dict[str, Any]]:
    m = len(compared.configurations)
    by_copy = compared.perturbed.mean(axis=2)  # (d, m)
    change = clustered_means(compared.mean_change(), compared.clusters)
    repeated = np.broadcast_to(compared.original, compared.perturbed.shape)
    rank, asked = np.full((m, len(_RANKS)), np.nan), [""] * m
    for style, rows in styles.items():
        rank[rows] = shuffles[style].ranks
        for row in rows:
            asked[row] = style
    columns = {
        "accuracy_original": compared.original.mean(axis=1),
        "accuracy_mean": by_copy.mean(axis=0),
        "accuracy_sd": by_copy.std(axis=0, ddof=1) if len(by_copy) > 1 else np.full(m, np.nan),
        "delta": change.mean,
        "delta_se": change.se,
        "delta_low": change.low,
        "delta_high": change.high,
        "accuracy_altered": mean_where(compared.perturbed, compared.altered),
        "accuracy_altered_original": mean_where(repeated, compared.altered),
        "accuracy_gold_removed": mean_where(compared.perturbed, compared.gold_removed),
        **{f"rank_{column}": rank[:, place] for place, column in enumerate(_RANKS)},
    }
    return [
        {
            "perturbation": name,
            "configuration": configuration,
            **parse_configuration(configuration)._asdict(),
            "asking_style": asked[row],
            "n_items": len(compared.item_ids),
            "copies": len(compared.perturbed),
            **{column: float(values[row]) for column, values in columns.items()},
        }
        for row, configuration in enumerate(compared.configurations)
    ]


def mean_where(correct: Floats, marks: Bools) -> Floats:
    """Return (m,) the mean of (d, m, n) answers over marked (d, n) items; NaN where none is."""
    n = int(marks.sum())
    if not n:
        return np.full(correct.shape[1], np.nan)
    total: Floats = np.einsum("dmn,dn->m", correct, marks.astype(np.float64)) / n
    return total


def _metrics(
    compared: ComparedResponses, rows: list[int], shuffle: RankShuffle
) -> dict[str, Bounded]:
    means = {
        "mean_accuracy_original": compared.original[rows],
        "mean_accuracy": compared.perturbed.mean(axis=0)[rows],
        "mean_delta": compared.mean_change()[rows],
    }
    metrics = {
        metric: bounded_mean(values.mean(axis=0), compared.clusters)
        for metric, values in means.items()
    }
    metrics |= {k: metric for k, metric in shuffle._asdict().items() if isinstance(metric, Bounded)}
    reason = shuffle.tau_b_resampled.reason
    return metrics | {"tau_b_percentile": Bounded(shuffle.percentile, np.nan, np.nan, reason)}


def follow_responses(
    compared_responses: Mapping[str, ComparedResponses], models_table: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count changed answers, and answers that choose none of the above.

    Return `ComparisonTransitions`: shares of altered items by how the answer changed, separately
    for gold kept and gold removed; the kind of a model is that in the `Models` table.
    `ComparisonNoneRates`: how often "none" was picked where it is right and where it is wrong,
    among items into which a copy put such an option.
    """
    kinds = models_table.set_index("model")["instruct"].map({True: "instruct", False: "base"})
    transitions: list[tuple[Any, ...]] = []
    rates: list[tuple[Any, ...]] = []
    for name, compared in compared_responses.items():
        before = np.broadcast_to(compared.original >= 0.5, compared.perturbed.shape)
        after = compared.perturbed >= 0.5
        became = ((before, after), (before, ~after), (~before, after), (~before, ~after))
        clusters = np.broadcast_to(compared.clusters, compared.has_none.shape)
        for gold, of_gold in (("kept", ~compared.gold_removed), ("removed", compared.gold_removed)):
            altered = compared.altered & of_gold
            shares = [mean_where((a & b).astype(np.float64), altered) for a, b in became]
            asked = compared.has_none & of_gold
            chance = float((1 / compared.options[asked]).mean()) if asked.any() else np.nan
            for row, configuration in enumerate(compared.configurations):
                key = (name, configuration, gold)
                by_change = (float(values[row]) for values in shares)
                kind = str(kinds.get(parse_configuration(configuration).model, ""))
                transitions.append(
                    (name, configuration, kind, gold, int(altered.sum()), *by_change)
                )
                if compared.has_none.any():
                    hits = compared.picked_none[:, row][asked]
                    share = clustered_share(hits, clusters[asked])
                    counts = (len(hits), int(hits.sum()))
                    rates.append((*key, *counts, *share[:3], chance, share.reason))
    return tables.ComparisonTransitions.from_rows(
        transitions
    ), tables.ComparisonNoneRates.from_rows(rates)
