"""The tables that cross a pipeline boundary, as Pandera models.

Every table has its columns in the order given here; identifiers are strings. A table that a later
stage cannot do without refuses to be empty (`NotEmpty`), so that the version left by a failed run
never passes for a result.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pandera.pandas as pa
from pandera.typing import Series

RULES = (
    "anomalous",
    "easy",
    "easy_unanimous",  # in place of easy where answers have no probabilities
    "answer_only",
    "suspect_label",
    "conflicting_gold",
    "duplicate",
    "similar",
)
"""The filters' rules, in the order in which tables and pages list them (docs/smart.md)."""


class Table(pa.DataFrameModel):
    """Base of all tables: exactly these columns, in this order, coerced to their types."""

    class Config:
        strict = True
        ordered = True
        coerce = True

    @classmethod
    def columns(cls) -> list[str]:
        """Column names in order."""
        return list(cls.to_schema().columns)

    @classmethod
    def empty(cls, *_: Any) -> pd.DataFrame:  # type: ignore[override]
        """A table with the right columns and types and no rows (for tables that may be empty)."""
        schema = cls.to_schema()
        return pd.DataFrame(
            {name: pd.Series(dtype=str(column.dtype)) for name, column in schema.columns.items()}
        )

    @classmethod
    def from_rows(cls, rows: Sequence[Any]) -> pd.DataFrame:
        """A validated table from tuples (in column order) or mappings; no rows give `empty()`."""
        if not rows:
            return cls.empty()
        frame = pd.DataFrame(list(rows), columns=cls.columns())
        return pd.DataFrame(cls.validate(frame))


class NotEmpty(Table):
    """A table that must have rows."""

    @pa.dataframe_check(error="the table is empty")
    def has_rows(self, frame: pd.DataFrame) -> bool:  # pandera passes the class
        return len(frame) > 0


class ItemRows(Table):
    """One row per question. `answer` is an index into `choices`, −1 where open-ended."""

    item_id: Series[str] = pa.Field(unique=True)
    split: Series[str]
    subject: Series[str]
    question: Series[str]
    choices: Series[object]  # list[str], 2–26, or [] for open-ended
    answer: Series[int] = pa.Field(ge=-1)
    answer_text: Series[str]
    correct_set: Series[object]  # list[int]: every right option (MC2); [answer] otherwise
    passage_id: Series[str] = pa.Field(nullable=True)
    explanation: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    url: Series[str] = pa.Field(nullable=True)
    source_id: Series[str] = pa.Field(nullable=True)
    content_hash: Series[str]


class Items(ItemRows):
    """The questions of a benchmark: never empty."""

    @pa.dataframe_check(error="the table is empty")
    def has_rows(self, frame: pd.DataFrame) -> bool:  # pandera passes the class
        return len(frame) > 0


class Demonstrations(ItemRows):
    """Worked examples shown before the question, or items to calibrate on; may be empty."""


class RemovedItems(ItemRows):
    """Items that a rule removed; may be empty."""


class RejectedItems(Table):
    """Source rows that could not become items: `len(raw) == len(items) + len(rejected)`.

    `row` is the 0-based position in the source, `raw` the whole row as JSON text.
    """

    row: Series[int] = pa.Field(ge=0)
    rule: Series[str]
    detail: Series[str]
    raw: Series[str]


class Draws(Table):
    """Altered items and the demonstrations shown with them; key (condition, role, item_id).

    The other columns are those of `Items`; `item_id` is the original's, so that answers to a draw
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
    """What each transform of each draw did; key (condition, role, item_id, transform)."""

    condition: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    item_id: Series[str]
    transform: Series[str]
    altered: Series[bool]
    reason: Series[str]  # why the item was copied, "" where it was altered
    removed_choice: Series[str] = pa.Field(nullable=True)
    removed_index: Series[int] = pa.Field(ge=-1)  # −1 where no option was removed
    gold_removed: Series[bool]


class Prompts(Table):
    """One row per (configuration, item, condition): the text a model sees and what is scored.

    `prefix` is the demonstrations' text, shared by many rows and kept once (a categorical); `text`
    is what follows it, so the model reads `prefix + text`. `continuations` are the strings whose
    log-likelihood is taken; there are none where the model answers in its own words, with at most
    `max_new_tokens` tokens. `configuration` is `<model>@<style>-<shots>`. `labels` and `answer`
    are those of the options as shown.
    """

    prompt_id: Series[str]
    configuration: Series[str]
    model: Series[str]
    item_id: Series[str]
    condition: Series[str]
    style: Series[str] = pa.Field(isin=["letters", "cloze", "generate"])
    shots: Series[int] = pa.Field(ge=0)
    shots_used: Series[int] = pa.Field(ge=0)  # fewer where the context is too short for all
    demonstrations: Series[pd.CategoricalDtype]  # ids of those used, as a JSON list
    template: Series[str]
    prefix: Series[pd.CategoricalDtype]
    text: Series[str]
    continuations: Series[object]  # list[str]
    labels: Series[object]  # list[str]
    answer: Series[int]
    max_new_tokens: Series[int] = pa.Field(ge=0)  # 0 where continuations are scored
    options: Series[object]  # list[str] as shown, where an answer is read off what is written
    answer_text: Series[str]  # the same
    stop: Series[object]  # list[str], texts that end what is written


class Responses(Table):
    """One model's answer to one item; key (item_id, condition, style, shots, model)."""

    item_id: Series[str]
    condition: Series[str]
    style: Series[str]  # "letters", "cloze", … or "" where an import does not say
    shots: Series[int]  # −1 where an import does not say
    model: Series[str]
    logprobs: Series[object] = pa.Field(nullable=True)  # list[float] per option, or None
    option_bytes: Series[object] = pa.Field(nullable=True)  # list[int] per option, or None
    option_tokens: Series[object] = pa.Field(nullable=True)
    prediction: Series[int] = pa.Field(ge=-1)  # option index; −1 unknown
    p_answer: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    p_prediction: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    correct: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    shots_used: Series[int]  # −1 unknown
    prompt_tokens: Series[int]  # −1 unknown
    generated_tokens: Series[int]
    extraction: Series[str] = pa.Field(isin=["ok", "failed", "too_long", "none"])
    prompt_id: Series[str] = pa.Field(nullable=True)
    source: Series[str]  # "live" or the name of the file it came from


