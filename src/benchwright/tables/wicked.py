"""Altered copies of items, answers to them, and single-best-answer items."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Table


class PerturbedItems(Table):
    """Altered items and the demonstrations shown with them; key (condition, role, item_id).

    The other columns are those of `Items`; `item_id` is the original's, so that answers to a copy
    join the item it was made from.
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
    """What each transform of each copy did; key (condition, role, item_id, transform)."""

    condition: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    transform: Series[str]
    altered: Series[bool]
    reason: Series[str]  # why the item was copied, "" where it was altered
    removed_choice: Series[str] = pa.Field(nullable=True)
    removed_index: Series[int] = pa.Field(ge=-1)  # −1 where no option was removed
    gold_removed: Series[bool]


class ComparisonScores(Table):
    """A configuration's accuracy on the items as they were and on their copies (WiCkeD, Table 1).

    Shares are 0–1, bounds those of 95% over items. Key (perturbation, configuration); all
    configurations of a perturbation are compared on the same items. Models are ranked within
    their `asking_style`: `letters-5`, "" where it is not known, or `mixed`.
    """

    perturbation: Series[str]  # wicked, …
    configuration: Series[str]
    model: Series[str]
    style: Series[str]  # "" where an import does not say
    shots: Series[int]  # −1 where an import does not say
    asking_style: Series[str]
    n_items: Series[int]
    copies: Series[int]
    accuracy_original: Series[float]
    accuracy_mean: Series[float]  # over the copies
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over the copies; NaN of one
    delta: Series[float]  # accuracy_mean − accuracy_original
    delta_se: Series[float] = pa.Field(nullable=True)  # over items, paired and clustered
    delta_low: Series[float] = pa.Field(nullable=True)
    delta_high: Series[float] = pa.Field(nullable=True)
    accuracy_altered: Series[float] = pa.Field(nullable=True)  # of altered items, over the copies
    accuracy_altered_original: Series[float] = pa.Field(nullable=True)  # the same before
    accuracy_gold_removed: Series[float] = pa.Field(nullable=True)  # where the gold went
    rank_original: Series[float] = pa.Field(nullable=True)  # among those asked alike
    rank_original_low: Series[float] = pa.Field(nullable=True)
    rank_original_high: Series[float] = pa.Field(nullable=True)
    rank_mean: Series[float] = pa.Field(nullable=True)  # the rank of accuracy_mean
    rank_mean_low: Series[float] = pa.Field(nullable=True)
    rank_mean_high: Series[float] = pa.Field(nullable=True)
    fewer_shots_original: Series[int]  # answers to copies whose original had fewer demonstrations
    fewer_shots_perturbed: Series[int]  # answers to copies that had fewer than the original
    unknown_shots: Series[int]  # answers to copies of which one side does not say
    delta_equal_shots: Series[float] = pa.Field(nullable=True)  # where both sides had as many


class ComparisonTransitions(Table):
    """What became of a configuration's answers to altered items, as shares (WiCkeD, Figure 3)."""

    perturbation: Series[str]
    configuration: Series[str]
    gold: Series[str] = pa.Field(isin=["kept", "removed"])
    n: Series[int]  # altered items, counted in each copy
    stayed_right: Series[float] = pa.Field(nullable=True)
    became_wrong: Series[float] = pa.Field(nullable=True)
    became_right: Series[float] = pa.Field(nullable=True)
    stayed_wrong: Series[float] = pa.Field(nullable=True)


class OptionWordings(Table):
    """Options that say none or all of the above, or name others; key (role, item_id, place).

    `place` is the option's index, −1 where it is the question that names options.
    """

    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    subject: Series[str]
    place: Series[int] = pa.Field(ge=-1)
    kind: Series[str] = pa.Field(
        isin=["none_of_the_above", "all_of_the_above", "refers_to_options"]
    )
    text: Series[str]
    gold: Series[bool]  # whether it is the right option


class Rephrasings(Table):
    """What a chat model made of a question; key (role, item_id, attempt).

    `after` is the new wording that was read off the reply, None where none was; `failed` names the
    checks it did not pass, by comma, or why there is none; `used` marks the
    attempt that was taken, if any.
    """

    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    model: Series[str]
    before: Series[str]
    reply: Series[str] = pa.Field(nullable=True)  # None where nothing was asked or it did not fit
    after: Series[str] = pa.Field(nullable=True)
    similarity: Series[float] = pa.Field(nullable=True)
    failed: Series[str]
    used: Series[bool]


class ComparisonSummary(Table):
    """Metrics of all models of a perturbation; key (perturbation, asking_style, metric).

    Bounds are those of 95% over items; `reason` says why a value or its bounds are missing.
    """

    perturbation: Series[str]
    asking_style: Series[str]  # the way of asking
    metric: Series[str]  # mean_delta, kendall_tau_b, tau_b_between_copies, reversed_pairs, …
    value: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    n_models: Series[int]
    n_items: Series[int]
    copies: Series[int]
    reason: Series[str]


class ComparisonReversals(Table):
    """Pairs of models whose order on the copies is the opposite of that before."""

    perturbation: Series[str]
    asking_style: Series[str]
    better_before: Series[str]
    better_after: Series[str]
    gap_original: Series[float]  # accuracy of better_before minus that of better_after, 0–1
    gap_mean: Series[float]  # the same on the copies, negative
    p_holm: Series[float]  # of both gaps, corrected over all pairs


