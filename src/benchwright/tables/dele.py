"""Tables of samplers, their curves, and the chosen subset."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import NotEmpty, Table


class ItemFeatures(Table):
    """Features of each item's text (DELE, A.1.9–A.1.18); key item_id, null if undefined."""

    item_id: Series[str] = pa.Field(unique=True)
    subject: Series[str]
    spelling_errors: Series[float] = pa.Field(ge=0, nullable=True)
    word_length: Series[float] = pa.Field(gt=0, nullable=True)  # letters
    repeated_words: Series[float] = pa.Field(ge=0, nullable=True)
    wordform: Series[float] = pa.Field(ge=0, nullable=True)
    vowel_consonant_ratio: Series[float] = pa.Field(ge=0, nullable=True)
    periods: Series[float] = pa.Field(ge=0)
    cpd: Series[float] = pa.Field(ge=0, nullable=True)  # as printed
    lexical_diversity: Series[float] = pa.Field(gt=0, le=1, nullable=True)
    difficult_words: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    dale_chall: Series[float] = pa.Field(ge=0, nullable=True)
    flesch: Series[float] = pa.Field(nullable=True)
    gunning_fog: Series[float] = pa.Field(ge=0, nullable=True)


class ReadabilityExtremes(Table):
    """The items easiest and hardest to read (DELE, Table 2); key (end, rank)."""

    end: Series[str] = pa.Field(isin=["easy", "hard"])
    rank: Series[int] = pa.Field(ge=1)
    item_id: Series[str]
    subject: Series[str]
    text: Series[str]
    difficult_words: Series[float] = pa.Field(ge=0, le=1)
    dale_chall: Series[float] = pa.Field(ge=0)
    flesch: Series[float]
    gunning_fog: Series[float] = pa.Field(ge=0)


class ClusterCurves(Table):
    """Quality of clusterings by number of clusters (DELE, figures 37–40); key (sampler, k)."""

    sampler: Series[str]
    k: Series[int] = pa.Field(ge=1)
    within: Series[float] = pa.Field(ge=-1e-6)  # squared distances to the cluster's mean, summed
    silhouette: Series[float] = pa.Field(ge=-1, le=1, nullable=True)
    chosen: Series[bool]


class ItemMap(Table):
    """Map of the items by t-SNE (DELE, figures 33, 34, 41–43); key (sampler, item_id)."""

    source: Series[str]  # features of the map: tfidf, or an encoder
    item_id: Series[str]
    x: Series[float]
    y: Series[float]
    sampler: Series[str]
    cluster: Series[int] = pa.Field(ge=-1)


class SamplingResults(Table):
    """Agreement of each draw with all items; key (sampler, panel, rate, repeat).

    Shares are 0–1; undefined correlations are null.
    """

    sampler: Series[str]
    panel: Series[str]
    rate: Series[float] = pa.Field(gt=0, le=100)  # percent of the items
    size: Series[int] = pa.Field(ge=1)
    repeat: Series[int] = pa.Field(ge=0)
    spearman: Series[float] = pa.Field(nullable=True)
    pearson: Series[float] = pa.Field(nullable=True)
    tau_b: Series[float] = pa.Field(nullable=True)
    wasserstein: Series[float] = pa.Field(ge=0, nullable=True)
    mean_absolute_error: Series[float] = pa.Field(ge=0, nullable=True)
    bias: Series[float] = pa.Field(nullable=True)
    error_sd: Series[float] = pa.Field(ge=0, nullable=True)  # over models


class SamplersLeftOut(Table):
    """Samplers that could not run; key (choosers, sampler), `choosers` "" without responses."""

    choosers: Series[str]
    sampler: Series[str]
    reason: Series[str]


class RandomBands(Table):
    """Random bands (middle 95%) at each rate; key (panel, rate, metric)."""

    panel: Series[str]
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)


class SamplingCurves(Table):
    """Metrics over rates with random bands (DELE, Figures 1–32).

    Key (sampler, panel, rate, metric).
    `sd` is over repeats.
    """

    sampler: Series[str]
    panel: Series[str]
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    sd: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)


class SamplingAgainstRandom(Table):
    """Tests of each sampler against random subsets; key (sampler, panel, rate, metric).

    `p` is two-sided; `p_holm` is corrected over samplers and rates. Both are null for `random`.
    """

    sampler: Series[str]
    panel: Series[str]
    n_models: Series[int] = pa.Field(ge=3)
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)
    better_by: Series[float] = pa.Field(
        nullable=True
    )  # than the mean of random subsets; positive is better
    percentile: Series[float] = pa.Field(ge=0, le=100, nullable=True)
    p: Series[float] = pa.Field(gt=0, le=1, nullable=True)
    p_holm: Series[float] = pa.Field(gt=0, le=1, nullable=True)
    random_subsets: Series[int] = pa.Field(ge=1000)
    verdict: Series[str] = pa.Field(isin=["better", "worse", "no difference shown"])