class Generations(Table):
    """What models wrote; key (model, style, shots, condition, item_id, sample).

    `extracted` is the option's letter or the final answer that was read off, None where none was.
    """

    model: Series[str]
    style: Series[str]
    shots: Series[int]
    condition: Series[str]
    item_id: Series[str]
    sample: Series[int] = pa.Field(ge=0)
    text: Series[str]
    finish: Series[str] = pa.Field(isin=["stop", "length"])
    extracted: Series[str] = pa.Field(nullable=True)
    rule: Series[str]  # what decided: stated, boxed, bare_letter, …, none
    prompt_id: Series[str]


class ScoringBudget(Table):
    """What a run would ask, counted before anything is scored; key (configuration, condition).

    `tokens` are those of all prompts as if each were read alone; `tokens_computed` those that are
    left when equal prompts are asked once, shared prefixes are read once and stored answers are
    not asked again. `written_at_most` is the limit on what is written.
    """

    configuration: Series[str]
    condition: Series[str]
    prompts: Series[int]
    distinct: Series[int]
    stored: Series[int]
    too_long: Series[int]
    shots_dropped: Series[int]
    tokens: Series[int]
    tokens_computed: Series[int]
    written_at_most: Series[int]
    counted: Series[str] = pa.Field(isin=["tokenizer", "estimate"])


class RecordedAnswers(NotEmpty):
    """Live answers kept as a log: a tidy file that the responses stage imports."""

    item_id: Series[str]
    content_hash: Series[str]
    condition: Series[str]
    style: Series[str]
    shots: Series[int]
    model: Series[str]
    logprobs: Series[object] = pa.Field(nullable=True)  # list[float] per option, or None
    option_bytes: Series[object] = pa.Field(nullable=True)  # list[int] per option, or None
    option_tokens: Series[object] = pa.Field(nullable=True)
    prediction: Series[int] = pa.Field(ge=-1)  # of a written answer; −1 beside log-likelihoods
    correct: Series[float] = pa.Field(nullable=True, ge=0, le=1)


class Models(Table):
    """One row per model, from conf/base/parameters/models.yml or read from the name."""

    model: Series[str] = pa.Field(unique=True)
    family: Series[str]
    organisation: Series[str] = pa.Field(nullable=True)
    size_b: Series[float] = pa.Field(nullable=True)
    instruct: Series[bool]
    date: Series[str] = pa.Field(nullable=True)


class ImportReport(Table):
    """What became of each imported file, counted in rows (item × model).

    `rows` is the sum of joined_by_id, joined_by_hash, not_joined, doubled and dropped.
    """

    file: Series[str]
    layout: Series[str]
    models: Series[int]
    rows: Series[int]
    joined_by_id: Series[int]
    joined_by_hash: Series[int]
    not_joined: Series[int]
    doubled: Series[int]
    contradicting: Series[int]  # `correct` disagrees with prediction and gold
    dropped: Series[int]  # a value out of range, or no answer at all
    detail: Series[str]


class AnswerCoverage(Table):
    """What each configuration answered under each condition; key (configuration, condition).

    `superseded` counts recorded answers that a live one replaced; over the `compared` of them
    that had a probability, `mean_abs_difference` is the mean |p_answer live − recorded|.
    """

    configuration: Series[str]
    condition: Series[str]
    source: Series[str]  # live, recorded, both
    answered: Series[int]
    exact_ties: Series[int]  # the best score shared by several options; the first was taken
    not_extracted: Series[int]  # written answers from which no option or final answer was read
    too_long: Series[int]  # prompts beyond the model's context even without demonstrations
    superseded: Series[int]
    compared: Series[int]
    mean_abs_difference: Series[float] = pa.Field(nullable=True)


class Calibration(Table):
    """The softmax temperature of each configuration, fitted on the calibration split."""

    configuration: Series[str] = pa.Field(unique=True)
    n: Series[int]
    temperature: Series[float] = pa.Field(gt=0)
    nll_before: Series[float] = pa.Field(nullable=True)
    nll_after: Series[float] = pa.Field(nullable=True)
    accuracy: Series[float] = pa.Field(nullable=True)


class Embeddings(Table):
    """One vector per item; `text_hash` and `encoder` say what was encoded with what.

    Empty where a variant uses no embeddings.
    """

    item_id: Series[str] = pa.Field(unique=True)
    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length


class EncoderVectors(Table):
    """Vectors of the same items from several encoders; key (encoder, item_id)."""

    item_id: Series[str]
    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length


class Neighbours(Table):
    """The k nearest other items of each item by cosine distance, nearest first."""

    item_id: Series[str]
    neighbour: Series[str]
    distance: Series[float] = pa.Field(ge=0, le=2)


class DistanceDensity(Table):
    """The kernel density of neighbour distances on its grid; `peak` marks local maxima."""

    x: Series[float]
    y: Series[float] = pa.Field(ge=0)
    peak: Series[bool]


class ThresholdSensitivity(Table):
    """What each kernel bandwidth would make of the threshold (the rule is discontinuous)."""

    bandwidth: Series[float]
    peaks: Series[int]
    branch: Series[str]  # first_peak, halved, fixed
    threshold: Series[float] = pa.Field(nullable=True)
    items_within: Series[int]
    share_within: Series[float]


class Groups(Table):
    """Groups of redundant items and which of their members stay."""

    group_id: Series[str]
    item_id: Series[str]
    kind: Series[str] = pa.Field(isin=["duplicate", "conflicting_gold", "similar"])
    kept: Series[bool]


class Verdicts(Table):
    """One rule's word on one item; key (item_id, rule).

    `flagged`: the rule applies; `removed`: the item goes because of it (easy items that are
    retained are flagged and not removed). `not_judged`: an input was missing for this item.
    """

    item_id: Series[str]
    rule: Series[str]
    state: Series[str] = pa.Field(isin=["flagged", "clear", "not_judged"])
    removed: Series[bool]
    value: Series[float] = pa.Field(nullable=True)
    detail: Series[str]


class ItemAudit(Table):
    """One row per item: each rule's state, and the final decision with its reasons."""

    item_id: Series[str]
    subject: Series[str]
    decision: Series[str] = pa.Field(isin=["kept", "removed"])
    tags: Series[str]  # comma-joined, e.g. retained_easy, suspect_label
    removed_by: Series[str]  # comma-joined rule names
    reasons: Series[str]  # in words
    anomalous: Series[str]
    easy: Series[str]
    easy_unanimous: Series[str]  # in place of easy where answers have no probabilities
    answer_only: Series[str]
    suspect_label: Series[str]
    conflicting_gold: Series[str]
    duplicate: Series[str]
    similar: Series[str]
    neighbour: Series[str] = pa.Field(nullable=True)
    neighbour_distance: Series[float] = pa.Field(nullable=True)
    question: Series[str]
    choices: Series[object]
    answer: Series[int]