class ComparisonNoneRates(Table):
    """How often a configuration picks the none-of-the-above option of altered items.

    `gold` removed: it is right, and the share is the rate of detection; kept: the right option is
    there, and the share is the rate of false alarms. Answers of all copies are counted; bounds take
    those to one item (and to items of one passage) as one.
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
    """Answers written out beside answers by score, of models that have both (WiCkeD, Table 2).

    A written answer from which no option can be read is wrong; `…_extracted` leaves it out.
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
    failed_original: Series[float]  # share of answers without a readable option
    failed_perturbed: Series[float]
    accuracy_original_extracted: Series[float] = pa.Field(nullable=True)
    accuracy_mean_extracted: Series[float] = pa.Field(nullable=True)
    recovered: Series[float] = pa.Field(nullable=True)  # delta minus that of `compared_with`
    recovered_low: Series[float] = pa.Field(nullable=True)
    recovered_high: Series[float] = pa.Field(nullable=True)
    compared_with: Series[str]  # the configuration by score, "" in its own row


class ComparisonInstruct(Table):
    """What a perturbation costs instruction-tuned and base models (WiCkeD, Table 1).

    `family` names a family that has both; "" compares the mean over all models, "families" the
    mean over the families that have both. Differences are instruct minus base.
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
    """Accuracy with the first rules of a perturbation, one more at a time (MMLU-CF, Table 2).

    Key (configuration, step); step 0 are the items as they were. All steps are compared on the
    same items; bounds are those of 95% over items.
    """

    perturbation: Series[str]  # "" at step 0
    configuration: Series[str]
    model: Series[str]
    style: Series[str]
    shots: Series[int]
    step: Series[int] = pa.Field(ge=0)
    rule: Series[str]  # the one that this step adds; "none" at step 0
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


class ComparisonDemonstrations(Table):
    """Prompts that show a demonstration without its right option; key (configuration, condition).

    `expected` is the mean over prompts of 1 − Π(1 − a/K) over the demonstrations used, with a = 1
    where a demonstration was altered; `expected_all` the same as if all had been.
    """

    configuration: Series[str]
    condition: Series[str]
    prompts: Series[int]
    shown: Series[int]  # prompts with at least one demonstration
    sets: Series[int]  # different sets of demonstrations
    with_none_gold: Series[int]  # prompts with a demonstration whose right option was removed
    share: Series[float] = pa.Field(nullable=True)  # of the prompts with demonstrations
    expected: Series[float] = pa.Field(nullable=True)
    expected_all: Series[float] = pa.Field(nullable=True)


class ComparisonPrompts(Table):
    """Prompts of the items as they were and of their copies: equal ones are asked once."""

    model: Series[str] = pa.Field(unique=True)
    prompts: Series[int]
    distinct: Series[int]
    shared: Series[int]  # prompts − distinct


class ComparisonCoverage(Table):
    """What each transform did, over all copies; key (perturbation, role, transform, outcome)."""

    perturbation: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    transform: Series[str]
    outcome: Series[str]  # altered, or the reason why not
    n: Series[int]  # in all copies
    items: Series[int]  # different ones
    share: Series[float]  # of those that reached the transform in any copy
    gold_removed: Series[int]


class SbaLabels(Table):
    """Who called which item a single-best-answer item; key (item_id, labeller).

    `probability` is the classifier's: of training items out of fold, NaN of items whose text is not
    there. `split` says what the item was used for: `missing` where its text is not there, `unused`
    where it has no options or no known gold.
    """

    item_id: Series[str]
    benchmark: Series[str]
    labeller: Series[str]  # an annotator, or judge:<model>
    label: Series[int] = pa.Field(isin=[0, 1])
    doubt: Series[bool]
    probability: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    split: Series[str] = pa.Field(isin=["train", "held_out", "left_out", "missing", "unused"])


class SbaEvaluation(Table):
    """How well single-best-answer items are found; key (part, benchmark, method, against).

    Shares are 0–1, bounds are 95% Wilson intervals. `recall_sure` counts labels without doubt.
    """

    part: Series[str] = pa.Field(isin=["held_out", "cross_validation", "left_out", "read_twice"])
    benchmark: Series[str]  # or all
    method: Series[str]  # classifier, heuristic, flag_all, judge:<model>, annotator <name>
    against: Series[str]  # labels, judge, annotator <name>
    n: Series[int]
    positives: Series[int]
    sure_positives: Series[int]
    flagged: Series[int]
    share_flagged: Series[float]
    recall: Series[float] = pa.Field(nullable=True)
    recall_low: Series[float] = pa.Field(nullable=True)
    recall_high: Series[float] = pa.Field(nullable=True)
    recall_sure: Series[float] = pa.Field(nullable=True)
    recall_sure_low: Series[float] = pa.Field(nullable=True)
    recall_sure_high: Series[float] = pa.Field(nullable=True)
    precision: Series[float] = pa.Field(nullable=True)
    precision_low: Series[float] = pa.Field(nullable=True)
    precision_high: Series[float] = pa.Field(nullable=True)
    average_precision: Series[float] = pa.Field(nullable=True)  # chance: positives / n
    roc_auc: Series[float] = pa.Field(nullable=True)
    p_value: Series[float] = pa.Field(nullable=True)  # of ranks no better than chance
    paper_share: Series[float] = pa.Field(nullable=True)  # WiCkeD, Table 5
    reason: Series[str]  # why recall is NaN, or ""


class SbaPredictions(Table):
    """Which items were taken to have a single best answer, and why; key (role, item_id).

    `source` is `label`, `model`, `unlabelled` (nobody has said), or `not_judgeable` (no options, or
    no known gold).
    """

    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    probability: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    single_best_answer: Series[bool]
    source: Series[str] = pa.Field(isin=["label", "model", "unlabelled", "not_judgeable"])
