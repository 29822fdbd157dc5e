"""Perturbed copies, their comparison with the original, and single-best-answer items."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Columns, Table


class PerturbedItems(Table):
    """Items and demonstrations of the perturbed copies; key (condition, role, item_id).

    The other columns are those of `Items`. `item_id` is that of the original item, so that answers
    to a copy join it.
    """

    condition: Series[str]  # e.g. wicked-3
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    subject: Series[str]
    question: Series[str]
    choices: Series[object]
    answer: Series[int] = pa.Field(ge=-1)
    answer_text: Series[str]
    explanation: Series[str] = pa.Field(nullable=True)
    content_hash: Series[str]


PerturbationChanges = Columns(
    (str, "condition", "role", "item_id", "transform"),
    (bool, "altered"),
    (str, "reason", "removed_choice"),  # reason: why the item is unaltered, "" if altered
    (int, "removed_index"),  # −1 if no option was removed
    (bool, "gold_removed"),
)
"""Result of each transform in each copy; key (condition, role, item_id, transform)."""


ComparisonScores = Columns(
    (str, "perturbation", "configuration", "model", "style"),
    (int, "shots"),
    (str, "asking_style"),
    (int, "n_items", "copies"),
    # delta: accuracy_mean − accuracy_original
    (float, "accuracy_original", "accuracy_mean", "accuracy_sd", "delta", "delta_se", "delta_low"),
    # accuracy_gold_removed: of items without their gold option
    (float, "delta_high", "accuracy_altered", "accuracy_altered_original", "accuracy_gold_removed"),
    (float, "rank_original", "rank_original_low", "rank_original_high", "rank_mean"),
    (float, "rank_mean_low", "rank_mean_high"),
)
"""Accuracy of a configuration on the original and on the copies (WiCkeD, Table 1).

Key (perturbation, configuration). Shares are 0–1, bounds those of a 95% interval over items.
All configurations of a perturbation are compared on the same items. Models are ranked within
their `asking_style`: `letters-5`, "" if unknown, or `mixed`.
"""

ComparisonTransitions = Columns(
    (str, "perturbation", "configuration", "kind", "gold"),
    (int, "n"),
    (float, "stayed_right", "became_wrong", "became_right", "stayed_wrong"),
)
"""Changes of a configuration's answers to altered items, as shares (WiCkeD, Figure 3)."""

Rephrasings = Columns(
    (str, "role", "item_id"),
    (int, "attempt"),
    (str, "model", "before", "reply", "after"),  # reply: None if there was no request or no room
    (float, "similarity"),
    (str, "failed"),
    (bool, "used"),
)
"""Attempts of a chat model to rephrase a question; key (role, item_id, attempt).

`after` is the wording extracted from the reply, if any. `failed` lists the failed checks,
separated by commas, or the reason for no wording. `used` marks the wording in use, if any.
"""

ComparisonSummary = Columns(
    (str, "perturbation", "asking_style", "metric"),
    (float, "value", "low", "high"),
    (int, "n_models", "n_items", "copies"),
    (str, "reason"),
)
"""Metrics of all models of a perturbation; key (perturbation, asking_style, metric).

Bounds are those of a 95% interval over items. `reason` says why a value or its bounds are
missing.
"""

ComparisonNoneRates = Columns(
    (str, "perturbation", "configuration", "gold"),
    (int, "n", "picked"),
    (float, "share", "low", "high", "by_chance"),  # by_chance: mean of 1/K
    (str, "reason"),
)
"""How often a configuration chooses the none-of-the-above option of altered items.

With `gold` removed the option is right, and the share is the detection rate. With `gold` kept
it is the false-alarm rate. Answers to all copies are counted; for the bounds, answers to one
item, or to items of one passage, form a cluster.
"""

ComparisonWritten = Columns(
    (str, "perturbation", "model", "configuration"),
    (bool, "written"),
    (int, "n_items"),
    (float, "accuracy_original", "accuracy_mean", "delta", "delta_low", "delta_high"),
    (float, "failed_original", "failed_perturbed"),
    # recovered: delta minus that of `compared_with`
    (float, "recovered", "recovered_low", "recovered_high"),
    (str, "compared_with"),  # compared_with: the scored configuration, "" in its own row
)
"""Written and scored answers of models that have both (WiCkeD, Table 2).

Written answers from which no option can be extracted are wrong.
"""

ComparisonInstruct = Columns(
    (str, "perturbation", "asking_style", "family"),
    (int, "n_instruct", "n_base"),
    (float, "delta_instruct", "delta_base", "difference", "low", "high"),
    (str, "reason"),
)
"""Change of accuracy of instruction-tuned and base models (WiCkeD, Table 1).

`family` is a family with both kinds, or "" for all models. Differences are instruct minus base.
"""

RuleAblation = Columns(
    (str, "perturbation", "configuration", "model", "style"),
    (int, "shots", "step"),
    (str, "rule"),  # rule: the transform that this step adds; "none" at step 0
    (int, "n_items", "copies"),
    # step_delta: accuracy minus that of the step before; total_delta: accuracy minus that of
    # step 0
    (float, "accuracy", "accuracy_sd", "step_delta", "step_low", "step_high", "total_delta"),
    (float, "total_low", "total_high"),
)
"""Accuracy with the first transforms of a perturbation (MMLU-CF, Table 2).

Key (configuration, step); step 0 is the original. All steps are compared on the same items.
Bounds are those of a 95% interval over items.
"""

ComparisonCoverage = Columns(
    # outcome: altered, or the reason why not
    (str, "perturbation", "role", "transform", "outcome"),
    (int, "n", "items"),  # items: distinct items
    (float, "share"),
    (int, "gold_removed"),
)
"""Outcomes of each transform, over all copies; key (perturbation, role, transform, outcome)."""

SbaPredictions = Columns(
    (str, "role", "item_id"),
    (float, "probability"),
    (bool, "single_best_answer"),
    (str, "source"),
)
"""Items with and without a single best answer, and the source; key (role, item_id).

`source` is `label`, `judge`, `model`, `unlabelled` (no label), or `not_judgeable` (no options
or no gold answer).
"""