class RuleCoverage(Table):
    """Whether each rule ran, on how many items, and what it found (shares of all items, 0–1)."""

    rule: Series[str] = pa.Field(unique=True)
    status: Series[str] = pa.Field(isin=["ran", "partial", "not_run", "off"])
    judged: Series[int]
    not_judged: Series[int]
    flagged: Series[int]
    retained: Series[int]
    removed: Series[int]
    share_removed: Series[float] = pa.Field(nullable=True)
    reason: Series[str]  # why it did not run, or ""


class Overlaps(Table):
    """How many items two rules both remove (the rules of Table 1 overlap)."""

    rule_a: Series[str]
    rule_b: Series[str]
    n: Series[int]
    share: Series[float]


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


class RankAgreementTable(Table):
    """Rank agreement between full and kept items, per set of models; NaN has a `reason`.

    `low` and `high` bound the figure over items (clustered bootstrap), `low_models` and
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


class Yardstick(Table):
    """A subset of items beside random subsets of its size; key (method, models, metric, random).

    `percentile` is the share (0–100) of random subsets with a lower value, ties counted half;
    `p_value` two-sided from the same draws, `p_holm` corrected over the methods compared.
    """

    method: Series[str]  # kept (this run's items), ire
    models: Series[str]  # all, filter, held_out, stronger
    metric: Series[str]  # kendall_tau_b, tau_b_complement, spread_top, …
    random: Series[str] = pa.Field(isin=["plain", "stratified"])
    value: Series[float] = pa.Field(nullable=True)
    full: Series[float] = pa.Field(nullable=True)  # the same figure of all items, where it has one
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
    """The figures of every random subset, for the histogram; key (method, random, draw, …)."""

    method: Series[str]  # whose size the subset has
    random: Series[str]
    models: Series[str]
    metric: Series[str]
    draw: Series[int]
    value: Series[float] = pa.Field(nullable=True)


class MethodComparison(Table):
    """The kept items beside all items, random subsets and IRE (SMART, Tables 3–5)."""

    method: Series[str]  # full, kept, random, ire
    metric: Series[str]  # kendall_tau_b, arena_pearson
    models: Series[str]  # all, held_out
    value: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    share_removed: Series[float] = pa.Field(nullable=True)
    n_models: Series[int]
    n_items: Series[int]
    reason: Series[str]


class ItemParameters(Table):
    """Two-parameter logistic item response model of the panel's items, and what IRE would keep.

    P(right) = σ(discrimination · (ability − difficulty)), ability standard normal.
    """

    item_id: Series[str] = pa.Field(unique=True)
    difficulty: Series[float] = pa.Field(nullable=True)
    difficulty_se: Series[float] = pa.Field(nullable=True)
    discrimination: Series[float] = pa.Field(nullable=True)
    discrimination_se: Series[float] = pa.Field(nullable=True)
    kept_by_ire: Series[bool]


class Funnel(Table):
    """From source rows to kept items: what each step took from what the steps before had left."""

    step: Series[str] = pa.Field(unique=True)  # source rows, malformed, <rule> …, kept
    kind: Series[str] = pa.Field(isin=["start", "removed", "end"])
    removed: Series[int]
    left: Series[int]


class FilterModelAblation(Table):
    """What a subset of the filter models would have removed (SMART, section 5.1 and Table 6)."""

    n_models: Series[int]
    models: Series[str]  # comma-joined
    removed: Series[int]
    share_removed: Series[float]
    easy: Series[int]  # removed by the rule about easy items (net of retained ones)
    answer_only: Series[int]


class NeighbourConvergence(Table):
    """The threshold δ if each item's k nearest neighbours made the density (SMART, Figure 5)."""

    k: Series[int] = pa.Field(unique=True)
    peaks: Series[int]
    branch: Series[str]
    threshold: Series[float] = pa.Field(nullable=True)
    items_within: Series[int]
    share_within: Series[float]


class DensityByK(Table):
    """The densities behind `NeighbourConvergence`, thinned out for plotting."""

    k: Series[int]
    x: Series[float]
    y: Series[float] = pa.Field(ge=0)


class EncoderOverlap(Table):
    """Do two encoders call the same items similar? (SMART, Tables 7 and 8)

    An item is similar when its nearest neighbour is closer than its encoder's own δ.
    """

    encoder_a: Series[str]
    encoder_b: Series[str]
    n_items: Series[int]
    threshold_a: Series[float] = pa.Field(nullable=True)
    threshold_b: Series[float] = pa.Field(nullable=True)
    similar_a: Series[int]
    similar_b: Series[int]
    both: Series[int]
    share_of_a: Series[float] = pa.Field(nullable=True)  # both / similar_a
    share_of_b: Series[float] = pa.Field(nullable=True)
    jaccard: Series[float] = pa.Field(nullable=True)  # both / either
    same_verdict: Series[float] = pa.Field(nullable=True)  # items on which both say the same / all
    expected_same: Series[float] = pa.Field(nullable=True)  # the same if they were independent


class LabelErrorRates(Table):
    """How often checked labels are wrong among kept and removed items, per rule."""

    items: Series[str]  # all, kept, removed, removed by <rule>, suspect_label
    checked: Series[int]
    wrong: Series[int]
    rate: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)


class ReviewSheet(Table):
    """Removed items for a person to judge; `verdict` is filled in by hand (SMART, section 5.3)."""

    item_id: Series[str]
    rule: Series[str]
    subject: Series[str]
    question: Series[str]
    choices: Series[str]  # one per line, lettered
    answer: Series[str]
    reason: Series[str]
    neighbour: Series[str]  # the text of the item it is like, "" for other rules
    verdict: Series[str]  # agree, borderline, disagree; empty until judged
    note: Series[str]


class ReviewAgreement(Table):
    """How often a reviewer agreed with a rule, with a 95% interval."""

    rule: Series[str] = pa.Field(unique=True)
    reviewed: Series[int]
    agree: Series[int]
    borderline: Series[int]
    disagree: Series[int]
    share_agree: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)


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


