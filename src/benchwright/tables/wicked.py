"""Perturbed copies, their comparison with the original, and single-best-answer items."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Table


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


class PerturbationChanges(Table):
    """Result of each transform in each copy; key (condition, role, item_id, transform)."""

    condition: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    transform: Series[str]
    altered: Series[bool]
    reason: Series[str]  # why the item is unaltered, "" if altered
    removed_choice: Series[str] = pa.Field(nullable=True)
    removed_index: Series[int] = pa.Field(ge=-1)  # −1 if no option was removed
    gold_removed: Series[bool]


class ComparisonScores(Table):
    """Accuracy of a configuration on the original and on the copies (WiCkeD, Table 1).

    Key (perturbation, configuration). Shares are 0–1, bounds those of a 95% interval over items.
    All configurations of a perturbation are compared on the same items. Models are ranked within
    their `asking_style`: `letters-5`, "" if unknown, or `mixed`.
    """

    perturbation: Series[str]  # wicked, …
    configuration: Series[str]
    model: Series[str]
    style: Series[str]  # "" if unknown
    shots: Series[int]  # −1 if unknown
    asking_style: Series[str]
    n_items: Series[int]
    copies: Series[int]
    accuracy_original: Series[float]
    accuracy_mean: Series[float]  # over the copies
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over the copies; NaN for one copy
    delta: Series[float]  # accuracy_mean − accuracy_original
    delta_se: Series[float] = pa.Field(nullable=True)  # over items, paired and clustered
    delta_low: Series[float] = pa.Field(nullable=True)
    delta_high: Series[float] = pa.Field(nullable=True)
    accuracy_altered: Series[float] = pa.Field(nullable=True)  # of altered items, over the copies
    accuracy_altered_original: Series[float] = pa.Field(
        nullable=True
    )  # the same items in the original
    accuracy_gold_removed: Series[float] = pa.Field(
        nullable=True
    )  # of items without their gold option
    rank_original: Series[float] = pa.Field(nullable=True)  # within the asking style
    rank_original_low: Series[float] = pa.Field(nullable=True)
    rank_original_high: Series[float] = pa.Field(nullable=True)
    rank_mean: Series[float] = pa.Field(nullable=True)  # the rank of accuracy_mean
    rank_mean_low: Series[float] = pa.Field(nullable=True)
    rank_mean_high: Series[float] = pa.Field(nullable=True)
    fewer_shots_original: Series[int]  # answers to copies whose original had fewer demonstrations
    fewer_shots_perturbed: Series[int]  # answers to copies that had fewer than the original
    unknown_shots: Series[int]  # answers with an unknown number in copy or original
    delta_equal_shots: Series[float] = pa.Field(nullable=True)  # answers with equal numbers


class ComparisonTransitions(Table):
    """Changes of a configuration's answers to altered items, as shares (WiCkeD, Figure 3)."""

    perturbation: Series[str]
    configuration: Series[str]
    kind: Series[str] = pa.Field(isin=["instruct", "base", ""])  # "" if the model is not listed
    gold: Series[str] = pa.Field(isin=["kept", "removed"])
    n: Series[int]  # altered items, counted in each copy
    stayed_right: Series[float] = pa.Field(nullable=True)
    became_wrong: Series[float] = pa.Field(nullable=True)
    became_right: Series[float] = pa.Field(nullable=True)
    stayed_wrong: Series[float] = pa.Field(nullable=True)


class Rephrasings(Table):
    """Attempts of a chat model to rephrase a question; key (role, item_id, attempt).

    `after` is the wording extracted from the reply, if any. `failed` lists the failed checks,
    separated by commas, or the reason for no wording. `used` marks the wording in use, if any.
    """

    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    model: Series[str]
    before: Series[str]
    reply: Series[str] = pa.Field(nullable=True)  # None if there was no request or no room
    after: Series[str] = pa.Field(nullable=True)
    similarity: Series[float] = pa.Field(nullable=True)
    failed: Series[str]
    used: Series[bool]


class ComparisonSummary(Table):
    """Metrics of all models of a perturbation; key (perturbation, asking_style, metric).

    Bounds are those of a 95% interval over items. `reason` says why a value or its bounds are
    missing.
    """

    perturbation: Series[str]
    asking_style: Series[str]
    metric: Series[str]  # mean_delta, kendall_tau_b, tau_b_between_copies, reversed_pairs, …
    value: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    n_models: Series[int]
    n_items: Series[int]
    copies: Series[int]
    reason: Series[str]