class SamplerChoice(Table):
    """The sampler chosen by each split of the models, and its gain over random (Algorithm 1).

    Key split; −1 is the choice by all models, whose held-out gain is null. Gains are in the unit of
    the metric; positive is better.
    """

    split: Series[int] = pa.Field(ge=-1, unique=True)
    winner: Series[str]  # "" if none could be chosen
    metric: Series[str]
    apparent_gain: Series[float] = pa.Field(nullable=True)  # in-sample
    held_out_gain: Series[float] = pa.Field(nullable=True)
    n_choose: Series[int] = pa.Field(ge=0)
    n_held_out: Series[int] = pa.Field(ge=0)
    n_eligible: Series[int] = pa.Field(ge=0)
    reason: Series[str]


class SubjectWinners(Table):
    """The sampler chosen inside each subject (DELE, Table 3); key subject."""

    subject: Series[str] = pa.Field(unique=True)
    n_items: Series[int] = pa.Field(ge=1)
    winner: Series[str]  # by all models
    winner_selection: Series[str]  # by one half of the models
    winner_held_out: Series[str]  # by the other half
    # of `winner`, in-sample: mean over the compared rates and repeats
    spearman: Series[float] = pa.Field(nullable=True)
    metric: Series[str]
    apparent_gain: Series[float] = pa.Field(nullable=True)  # of winner_selection, in-sample
    held_out_gain: Series[float] = pa.Field(nullable=True)  # of winner_selection, other half
    reason: Series[str]


class EstimateErrors(Table):
    """Errors of estimated scores of new models; key (estimator, panel, subset).

    Values are shares (0–1), means over models and subsets; coverage is for intervals at `level`.
    Effective sizes are in items of a random subset's mean per item, by mean squared error and by
    squared width.
    """

    estimator: Series[str]
    panel: Series[str]
    subset: Series[str]  # random, unequal or anchor_points
    size: Series[int] = pa.Field(ge=1)
    subsets: Series[int] = pa.Field(ge=1)
    n_train: Series[int] = pa.Field(ge=1)
    n_models: Series[int] = pa.Field(ge=1)
    mean_absolute_error: Series[float] = pa.Field(ge=0, nullable=True)
    bias: Series[float] = pa.Field(nullable=True)
    coverage: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    width: Series[float] = pa.Field(ge=0, nullable=True)
    effective_by_error: Series[float] = pa.Field(ge=0, nullable=True)
    effective_by_width: Series[float] = pa.Field(ge=0, nullable=True)
    level: Series[float] = pa.Field(gt=0, lt=1)
    reason: Series[str]


class SamplingSummary(Table):
    """Summary of each sampler (DELE, Table 1); key (sampler, panel).

    Rates are percent. If no rate is sufficient, the smallest rate is null and its items are 0.
    """

    sampler: Series[str]
    family: Series[str]
    panel: Series[str]
    n_models: Series[int] = pa.Field(ge=0)
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    spearman: Series[float] = pa.Field(nullable=True)
    tau_b: Series[float] = pa.Field(nullable=True)
    pearson: Series[float] = pa.Field(nullable=True)
    wasserstein: Series[float] = pa.Field(nullable=True)
    mean_absolute_error: Series[float] = pa.Field(nullable=True)
    spearman_sd: Series[float] = pa.Field(nullable=True)  # over repeats
    rate_for_spearman: Series[float] = pa.Field(nullable=True)
    items_for_spearman: Series[int] = pa.Field(ge=0)
    tokens_for_spearman: Series[float] = pa.Field(nullable=True)
    rate_for_tau_b: Series[float] = pa.Field(nullable=True)
    items_for_tau_b: Series[int] = pa.Field(ge=0)
    tokens_for_tau_b: Series[float] = pa.Field(nullable=True)
    tokens_in_all: Series[float] = pa.Field(ge=0)
    tokens_by: Series[str]  # description of the token count


class ChosenSubset(NotEmpty):
    """The items of the exported subset, in the order of choice; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    position: Series[int] = pa.Field(ge=0, unique=True)  # row of the items table
    weight: Series[float] = pa.Field(ge=0, le=1)  # they sum to 1
    # known probability of being drawn; NaN if equal or unknown
    inclusion: Series[float] = pa.Field(gt=0, le=1, nullable=True)


class ChosenCurves(Table):
    """Curves of the chosen samplers and of random (DELE, Figures 7, 32); key (line, rate, metric).

    Values are means over splits of means over repeats; `gain_low` and `gain_high` are the middle
    95% of the splits. `random_…` is the band of single random subsets on the held-out models.
    """

    line: Series[str] = pa.Field(isin=["chosen", "chosen_in_sample", "random", "chosen_by_subject"])
    splits: Series[int] = pa.Field(ge=1)
    rate: Series[float] = pa.Field(gt=0, le=100)
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    sd: Series[float] = pa.Field(nullable=True)  # over repeats
    # difference to the line `random` on the same models, positive if better
    gain: Series[float] = pa.Field(nullable=True)
    gain_low: Series[float] = pa.Field(nullable=True)
    gain_high: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)


class SubjectCurves(Table):
    """Curves inside each subject (DELE, Figures 8–27); key (subject, sampler, rate, metric)."""

    subject: Series[str]
    n_items: Series[int] = pa.Field(ge=1)
    n_models: Series[int] = pa.Field(ge=3)
    sampler: Series[str]
    rate: Series[float] = pa.Field(gt=0, le=100)
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)
