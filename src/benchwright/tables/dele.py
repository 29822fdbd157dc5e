"""Tables of samplers, their curves, and the chosen subset."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Columns, NotEmpty

SamplingResults = Columns(
    (str, "sampler", "panel"),
    (float, "rate"),
    (int, "size", "repeat"),
    (float, "overlap", "spearman", "pearson", "tau_b", "wasserstein", "mean_absolute_error"),
    (float, "bias", "error_sd"),
)
"""Agreement of each draw with all items; key (sampler, panel, rate, repeat).

`overlap` is the mean share of items that two draws of a sampler have in common. Shares are 0–1;
undefined correlations are null.
"""

SamplersLeftOut = Columns(
    (str, "sampler", "reason"),
)
"""Samplers that could not run; key sampler."""

SamplingCurves = Columns(
    (str, "sampler", "panel"),
    (float, "rate"),
    (int, "size"),
    (str, "metric"),
    (float, "mean", "sd", "random_low", "random_median", "random_high"),
)
"""Metrics over rates with random bands (DELE, Figures 1–32).

Key (sampler, panel, rate, metric).
`sd` is over repeats.
"""

SamplingAgainstRandom = Columns(
    (str, "sampler", "panel"),
    (int, "n_models"),
    (float, "rate"),
    (int, "size"),
    (str, "metric"),
    (float, "mean", "random_low", "random_median", "random_high", "better_by", "percentile", "p"),
    (float, "p_holm"),
    (int, "random_subsets"),
    (str, "verdict"),  # verdict: better, worse, no difference shown
)
"""Tests of each sampler against random subsets; key (sampler, panel, rate, metric).

`p` is two-sided; `p_holm` is corrected over samplers and rates. Both are null for `random`.
"""

SamplerChoice = Columns(
    (int, "split"),
    (str, "winner", "metric"),
    (float, "apparent_gain", "held_out_gain"),
    (int, "n_choose", "n_held_out", "n_eligible"),
    (str, "reason"),
)
"""The sampler chosen by each split of the models, and its gain over random (Algorithm 1).

Key split; −1 is the choice by all models, whose held-out gain is null. Gains are in the unit of
the metric; positive is better.
"""

SubjectWinners = Columns(
    (str, "subject"),
    (int, "n_items"),
    (str, "winner"),
    (float, "spearman"),
    (str, "reason"),
)
"""The sampler chosen inside each subject (DELE, Table 3); key subject."""

EstimateErrors = Columns(
    (str, "estimator", "panel", "subset"),
    (int, "size", "subsets", "n_train", "n_models"),
    (float, "mean_absolute_error", "bias", "coverage", "width", "tau_b", "effective_by_error"),
    (float, "effective_by_width", "level"),
    (str, "reason"),
)
"""Errors of estimated scores of new models; key (estimator, panel, subset).

Values are shares (0–1), means over models and subsets; coverage is for intervals at `level`, tau-b
is that of estimated scores with the scores on all items.
Effective sizes are in items of a random subset's mean per item, by mean squared error and by
squared width.
"""

SamplingSummary = Columns(
    (str, "sampler", "family", "panel"),
    (int, "n_models"),
    (float, "rate"),
    (int, "size"),
    (float, "spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error", "spearman_sd"),
    (float, "rate_for_spearman"),
    (int, "items_for_spearman"),
    (float, "tokens_for_spearman", "rate_for_tau_b"),
    (int, "items_for_tau_b"),
    (float, "tokens_for_tau_b", "tokens_in_all"),
    (str, "tokens_by"),
)
"""Summary of each sampler (DELE, Table 1); key (sampler, panel).

Rates are percent. If no rate is sufficient, the smallest rate is null and its items are 0.
"""


class ChosenSubset(NotEmpty):
    """The items of the exported subset, in the order of choice; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    position: Series[int] = pa.Field(ge=0, unique=True)  # row of the items table
    weight: Series[float] = pa.Field(ge=0, le=1)  # they sum to 1
    # known probability of being drawn; NaN if equal or unknown
    inclusion: Series[float] = pa.Field(gt=0, le=1, nullable=True)


ChosenCurves = Columns(
    (str, "line"),
    (int, "splits"),
    (float, "rate"),
    (int, "size"),
    (str, "metric"),
    (float, "mean", "sd", "gain", "gain_low", "gain_high", "random_low", "random_median"),
    (float, "random_high"),
)
"""Curves of the chosen samplers and of random (DELE, Figures 7, 32); key (line, rate, metric).

Values are means over splits of means over repeats; `gain_low` and `gain_high` are the middle
95% of the splits. `random_…` is the band of single random subsets on the held-out models.
"""
