"""Change of accuracy, ranks and answers on perturbed copies (WiCkeD, Table 1, Figure 3)."""

from collections.abc import Iterator, Mapping
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

_RANKS = (
    "rank_original",
    "rank_original_low",
    "rank_original_high",
    "rank_mean",
    "rank_mean_low",
    "rank_mean_high",
)


def compare_scores(
    compared_responses: Mapping[str, ComparedResponses], evaluation: EvaluationParams, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare accuracies and ranks on the copies with those on the original items.

    Models are ranked within their asking style. Return `ComparisonScores` and
    `ComparisonSummary` tables, empty where nothing can be compared.
    """
    scores: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    for name, compared in compared_responses.items():
        of_perturbation = _scores(compared)
        for style, rows in asking_styles(compared.configurations).items():
            shuffle = rank_shuffle(
                compared.original[rows],
                compared.perturbed[:, rows],
                compared.clusters,
                evaluation.bootstrap_samples,
                generator=stage_generator(seed, f"draw_comparison/{name}/{style}"),
            )
            for row, ranks in zip(rows, shuffle.ranks, strict=True):
                of_perturbation[row] |= {
                    "perturbation": name,
                    "asking_style": style,
                    **dict(zip(_RANKS, ranks, strict=True)),
                }
            for metric, bounded in _metrics(compared, rows, shuffle).items():
                summary.append(
                    {
                        "perturbation": name,
                        "asking_style": style,
                        "metric": metric,
                        "n_models": len(rows),
                        "n_items": len(compared.item_ids),
                        "copies": len(compared.perturbed),
                        **bounded._asdict(),
                    }
                )
        scores += of_perturbation
    return (
        tables.ComparisonScores.from_rows(scores),
        tables.ComparisonSummary.from_rows(summary),
    )


def _scores(compared: ComparedResponses) -> list[dict[str, Any]]:
    by_copy = compared.perturbed.mean(axis=2)  # (d, m)
    change = clustered_means(compared.mean_change(), compared.clusters)
    repeated = np.broadcast_to(compared.original, compared.perturbed.shape)
    columns = {
        "accuracy_original": compared.original.mean(axis=1),
        "accuracy_mean": by_copy.mean(axis=0),
        "delta": change.mean,
        "delta_se": change.se,
        "delta_low": change.low,
        "delta_high": change.high,
        "accuracy_altered": mean_where(compared.perturbed, compared.altered),
        "accuracy_altered_original": mean_where(repeated, compared.altered),
        "accuracy_gold_removed": mean_where(compared.perturbed, compared.gold_removed),
    }
    if len(by_copy) > 1:
        columns["accuracy_sd"] = by_copy.std(axis=0, ddof=1)
    rows = []
    for row, configuration in enumerate(compared.configurations):
        rows.append(
            {
                "configuration": configuration,
                **parse_configuration(configuration)._asdict(),
                "n_items": len(compared.item_ids),
                "copies": len(compared.perturbed),
                **{column: values[row] for column, values in columns.items()},
            }
        )
    return rows


def mean_where(answers: Floats | Bools, marks: Bools) -> Floats:
    """Return (m,) the mean of (d, m, n) answers over marked (d, n) items; NaN where none is."""
    n = marks.sum()
    if not n:
        return np.full(answers.shape[1], np.nan)
    values = answers.astype(np.float64, copy=False)
    total: Floats = np.einsum("dmn,dn->m", values, marks.astype(np.float64))
    return total / n


def _metrics(
    compared: ComparedResponses, rows: list[int], shuffle: RankShuffle
) -> dict[str, Bounded]:
    means = {
        "mean_accuracy_original": compared.original[rows],
        "mean_accuracy": compared.perturbed.mean(axis=0)[rows],
        "mean_delta": compared.mean_change()[rows],
    }
    metrics = {}
    for name, values in means.items():
        metrics[name] = bounded_mean(values.mean(axis=0), compared.clusters)
    metrics |= {k: metric for k, metric in shuffle._asdict().items() if isinstance(metric, Bounded)}
    reason = shuffle.tau_b_resampled.reason
    metrics["tau_b_percentile"] = Bounded(shuffle.percentile, np.nan, np.nan, reason)
    return metrics


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
    transitions = []
    rates = []
    for name, compared in compared_responses.items():
        for gold in ("kept", "removed"):
            key = {"perturbation": name, "gold": gold}
            of_gold = compared.gold_removed if gold == "removed" else ~compared.gold_removed
            for row in _transitions(compared, of_gold):
                model = parse_configuration(row["configuration"]).model
                transitions.append({**key, "kind": str(kinds.get(model, "")), **row})
            rates += [{**key, **row} for row in _none_rates(compared, of_gold)]
    return (
        tables.ComparisonTransitions.from_rows(transitions),
        tables.ComparisonNoneRates.from_rows(rates),
    )


def _transitions(compared: ComparedResponses, of_gold: Bools) -> Iterator[dict[str, Any]]:
    """Yield how each configuration's answers to altered items (d, n) changed."""
    before = np.broadcast_to(compared.original >= 0.5, compared.perturbed.shape)
    after = compared.perturbed >= 0.5
    altered = compared.altered & of_gold
    shares = {
        "stayed_right": mean_where(before & after, altered),
        "became_wrong": mean_where(before & ~after, altered),
        "became_right": mean_where(~before & after, altered),
        "stayed_wrong": mean_where(~before & ~after, altered),
    }
    for row, configuration in enumerate(compared.configurations):
        by_change = {change: values[row] for change, values in shares.items()}
        yield {"configuration": configuration, "n": altered.sum(), **by_change}


def _none_rates(compared: ComparedResponses, of_gold: Bools) -> Iterator[dict[str, Any]]:
    """Yield how often each configuration chose the none-of-the-above option of items (d, n)."""
    if not compared.has_none.any():
        return
    asked = compared.has_none & of_gold
    clusters = np.broadcast_to(compared.clusters, asked.shape)[asked]
    chance = (1 / compared.options[asked]).mean() if asked.any() else np.nan
    for row, configuration in enumerate(compared.configurations):
        hits = compared.picked_none[:, row][asked]
        share = clustered_share(hits, clusters)
        yield {
            "configuration": configuration,
            "n": len(hits),
            "picked": hits.sum(),
            "share": share.value,
            "low": share.low,
            "high": share.high,
            "by_chance": chance,
            "reason": share.reason,
        }
