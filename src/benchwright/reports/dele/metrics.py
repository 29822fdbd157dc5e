"""The run in flat numbers, for MLflow."""

import math
from collections.abc import Mapping

import pandas as pd

from benchwright.core.metric_name import metric_name
from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import SamplingPanels, panel_counts
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.headline import verdicts

_OF_A_SAMPLER = ("tau_b", "spearman", "pearson", "wasserstein", "mean_absolute_error")


def collect_sampling_metrics(
    sampling_panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    subject_luck: Mapping[str, float],
    estimate_errors: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampling: SamplingParams,
) -> dict[str, float]:
    """Collect the figures of the panel of headlines at the middle rate as flat numbers."""
    panels, main, rate = sampling_panels, sampling_panels.main, sampling.evidence.main_rate
    gains = gains_over_splits(sampler_choice)
    better, worse = verdicts(sampling_against_random, main)
    figures: dict[str, float] = {
        "n_items": len(panels.item_ids),
        "n_models": len(panels.models),
        "n_chosen_items": len(chosen_subset),
        "samplers_better_than_random": len(better),
        "samplers_worse_than_random": len(worse),
        "choice_splits": gains.splits,
        "choice_gain_apparent": gains.apparent,
        "choice_gain_held_out": gains.held_out,
        "choice_gain_by_luck": gains.luck,
        "choice_gain_held_out.low": gains.low,
        "choice_gain_held_out.high": gains.high,
        **{f"n_models.{panel}": n for panel, n in panel_counts(panels).items()},
        **{f"subjects.{name}": value for name, value in subject_luck.items()},
    }
    for row in sampling_summary[sampling_summary["panel"] == main].to_dict("records"):
        for metric in _OF_A_SAMPLER:
            figures[f"{metric}.{row['sampler']}"] = row[metric]
        figures[f"rate_for_tau_b.{row['sampler']}"] = row["rate_for_tau_b"]
        figures[f"rate_for_spearman.{row['sampler']}"] = row["rate_for_spearman"]
    tested = sampling_against_random
    tested = tested[(tested["panel"] == main) & (tested["rate"] == rate)]
    for row in tested.to_dict("records"):
        figures[f"percentile.{row['metric']}.{row['sampler']}"] = row["percentile"]
    for row in estimate_errors.to_dict("records"):
        name = f"{row['panel']}.{row['subset']}.{row['estimator']}"
        figures[f"estimate_error.{name}"] = row["mean_absolute_error"]
        figures[f"estimate_coverage.{name}"] = row["coverage"]
    return {
        metric_name(name): float(value)
        for name, value in figures.items()
        if value is not None and math.isfinite(value)
    }
