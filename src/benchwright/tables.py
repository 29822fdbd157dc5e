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

    All shares are 0–1. Key (perturbation, configuration); all configurations of a perturbation are
    compared on the same items.
    """

    perturbation: Series[str]  # wicked, …
    configuration: Series[str]
    n_items: Series[int]
    draws: Series[int]
    accuracy_original: Series[float]
    accuracy_mean: Series[float]  # over the draws
    accuracy_sd: Series[float] = pa.Field(nullable=True)  # over the draws; NaN of one
    delta: Series[float]  # accuracy_mean − accuracy_original
    delta_se: Series[float] = pa.Field(nullable=True)  # over items, paired and clustered
    accuracy_altered: Series[float] = pa.Field(nullable=True)  # of altered items, over the draws
    accuracy_altered_original: Series[float] = pa.Field(nullable=True)  # the same before
    accuracy_gold_removed: Series[float] = pa.Field(nullable=True)  # where the gold went
    rank_original: Series[float]
    rank_mean: Series[float]  # the rank of accuracy_mean


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