class DrawScores(Table):
    """A configuration's accuracy on the items as they were and on their draws (WiCkeD, Table 1).

    Shares are 0–1, bounds those of 95% over items. Key (perturbation, configuration); all
    configurations of a perturbation are compared on the same items. `asked` is the way of asking
    among which models are ranked: `letters-5`, "" where it is not known, or `mixed`.
    """

    perturbation: Series[str]  # wicked, …
    configuration: Series[str]
    model: Series[str]
    style: Series[str]  # "" where an import does not say
    shots: Series[int]  # −1 where an import does not say
    asked: Series[str]
    n_items: Series[int]
    draws: Series[int]
    accuracy_original: Series[float]
    accuracy_mean: Series[float]  # over the draws
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over the draws; NaN of one
    delta: Series[float]  # accuracy_mean − accuracy_original
    delta_se: Series[float] = pa.Field(nullable=True)  # over items, paired and clustered
    delta_low: Series[float] = pa.Field(nullable=True)
    delta_high: Series[float] = pa.Field(nullable=True)
    accuracy_altered: Series[float] = pa.Field(nullable=True)  # of altered items, over the draws
    accuracy_altered_original: Series[float] = pa.Field(nullable=True)  # the same before
    accuracy_gold_removed: Series[float] = pa.Field(nullable=True)  # where the gold went
    rank_original: Series[float] = pa.Field(nullable=True)  # among those asked alike
    rank_original_low: Series[float] = pa.Field(nullable=True)
    rank_original_high: Series[float] = pa.Field(nullable=True)
    rank_mean: Series[float] = pa.Field(nullable=True)  # the rank of accuracy_mean
    rank_mean_low: Series[float] = pa.Field(nullable=True)
    rank_mean_high: Series[float] = pa.Field(nullable=True)
    fewer_shots_original: Series[int]  # answers to draws whose original had fewer demonstrations
    fewer_shots_drawn: Series[int]  # answers to draws with fewer demonstrations than the original
    unknown_shots: Series[int]  # answers to draws of which one side does not say
    delta_equal_shots: Series[float] = pa.Field(nullable=True)  # where both sides had as many


class DrawTransitions(Table):
    """What became of a configuration's answers to altered items, as shares (WiCkeD, Figure 3)."""

    perturbation: Series[str]
    configuration: Series[str]
    gold: Series[str] = pa.Field(isin=["kept", "removed"])
    n: Series[int]  # altered items, counted in each draw
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
    checks it did not pass, by comma, or why there is none (docs/rephrasing.md); `used` marks the
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


class DrawSummary(Table):
    """Figures of all models of a perturbation; key (perturbation, asked, metric).

    Bounds are those of 95% over items; `reason` says why a value or its bounds are missing.
    """

    perturbation: Series[str]
    asked: Series[str]  # the way of asking
    metric: Series[str]  # mean_delta, kendall_tau_b, tau_b_between_draws, reversed_pairs, …
    value: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    n_models: Series[int]
    n_items: Series[int]
    draws: Series[int]
    reason: Series[str]


class DrawReversals(Table):
    """Pairs of models whose order on the draws is the opposite of that before."""

    perturbation: Series[str]
    asked: Series[str]
    better_before: Series[str]
    better_after: Series[str]
    gap_original: Series[float]  # accuracy of better_before minus that of better_after, 0–1
    gap_mean: Series[float]  # the same on the draws, negative
    p_holm: Series[float]  # of both gaps, corrected over all pairs