class ComparisonReversals(Table):
    """Pairs of models with opposite orders on the original and on the copies."""

    perturbation: Series[str]
    asking_style: Series[str]
    better_before: Series[str]
    better_after: Series[str]
    gap_original: Series[float]  # accuracy of better_before minus that of better_after, 0–1
    gap_mean: Series[float]  # the same on the copies, negative
    p_holm: Series[float]  # of both gaps, corrected over all pairs


class ComparisonNoneRates(Table):
    """How often a configuration chooses the none-of-the-above option of altered items.

    With `gold` removed the option is right, and the share is the detection rate. With `gold` kept
    it is the false-alarm rate. Answers to all copies are counted; for the bounds, answers to one
    item, or to items of one passage, form a cluster.
    """

    perturbation: Series[str]
    configuration: Series[str]
    gold: Series[str] = pa.Field(isin=["kept", "removed"])
    n: Series[int]
    picked: Series[int]
    share: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    by_chance: Series[float] = pa.Field(nullable=True)  # mean of 1/K
    reason: Series[str]


class ComparisonWritten(Table):
    """Written and scored answers of models that have both (WiCkeD, Table 2).

    Written answers from which no option can be extracted are wrong; `…_extracted` omits them.
    """

    perturbation: Series[str]
    model: Series[str]
    configuration: Series[str]
    written: Series[bool]
    n_items: Series[int]
    accuracy_original: Series[float]
    accuracy_mean: Series[float]
    delta: Series[float]
    delta_low: Series[float] = pa.Field(nullable=True)
    delta_high: Series[float] = pa.Field(nullable=True)
    failed_original: Series[float]  # share of failed extractions
    failed_perturbed: Series[float]
    accuracy_original_extracted: Series[float] = pa.Field(nullable=True)
    accuracy_mean_extracted: Series[float] = pa.Field(nullable=True)
    recovered: Series[float] = pa.Field(nullable=True)  # delta minus that of `compared_with`
    recovered_low: Series[float] = pa.Field(nullable=True)
    recovered_high: Series[float] = pa.Field(nullable=True)
    compared_with: Series[str]  # the scored configuration, "" in its own row


class ComparisonInstruct(Table):
    """Change of accuracy of instruction-tuned and base models (WiCkeD, Table 1).

    `family` is a family with both kinds, "" for the mean of all models, or "families" for the mean
    of the families with both kinds. Differences are instruct minus base.
    """

    perturbation: Series[str]
    asking_style: Series[str]
    family: Series[str]
    n_instruct: Series[int]
    n_base: Series[int]
    delta_instruct: Series[float] = pa.Field(nullable=True)
    delta_base: Series[float] = pa.Field(nullable=True)
    difference: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    reason: Series[str]


class RuleAblation(Table):
    """Accuracy with the first transforms of a perturbation (MMLU-CF, Table 2).

    Key (configuration, step); step 0 is the original. All steps are compared on the same items.
    Bounds are those of a 95% interval over items.
    """

    perturbation: Series[str]  # "" at step 0
    configuration: Series[str]
    model: Series[str]
    style: Series[str]
    shots: Series[int]
    step: Series[int] = pa.Field(ge=0)
    rule: Series[str]  # the transform that this step adds; "none" at step 0
    n_items: Series[int]
    copies: Series[int]
    accuracy: Series[float]
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over copies
    step_delta: Series[float] = pa.Field(nullable=True)  # accuracy minus that of the step before
    step_low: Series[float] = pa.Field(nullable=True)
    step_high: Series[float] = pa.Field(nullable=True)
    total_delta: Series[float] = pa.Field(nullable=True)  # accuracy minus that of step 0
    total_low: Series[float] = pa.Field(nullable=True)
    total_high: Series[float] = pa.Field(nullable=True)


class ComparisonCoverage(Table):
    """Outcomes of each transform, over all copies; key (perturbation, role, transform, outcome)."""

    perturbation: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    transform: Series[str]
    outcome: Series[str]  # altered, or the reason why not
    n: Series[int]  # in all copies
    items: Series[int]  # distinct items
    share: Series[float]  # of all applications of the transform
    gold_removed: Series[int]


class SbaPredictions(Table):
    """Items with and without a single best answer, and the source; key (role, item_id).

    `source` is `label`, `judge`, `model`, `unlabelled` (no label), or `not_judgeable` (no options
    or no gold answer).
    """

    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    probability: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    single_best_answer: Series[bool]
    source: Series[str] = pa.Field(isin=["label", "judge", "model", "unlabelled", "not_judgeable"])
