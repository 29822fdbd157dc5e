"""Scores, rank agreement and random subsets."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Table


class Scores(Table):
    """A model's accuracy on the full and on the kept items (SMART, Tables 2 and 10–12)."""

    model: Series[str]
    role: Series[str] = pa.Field(isin=["filter", "same_family", "held_out"])
    n_full: Series[int]
    accuracy_full: Series[float] = pa.Field(nullable=True)
    se_full: Series[float] = pa.Field(nullable=True)
    rank_full: Series[float] = pa.Field(nullable=True)
    n_kept: Series[int]
    accuracy_kept: Series[float] = pa.Field(nullable=True)
    se_kept: Series[float] = pa.Field(nullable=True)
    rank_kept: Series[float] = pa.Field(nullable=True)


class ModelRatings(Table):
    """Panel models and their human ratings; models without any similar name are left out.

    In the order in which configurations of one rated model are taken.
    """

    model: Series[str]
    rated_as: Series[str]  # the name in the ratings; "" if it is not clear: see `note`
    rating: Series[float] = pa.Field(nullable=True)
    taken: Series[bool]  # counted; of several configurations of a rated model one is
    note: Series[str]


class RankAgreementTable(Table):
    """Rank agreement between full and kept items, per set of models; NaN has a `reason`.

    `low` and `high` bound the metric over items (clustered bootstrap), `low_models` and
    `high_models` over models; NaN where no interval is given.
    """

    models: Series[str]  # all, filter, held_out, stronger
    metric: Series[str]  # kendall_tau_b, spearman, pearson, arena_pearson_full, …
    value: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    low_models: Series[float] = pa.Field(nullable=True)
    high_models: Series[float] = pa.Field(nullable=True)
    n_models: Series[int]
    n_items: Series[int]
    reason: Series[str]


class RandomComparison(Table):
    """A subset compared with random subsets of its size; key (method, models, metric, random).

    `percentile` is the share (0–100) of random subsets with a lower value, ties counted half;
    `p_value` two-sided from the same draws, `p_holm` corrected over the methods compared.
    """

    method: Series[str]  # kept (this run's items), ire
    models: Series[str]  # all, filter, held_out, stronger
    metric: Series[str]  # kendall_tau_b, tau_b_complement, spread_top, …
    random: Series[str] = pa.Field(isin=["plain", "stratified"])
    value: Series[float] = pa.Field(nullable=True)
    full: Series[float] = pa.Field(nullable=True)  # the same metric of all items, where it has one
    random_mean: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)  # 2.5th percentile of the draws
    random_high: Series[float] = pa.Field(nullable=True)  # 97.5th
    percentile: Series[float] = pa.Field(nullable=True)
    p_value: Series[float] = pa.Field(nullable=True)
    p_holm: Series[float] = pa.Field(nullable=True)
    draws: Series[int]
    n_models: Series[int]
    n_items: Series[int]  # of the subset
    n_full: Series[int]
    reason: Series[str]


class RandomSubsets(Table):
    """The metrics of every random subset, for the histogram; key (method, random, draw, …)."""

    method: Series[str]  # whose size the subset has
    random: Series[str]
    models: Series[str]
    metric: Series[str]
    draw: Series[int]
    value: Series[float] = pa.Field(nullable=True)


class ItemParameters(Table):
    """Two-parameter logistic item response model of the panel's items, and the selection of IRE.

    P(right) = σ(discrimination · (ability − difficulty)), ability standard normal.
    """

    item_id: Series[str] = pa.Field(unique=True)
    difficulty: Series[float] = pa.Field(nullable=True)
    discrimination: Series[float] = pa.Field(nullable=True)
    kept_by_ire: Series[bool]


class SubjectShares(Table):
    """Items per subject before and after (SMART, Table 9)."""

    subject: Series[str] = pa.Field(unique=True)
    n_full: Series[int]
    n_kept: Series[int]
    share_removed: Series[float]


class Agreement(Table):
    """Share of items on which two models give the same answer, before and after (Figure 4)."""

    model_a: Series[str]
    model_b: Series[str]
    kind: Series[str] = pa.Field(isin=["prediction", "correctness"])
    n_full: Series[int]
    full: Series[float] = pa.Field(nullable=True)
    n_kept: Series[int]
    kept: Series[float] = pa.Field(nullable=True)


class SuspectItems(Table):
    """Items in the order in which to review their labels; items without answers are left out."""

    rank: Series[int]  # from 1
    item_id: Series[str] = pa.Field(unique=True)
    subject: Series[str]
    n_models: Series[int]  # models that answered it
    share_wrong: Series[float] = pa.Field(ge=0, le=1)  # each family of models counts once
    # share of families that choose `alternative`, less those that choose a right option
    margin: Series[float] = pa.Field(nullable=True)
    alternative: Series[int]  # the wrong option most often chosen; −1 if no choices are known


class SuspectEffect(Table):
    """How far ranks of models move if suspect items are removed or get another gold answer.

    `low` and `high` are the middle 95% of random removals of as many items.
    """

    change: Series[str] = pa.Field(isin=["removed", "rekeyed", "random"])
    n_items: Series[int]  # changed
    confirmed: Series[bool]  # a review found these items wrong; else the top of the ranking
    kendall_tau_b: Series[float] = pa.Field(nullable=True)  # with the ranking on all items
    tau_b_low: Series[float] = pa.Field(nullable=True)
    tau_b_high: Series[float] = pa.Field(nullable=True)
    largest_shift: Series[float] = pa.Field(nullable=True)  # largest change of a rank
    shift_low: Series[float] = pa.Field(nullable=True)
    shift_high: Series[float] = pa.Field(nullable=True)