class DrawNoneRates(Table):
    """How often a configuration picks the none-of-the-above option of altered items.

    `gold` removed: it is right, and the share is the rate of detection; kept: the right option is
    there, and the share is the rate of false alarms. Answers of all draws are counted; bounds take
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


class DrawWritten(Table):
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
    failed_drawn: Series[float]
    accuracy_original_extracted: Series[float] = pa.Field(nullable=True)
    accuracy_mean_extracted: Series[float] = pa.Field(nullable=True)
    saved: Series[float] = pa.Field(nullable=True)  # delta minus that of the model's `beside`
    saved_low: Series[float] = pa.Field(nullable=True)
    saved_high: Series[float] = pa.Field(nullable=True)
    beside: Series[str]  # the configuration by score, "" in its own row


class DrawInstruct(Table):
    """What a perturbation costs instruction-tuned and base models (WiCkeD, Table 1).

    `family` names a family that has both; "" compares the mean over all models, "families" the
    mean over the families that have both. Differences are instruct minus base.
    """

    perturbation: Series[str]
    asked: Series[str]
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
    draws: Series[int]
    accuracy: Series[float]
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over draws
    step_delta: Series[float] = pa.Field(nullable=True)  # accuracy minus that of the step before
    step_low: Series[float] = pa.Field(nullable=True)
    step_high: Series[float] = pa.Field(nullable=True)
    total_delta: Series[float] = pa.Field(nullable=True)  # accuracy minus that of step 0
    total_low: Series[float] = pa.Field(nullable=True)
    total_high: Series[float] = pa.Field(nullable=True)


class DrawDemonstrations(Table):
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


class DrawPrompts(Table):
    """Prompts of the items as they were and of their draws: equal ones are asked once."""

    model: Series[str] = pa.Field(unique=True)
    prompts: Series[int]
    distinct: Series[int]
    saved: Series[int]  # prompts − distinct


class DrawCoverage(Table):
    """What each transform did, over all draws; key (perturbation, role, transform, outcome)."""

    perturbation: Series[str]
    role: Series[str] = pa.Field(isin=["item", "demonstration"])
    transform: Series[str]
    outcome: Series[str]  # altered, or the reason why not
    n: Series[int]  # in all draws
    items: Series[int]  # different ones
    share: Series[float]  # of those that reached the transform in any draw
    gold_removed: Series[int]


class TextVectors(Table):
    """Vectors of short texts (questions, options), each once; key (encoder, text_hash)."""

    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length


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


class SamplingStrata(Table):
    """What each stratum of a sample by difficulty was to give, had and gave; key (field, level)."""

    field: Series[str]
    level: Series[int] = pa.Field(ge=0, le=9)
    target: Series[int] = pa.Field(ge=0)
    available: Series[int] = pa.Field(ge=0)
    taken: Series[int] = pa.Field(ge=0)
    shortfall: Series[int] = pa.Field(ge=0)  # of the target; other strata may have given more


class SplitAssignment(Table):
    """Which half each item is in; of a sealed benchmark, test items have keyed ids."""

    item_id: Series[str] = pa.Field(unique=True)
    half: Series[str] = pa.Field(isin=["validation", "test"])
    field: Series[str]
    difficulty: Series[float] = pa.Field(nullable=True)
    stratum: Series[str]


class HalfDistances(Table):
    """How far apart the halves are in one attribute, beside what random halves give."""

    attribute: Series[str] = pa.Field(isin=["field", "difficulty", "stratum"])
    n_validation: Series[int]
    n_test: Series[int]
    total_variation: Series[float] = pa.Field(nullable=True)
    expected: Series[float] = pa.Field(nullable=True)  # mean over random halves
    chance_95: Series[float] = pa.Field(nullable=True)
    ks: Series[float] = pa.Field(nullable=True)  # of the difficulty, which has an order
    chi_square: Series[float] = pa.Field(nullable=True)
    degrees: Series[int]
    p_value: Series[float] = pa.Field(nullable=True)
    reason: Series[str]


class LeakPairs(Table):
    """Pairs of questions on both sides that are alike, and what became of them.

    `verdict` is `certain`, `same_words`, `other_words` (not judged), `judged_same`,
    `judged_different`; `removed` is the id of the one that was dropped, "" where none was.
    """

    item_id: Series[str]
    other: Series[str]
    similarity: Series[float] = pa.Field(ge=-1, le=1)
    verdict: Series[str]
    removed: Series[str]
    overlap: Series[float] = pa.Field(ge=0, le=1)  # common words over all words
    judge: Series[str] = pa.Field(isin=["", "parsed", "unparsed", "too_long"])
    moved: Series[bool]  # both now stand in one half


class HalfGap(Table):
    """One model's accuracy on both halves; key (model, style, shots, field).

    `delta` is test − validation; accuracies, delta and bounds are shares, 0–1.
    """

    model: Series[str]
    style: Series[str]
    shots: Series[int]
    size_group: Series[str]
    n_validation: Series[int]
    n_test: Series[int]
    validation: Series[float] = pa.Field(nullable=True)
    test: Series[float] = pa.Field(nullable=True)
    delta: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    suspicious: Series[bool]
    field: Series[str]  # "" is all of them
    p_value: Series[float] = pa.Field(nullable=True)
    p_holm: Series[float] = pa.Field(nullable=True)
    reason: Series[str]


class Memorisation(Table):
    """How much of an item's options a model wrote, seeing the question alone; key
    (model, item_id, sample).

    `exact` and `fuzzy` are shares of the options (0–1) written in their places; `control_…` the
    same against the options of another item of the subject.
    """

    model: Series[str]
    item_id: Series[str]
    exact: Series[float] = pa.Field(ge=0, le=1)
    fuzzy: Series[float] = pa.Field(ge=0, le=1)
    control_exact: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    control_fuzzy: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    reply: Series[str]
    sample: Series[int] = pa.Field(ge=0)
    any_order: Series[float] = pa.Field(ge=0, le=1)  # options written in any place, fuzzy
    written: Series[int] = pa.Field(ge=0)  # options that the reply holds
    control_item: Series[str]  # "" where the subject has no other item to compare with


class MemorisationSummary(Table):
    """Rates of remembered items per model, and the test against the control; key model.

    `p_value` is of whole items against whole controls; `difference` is of shares of options.
    """

    model: Series[str]
    items: Series[int]
    wrote: Series[int]  # replies that hold any option
    exact: Series[float] = pa.Field(nullable=True)  # items with all options verbatim
    exact_low: Series[float] = pa.Field(nullable=True)
    exact_high: Series[float] = pa.Field(nullable=True)
    fuzzy: Series[float] = pa.Field(nullable=True)  # items with all options within the threshold
    fuzzy_low: Series[float] = pa.Field(nullable=True)
    fuzzy_high: Series[float] = pa.Field(nullable=True)
    options_exact: Series[float] = pa.Field(nullable=True)  # mean share of an item's options
    options_fuzzy: Series[float] = pa.Field(nullable=True)
    any_order: Series[float] = pa.Field(nullable=True)
    compared: Series[int]  # items with a control
    control_whole: Series[float] = pa.Field(nullable=True)  # items whose control is all in place
    control_whole_low: Series[float] = pa.Field(nullable=True)
    control_whole_high: Series[float] = pa.Field(nullable=True)
    only_own: Series[int] = pa.Field(ge=0)  # items whole, of which the control is not
    only_control: Series[int] = pa.Field(ge=0)  # the reverse
    control_fuzzy: Series[float] = pa.Field(nullable=True)  # options, against the control
    difference: Series[float] = pa.Field(nullable=True)  # options_fuzzy − control_fuzzy, compared
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    p_value: Series[float] = pa.Field(nullable=True)
    p_holm: Series[float] = pa.Field(nullable=True)
    remembers: Series[bool]
    reason: Series[str]


class RejectedRawItems(Table):
    """Raw items that a cleaning rule rejected (MMLU-CF, section 3.2); key item_id."""

    item_id: Series[str]
    rule: Series[str]
    detail: Series[str]
    raw: Series[str]  # the row as it came in, as JSON


class CleaningChanges(Table):
    """Texts that cleaning rewrote, by item and then by rule; of rejected items too."""

    item_id: Series[str]
    rule: Series[str]
    column: Series[str]  # question, answer, choices[0], labels[0], …
    before: Series[str]
    after: Series[str]


class CleaningFunnel(Table):
    """Rows before and after each cleaning rule that ran; key rule."""

    place: Series[int] = pa.Field(ge=1)
    rule: Series[str] = pa.Field(unique=True)
    kind: Series[str] = pa.Field(isin=["rewrite", "reject"])
    rows_in: Series[int] = pa.Field(ge=0)
    changed: Series[int] = pa.Field(ge=0)
    rejected: Series[int] = pa.Field(ge=0)
    rows_out: Series[int] = pa.Field(ge=0)


class CleanItems(Table):
    """Items that passed every cleaning rule; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    doc_id: Series[str] = pa.Field(nullable=True)
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    question: Series[str]
    choices: Series[object]  # list[str]
    answer: Series[int] = pa.Field(ge=-1)  # −1 only where the rules about answers are off
    explanation: Series[str] = pa.Field(nullable=True)
    passage: Series[str] = pa.Field(nullable=True)
    field: Series[str] = pa.Field(nullable=True)
    field_confidence: Series[float] = pa.Field(nullable=True)


