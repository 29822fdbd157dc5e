"""Scores, rank agreement and random subsets."""

from benchwright.tables.base import Columns

Scores = Columns(
    (str, "model", "role"),
    (int, "n_full"),
    (float, "accuracy_full", "se_full", "rank_full"),
    (int, "n_kept"),
    (float, "accuracy_kept", "se_kept", "rank_kept"),
)
"""A model's accuracy on the full and on the kept items (SMART, Tables 2 and 10–12)."""

ModelRatings = Columns(
    # rated_as: the name in the ratings; "" if it is not clear: see `note`
    (str, "model", "rated_as"),
    (float, "rating"),
    (bool, "taken"),  # taken: counted; of several configurations of a rated model one is
    (str, "note"),
)
"""Panel models and their human ratings; models without any similar name are left out.

In the order in which configurations of one rated model are taken.
"""

RankAgreementTable = Columns(
    (str, "models", "metric"),
    (float, "value", "low", "high", "low_models", "high_models"),
    (int, "n_models", "n_items"),
    (str, "reason"),
)
"""Rank agreement between full and kept items, per set of models; NaN has a `reason`.

`low` and `high` bound the metric over items (clustered bootstrap), `low_models` and
`high_models` over models; NaN where no interval is given.
"""

RandomComparison = Columns(
    (str, "method", "models", "metric", "random"),
    # full: the same metric of all items, where it has one
    (float, "value", "full", "random_mean", "random_low", "random_high", "percentile", "p_value"),
    (float, "p_holm"),
    (int, "draws", "n_models", "n_items", "n_full"),
    (str, "reason"),
)
"""A subset compared with random subsets of its size; key (method, models, metric, random).

`percentile` is the share (0–100) of random subsets with a lower value, ties counted half;
`p_value` two-sided from the same draws, `p_holm` corrected over the methods compared.
"""

RandomSubsets = Columns(
    (str, "method", "random", "models", "metric"),
    (int, "draw"),
    (float, "value"),
)
"""The metrics of every random subset, for the histogram; key (method, random, draw, …)."""

ItemParameters = Columns(
    (str, "item_id"),
    (float, "difficulty", "discrimination"),
    (bool, "kept_by_ire"),
)
"""Two-parameter logistic item response model of the panel's items, and the selection of IRE.

P(right) = σ(discrimination · (ability − difficulty)), ability standard normal.
"""

SubjectShares = Columns(
    (str, "subject"),
    (int, "n_full", "n_kept"),
    (float, "share_removed"),
)
"""Items per subject before and after (SMART, Table 9)."""

Agreement = Columns(
    (str, "model_a", "model_b", "kind"),
    (int, "n_full"),
    (float, "full"),
    (int, "n_kept"),
    (float, "kept"),
)
"""Share of items on which two models give the same answer, before and after (Figure 4)."""

SuspectItems = Columns(
    (int, "rank"),
    (str, "item_id", "subject"),
    (int, "n_models"),
    # margin: share of families that choose `alternative`, less those that choose a right
    # option
    (float, "share_wrong", "margin"),
    # alternative: the wrong option most often chosen; −1 if no choices are known
    (int, "alternative"),
)
"""Items in the order in which to review their labels; items without answers are left out."""
