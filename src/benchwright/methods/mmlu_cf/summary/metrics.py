"""The making of a benchmark in flat numbers, for MLflow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.metric_name import metric_name
from benchwright.methods.mmlu_cf.summary.levels import count_shortfall, known_share
from benchwright.methods.mmlu_cf.summary.parse_rates import parse_rates
from benchwright.methods.mmlu_cf.summary.steps import Steps
from benchwright.params.mmlu_cf import SamplingByDifficultyParams


def collect_construction_metrics(
    steps: Steps,
    sampling: SamplingByDifficultyParams,
    extraction_measures: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    difficulty_counts: pd.DataFrame,
    sampling_strata: pd.DataFrame,
    judge_agreement: pd.DataFrame,
    half_distances: pd.DataFrame,
    field_rounds: pd.DataFrame,
    difficulty_rounds: pd.DataFrame,
    checking_rounds: pd.DataFrame,
    difficulty_again_rounds: pd.DataFrame,
    ratings_again: Mapping[str, Any],
) -> dict[str, float]:
    """Collect counts, shares and distances as flat numbers, for MLflow; what is NaN is left out.

    Shares are 0–1. `shortfall` is of the size asked for, `strata_missing` of the strata's targets;
    `total_variation.…` stands beside `chance_95.…`, which random halves exceed in 5% of cases.
    """
    known = known_share(difficulty_counts)
    short = count_shortfall(sampling_strata, sampling.size, levels_known=known > 0)
    figures = {
        **_of_steps(steps),
        "share_rated": known,
        "shortfall": float(short.size - short.taken),
        "strata_missing": float(short.missing),
    }
    for row in extraction_measures.loc[extraction_measures["style"] == ""].to_dict("records"):
        figures[f"extraction.{row['measure']}"] = float(row["share"])
    for row in field_accuracy.loc[field_accuracy["field"] == ""].to_dict("records"):
        figures[f"field_accuracy.{row['labels']}"] = float(row["recall"])
    rates = parse_rates(field_rounds, difficulty_rounds, checking_rounds, difficulty_again_rounds)
    for rate in rates:
        figures[f"parse_rate.{rate.task}.{rate.judge}"] = rate.read
    for row in judge_agreement.loc[judge_agreement["judge"] == ""].to_dict("records"):
        figures[f"alpha.{row['task']}.{row['criterion']}"] = float(row["alpha"])
    for row in half_distances.to_dict("records"):
        for name in ("total_variation", "chance_95"):
            figures[f"{name}.{row['attribute']}"] = float(row[name])
    if ratings_again["shift"] is not None:
        figures["difficulty_shift_by_rules"] = float(ratings_again["shift"])
    return {metric_name(name): value for name, value in figures.items() if np.isfinite(value)}


def _of_steps(steps: Steps) -> dict[str, float]:
    counts = {
        "documents": steps.documents,
        "documents_left_out": steps.left_out,
        "domains": steps.domains,
        "raw_items": steps.found,
        "clean_items": steps.clean,
        "sampled_items": steps.sampled,
        "checked_items": steps.checked,
        "final_items": steps.final,
        "public_items": steps.public,
        "closed_items": steps.closed,
        "leaks_found": steps.leaks.found,
        "leaks_moved": steps.leaks.moved,
        "leaks_left": steps.leaks.left,
        "items_dropped_as_leaks": steps.leaks.dropped,
    }
    shares = {
        "share_clean": steps.clean / steps.found if steps.found else np.nan,
        **{
            f"share_altered.{rule}": n / steps.final if steps.final else np.nan
            for rule, n in steps.altered.items()
        },
    }
    return {name: float(value) for name, value in {**counts, **shares}.items()}