class CleaningDuplicates(Table):
    """Items that were rejected as duplicates, with the one that each is like; key item_id."""

    item_id: Series[str]
    rule: Series[str] = pa.Field(isin=["exact_duplicate", "near_duplicate"])
    like: Series[str]  # stays, unless the copies' answers differ
    similarity: Series[float] = pa.Field(ge=0, le=1)  # Jaccard, of question and choices
    detail: Series[str]


class DifficultyRatings(Table):
    """What judges said of the difficulty of questions; key (item_id, judge, attempt)."""

    item_id: Series[str]
    judge: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    rating: Series[float] = pa.Field(ge=0, le=9, nullable=True)
    reply: Series[str] = pa.Field(nullable=True)  # None where the prompt was too long
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])


class ItemDifficulty(Table):
    """The difficulty of each question, 0–9, and where it comes from; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    difficulty: Series[float] = pa.Field(ge=0, le=9, nullable=True)
    level: Series[float] = pa.Field(ge=0, le=9, nullable=True)  # a whole number
    source: Series[str] = pa.Field(isin=["judges", "responses", "not_judged"])
    judges: Series[int] = pa.Field(ge=0)  # that gave a rating
    lowest: Series[float] = pa.Field(nullable=True)
    highest: Series[float] = pa.Field(nullable=True)
    reason: Series[str]  # why there is none


class DifficultyAnchors(Table):
    """A judge's ratings beside the share of wrong answers of models, over items with both.

    Bounds are those of 95% over items.
    """

    judge: Series[str] = pa.Field(unique=True)
    n_items: Series[int] = pa.Field(ge=0)
    spearman: Series[float] = pa.Field(ge=-1, le=1, nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    reason: Series[str]


class DifficultyScale(Table):
    """What a judge's ratings come to in wrong answers (0–1); key (judge, rating)."""

    judge: Series[str]
    rating: Series[int] = pa.Field(ge=0, le=9)
    n_items: Series[int] = pa.Field(ge=0)
    share_wrong: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    fitted: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # never falls with the rating


class JudgeRatings(Table):
    """What judges said of questions, by criterion; key (item_id, judge, criterion)."""

    item_id: Series[str]
    judge: Series[str]
    criterion: Series[str]
    rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    reply: Series[str] = pa.Field(nullable=True)  # the last; None where the prompt was too long
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])
    attempt: Series[int] = pa.Field(ge=1)  # the last


class HarmFlags(Table):
    """Whether judges see a harm in questions; key (item_id, judge, harm)."""

    item_id: Series[str]
    judge: Series[str]
    harm: Series[str]
    flagged: Series[float] = pa.Field(isin=[0, 1], nullable=True)
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])
    reply: Series[str] = pa.Field(nullable=True)  # the last
    attempt: Series[int] = pa.Field(ge=1)


class CheckingDecisions(Table):
    """Which questions passed the judges, and why not; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    mean_rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    lowest_rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)  # of a judge and criterion
    rated_by: Series[int] = pa.Field(ge=0)  # judges that rated every criterion
    harm_judged_by: Series[int] = pa.Field(ge=0)  # judges that spoke on every harm
    harms: Series[str]  # those that count, by comma
    kept: Series[bool]
    reason: Series[str] = pa.Field(isin=["good", "low_rating", "harmful", "unjudged"])


class JudgeRounds(Table):
    """How many replies could be read, attempt by attempt; key (task, judge, attempt)."""

    task: Series[str]  # difficulty, checking, fields, …
    judge: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    asked: Series[int] = pa.Field(ge=0)
    parsed: Series[int] = pa.Field(ge=0)
    unparsed: Series[int] = pa.Field(ge=0)
    too_long: Series[int] = pa.Field(ge=0)
    parse_rate: Series[float] = pa.Field(ge=0, le=1)  # parsed / asked


class JudgeAgreement(Table):
    """How far judges agree; key (task, criterion, judge, other), both "" for all judges.

    `alpha` is Krippendorff's, its bounds those of 95% over items.
    """

    task: Series[str]
    criterion: Series[str]
    judge: Series[str]
    other: Series[str]
    n_items: Series[int] = pa.Field(ge=0)  # judged by two or more
    alpha: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    equal: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # share of pairs of ratings
    apart: Series[float] = pa.Field(ge=0, nullable=True)  # mean distance of a pair
    difference: Series[float] = pa.Field(nullable=True)  # mean of judge − other; NaN of more
    reason: Series[str]


class FieldPredictions(Table):
    """The field of each question; key item_id.

    `confidence` is the classifier's probability, or the share of the judges that named the field.
    """

    item_id: Series[str] = pa.Field(unique=True)
    field: Series[str] = pa.Field(nullable=True)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    second: Series[str] = pa.Field(nullable=True)  # the next best
    source: Series[str] = pa.Field(isin=["classifier", "judges", "not_judged"])


class FieldAccuracy(Table):
    """How often the field of labelled questions is found; key (labels, field), "" is all.

    Shares are 0–1, bounds are 95% Wilson intervals.
    """

    labels: Series[str]  # which labelled questions
    field: Series[str]
    n_items: Series[int] = pa.Field(ge=0)
    recall: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # of all: the accuracy
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    predicted: Series[int] = pa.Field(ge=0)
    precision: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # mean, where it is given


class Documents(Table):
    """Web documents as they came; key doc_id."""

    doc_id: Series[str]
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    content_type: Series[str]  # text/plain, text/html, text/markdown
    text: Series[str]


class RawItems(Table):
    """Questions read off documents, with what stands on the page; key item_id.

    `answer` is a label, or the text of the option where options have no label, or null.
    """

    item_id: Series[str] = pa.Field(unique=True)  # <doc_id>#<number>
    doc_id: Series[str]
    number: Series[int] = pa.Field(ge=1)
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    layout: Series[str]  # how the options were written (docs/collection.md)
    question: Series[str]
    choices: Series[object]  # list[str]
    labels: Series[object]  # list[str], "" where an option has none
    answer: Series[str] = pa.Field(nullable=True)
    explanation: Series[str] = pa.Field(nullable=True)
    passage: Series[str] = pa.Field(nullable=True)
    start: Series[int] = pa.Field(ge=0)  # characters in the extracted text
    end: Series[int] = pa.Field(ge=0)


class DocumentsRead(Table):
    """What was read of each shard of documents; key file."""

    file: Series[str] = pa.Field(unique=True)
    documents: Series[int] = pa.Field(ge=0)
    left_out: Series[int] = pa.Field(ge=0)
    first_fault: Series[str]  # line or record, and why it was left out; "" without
    without_options: Series[int] = pa.Field(ge=0)  # passed over: no sign of a question's options


class ExtractionMeasures(Table):
    """How well extracted questions agree with labelled ones; key (measure, style), "" is all.

    Shares are 0–1, bounds are 95% Wilson intervals. No rows where no document is labelled.
    """

    measure: Series[str]
    style: Series[str]
    hits: Series[int] = pa.Field(ge=0)
    of: Series[int] = pa.Field(ge=0)
    share: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)


class CleaningReasons(Table):
    """Why rows were rejected, in which columns rewritten; key (rule, kind, reason)."""

    rule: Series[str]
    kind: Series[str] = pa.Field(isin=["reject", "rewrite"])
    reason: Series[str]  # of rewriting, the column
    rows: Series[int] = pa.Field(ge=1)


class DomainCounts(Table):
    """Documents and items of each domain, before and after cleaning; key domain, "" not known."""

    domain: Series[str] = pa.Field(unique=True)
    documents: Series[int] = pa.Field(ge=0)
    raw_items: Series[int] = pa.Field(ge=0)
    clean_items: Series[int] = pa.Field(ge=0)


class FieldCounts(Table):
    """Clean items of each field; key field, "" where none was named."""

    field: Series[str] = pa.Field(unique=True)
    items: Series[int] = pa.Field(ge=0)
    domains: Series[int] = pa.Field(ge=0)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # mean


class DifficultyCounts(Table):
    """Questions of each level after each step (MMLU-CF, Figures 4 and 8); key (pool, level).

    `rated` are all clean questions, `sampled` and `checked` those that passed these steps, by their
    first rating; `final` are those of the benchmark, by a rating after the rules: absent without.
    """

    pool: Series[str] = pa.Field(isin=["rated", "sampled", "checked", "final"])
    level: Series[int] = pa.Field(ge=-1, le=9)  # −1: not known
    n: Series[int] = pa.Field(ge=0)
    share: Series[float] = pa.Field(ge=0, le=1)  # of the pool
    expected: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # of `sampled`: the target


class HalfGapShares(Table):
    """How many gaps between the halves are small; key (style, shots, size_group, below).

    `style` "" with `shots` −1 is all ways of asking, `size_group` "" all sizes. Shares are 0–1,
    bounds are Wilson's; `expected` is what sampling alone gives halves of equal difficulty.
    """

    style: Series[str]
    shots: Series[int]
    size_group: Series[str]
    below: Series[float]  # bound of |Δ|, a share
    n: Series[int] = pa.Field(ge=0)  # configurations
    share: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    expected: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    reason: Series[str]


class ItemFeatures(Table):
    """Features of each item's text (DELE, A.1.9–A.1.18); key item_id, null where it has none."""

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


class ReadabilityBands(Table):
    """Items in each band of an index (DELE, Tables 4 and 5); key (index, band)."""

    index: Series[str] = pa.Field(isin=["flesch", "gunning_fog"])
    band: Series[str]
    low: Series[float] = pa.Field(nullable=True)  # with it; null in the lowest
    high: Series[float] = pa.Field(nullable=True)  # without it; null in the highest
    n: Series[int] = pa.Field(ge=0)
    share: Series[float] = pa.Field(ge=0, le=1)  # of the items that have words


class ClusterSizes(Table):
    """Clusters that samplers draw from (DELE, figures 35, 36 and 44); key (sampler, cluster)."""

    sampler: Series[str]
    cluster: Series[int] = pa.Field(ge=-1)  # by falling size; −1: noise
    n: Series[int] = pa.Field(ge=1)
    share: Series[float] = pa.Field(gt=0, le=1)
    examples: Series[object]  # list[str], ids of up to ten items drawn at random


class ClusterCurves(Table):
    """How good clusters are with each number of them (DELE, figures 37–40); key (sampler, k)."""

    sampler: Series[str]
    k: Series[int] = pa.Field(ge=1)
    within: Series[float] = pa.Field(ge=-1e-6)  # squared distances to the cluster's mean, summed
    silhouette: Series[float] = pa.Field(ge=-1, le=1, nullable=True)
    chosen: Series[bool]


class ItemMap(Table):
    """Items in the plane by t-SNE (DELE, figures 33, 34, 41–43); key (sampler, item_id)."""

    source: Series[str]  # what the map was made of: tfidf, or an encoder
    item_id: Series[str]
    x: Series[float]
    y: Series[float]
    sampler: Series[str]
    cluster: Series[int] = pa.Field(ge=-1)


class SamplingFigures(Table):
    """What each sampler's draws keep of ranks and scores; key (sampler, panel, rate, repeat).

    Shares are 0–1; correlations are null where there is none.
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


class SamplersLeftOut(Table):
    """Samplers that could not run; key (choosers, sampler), `choosers` "" without answers."""

    choosers: Series[str]
    sampler: Series[str]
    reason: Series[str]


class RandomBands(Table):
    """Random subsets at each rate: the middle 95%; key (panel, rate, metric).

    `random_sd_…` are of standard deviations over as many random subsets as there are repeats.
    """

    panel: Series[str]
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)
    random_sd_low: Series[float] = pa.Field(nullable=True)
    random_sd_median: Series[float] = pa.Field(nullable=True)
    random_sd_high: Series[float] = pa.Field(nullable=True)


class SamplingCurves(Table):
    """Figures over rates beside random's band (DELE, Figures 1–32).

    Key (sampler, panel, rate, metric).
    `low` and `high` are the middle 95% over repeats.
    """

    sampler: Series[str]
    panel: Series[str]
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    sd: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)
    random_sd_low: Series[float] = pa.Field(nullable=True)
    random_sd_median: Series[float] = pa.Field(nullable=True)
    random_sd_high: Series[float] = pa.Field(nullable=True)


class SamplingAgainstRandom(Table):
    """Each sampler's mean among random subsets; key (sampler, panel, rate, metric).

    `p` is two-sided; `p_holm` is corrected over samplers and rates. Null for `random` itself.
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
    better_by: Series[float] = pa.Field(nullable=True)  # than random's mean; positive is better
    percentile: Series[float] = pa.Field(ge=0, le=100, nullable=True)
    p: Series[float] = pa.Field(gt=0, le=1, nullable=True)
    p_holm: Series[float] = pa.Field(gt=0, le=1, nullable=True)
    random_subsets: Series[int] = pa.Field(ge=1000)
    verdict: Series[str] = pa.Field(isin=["better", "worse", "no difference shown"])


class SamplerChoice(Table):
    """The sampler that some models choose and what it gains over random (DELE, Algorithm 1).

    Key split; −1 is the choice by all models, whose held-out gain is null. Gains are positive where
    the winner is better, in the metric's unit.
    """

    split: Series[int] = pa.Field(ge=-1, unique=True)
    winner: Series[str]  # "" where none could be chosen
    metric: Series[str]
    apparent_gain: Series[float] = pa.Field(nullable=True)  # among the models that chose
    held_out_gain: Series[float] = pa.Field(nullable=True)
    luck_gain: Series[float] = pa.Field(nullable=True)  # held out, of the best random order
    luck_winner: Series[str]  # which one that is; "" for the choice by all models
    n_choose: Series[int] = pa.Field(ge=0)
    n_judge: Series[int] = pa.Field(ge=0)
    n_eligible: Series[int] = pa.Field(ge=0)
    reason: Series[str]


class ChangedWinners(Table):
    """Where the choice by all models is another than in the last saved run; key scope."""

    scope: Series[str]  # "" is the whole benchmark, else a subject
    before: Series[str]
    now: Series[str]


class SubjectWinners(Table):
    """The sampler chosen inside each subject (DELE, Table 3); key subject."""

    subject: Series[str] = pa.Field(unique=True)
    n_items: Series[int] = pa.Field(ge=1)
    winner: Series[str]  # by all models
    winner_selection: Series[str]  # by one half of the models
    winner_held_out: Series[str]  # by the other half
    metric: Series[str]
    apparent_gain: Series[float] = pa.Field(nullable=True)  # of winner_selection, by its half
    held_out_gain: Series[float] = pa.Field(nullable=True)  # by the other half
    reason: Series[str]


class EstimateErrors(Table):
    """Estimated scores of models that trained no estimator; key (estimator, panel, subset).

    In shares (0–1), means over models and subsets; coverage is of intervals at `level`.
    """

    estimator: Series[str]
    panel: Series[str]
    subset: Series[str]  # random or anchor_points
    size: Series[int] = pa.Field(ge=1)
    subsets: Series[int] = pa.Field(ge=1)
    n_train: Series[int] = pa.Field(ge=1)
    n_models: Series[int] = pa.Field(ge=1)
    mean_absolute_error: Series[float] = pa.Field(ge=0, nullable=True)
    bias: Series[float] = pa.Field(nullable=True)
    coverage: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    width: Series[float] = pa.Field(ge=0, nullable=True)
    level: Series[float] = pa.Field(gt=0, lt=1)
    reason: Series[str]


class ScoreSpread(Table):
    """Spread of models' scores on harder items (DELE, Figure 45); key (sampler, rate).

    In points (0–100), means over repeats; `all items` is the whole, at 100%.
    """

    sampler: Series[str]
    panel: Series[str]
    rate: Series[float]
    size: Series[int] = pa.Field(ge=1)
    n_models: Series[int] = pa.Field(ge=1)
    lowest: Series[float]
    q05: Series[float]
    q25: Series[float]
    median: Series[float]
    q75: Series[float]
    q95: Series[float]
    highest: Series[float]
    sd: Series[float] = pa.Field(ge=0)  # over models
    random_sd_low: Series[float] = pa.Field(nullable=True)
    random_sd_median: Series[float] = pa.Field(nullable=True)
    random_sd_high: Series[float] = pa.Field(nullable=True)
    percentile: Series[float] = pa.Field(ge=0, le=100, nullable=True)  # of sd among random subsets


class SamplingSummary(Table):
    """Each sampler in a row (DELE, Table 1); key (sampler, panel).

    Rates are percent; a smallest rate is null, its items 0, where no rate keeps the correlation.
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
    pearson_variance: Series[float] = pa.Field(nullable=True)  # over repeats
    wasserstein_variance: Series[float] = pa.Field(nullable=True)
    rate_for_spearman: Series[float] = pa.Field(nullable=True)
    items_for_spearman: Series[int] = pa.Field(ge=0)
    tokens_for_spearman: Series[float] = pa.Field(nullable=True)
    rate_for_tau_b: Series[float] = pa.Field(nullable=True)
    items_for_tau_b: Series[int] = pa.Field(ge=0)
    tokens_for_tau_b: Series[float] = pa.Field(nullable=True)
    tokens_in_all: Series[float] = pa.Field(ge=0)
    tokens_by: Series[str]  # how they were counted


class ChosenSubset(NotEmpty):
    """The items that stand for the benchmark, in the order of choice; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    position: Series[int] = pa.Field(ge=0, unique=True)  # row of the items table
    weight: Series[float] = pa.Field(ge=0, le=1)  # they sum to 1


class ChosenCurves(Table):
    """The chosen sampler over rates, beside random (DELE, Figure 7); key (line, rate, metric).

    Means over splits of the models, each of them over repeats; `low` and `high` are the middle 95%
    of the splits. `random_…` are of single random subsets, judged by models that did not choose.
    """

    line: Series[str] = pa.Field(isin=["chosen", "chosen, in-sample", "random", "random order"])
    splits: Series[int] = pa.Field(ge=1)
    rate: Series[float] = pa.Field(gt=0, le=100)
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)


class TargetCurves(Table):
    """Samplers beside two scores of the benchmark; key (target, sampler, rate, metric).

    `target` is the mean over items or over subjects. `percentile` is the place of the mean over
    repeats among single random subsets.
    """

    target: Series[str] = pa.Field(isin=["items", "subjects"])
    sampler: Series[str]
    panel: Series[str]
    n_models: Series[int] = pa.Field(ge=3)
    rate: Series[float] = pa.Field(gt=0, le=100)
    size: Series[int] = pa.Field(ge=1)
    metric: Series[str]
    mean: Series[float] = pa.Field(nullable=True)
    sd: Series[float] = pa.Field(nullable=True)
    random_low: Series[float] = pa.Field(nullable=True)
    random_median: Series[float] = pa.Field(nullable=True)
    random_high: Series[float] = pa.Field(nullable=True)
    percentile: Series[float] = pa.Field(ge=0, le=100, nullable=True)


class SubjectCurves(Table):
    """Samplers inside each subject (DELE, Figures 8–27); key (subject, sampler, rate, metric)."""

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
