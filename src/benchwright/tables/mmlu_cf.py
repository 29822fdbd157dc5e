"""Tables of a benchmark with a closed half, made from documents."""

import pandera.pandas as pa
import pyarrow
from pandera.typing import Series

from benchwright.tables.base import Table


class SamplingStrata(Table):
    """Target, available and sampled questions of each stratum; key (field, level)."""

    field: Series[str]
    level: Series[int] = pa.Field(ge=0, le=9)
    target: Series[int] = pa.Field(ge=0)
    available: Series[int] = pa.Field(ge=0)
    sampled: Series[int] = pa.Field(ge=0)
    shortfall: Series[int] = pa.Field(ge=0)  # below the target; other strata may exceed theirs


class SplitAssignment(Table):
    """The half of each item; in a sealed benchmark, test items have keyed ids."""

    item_id: Series[str] = pa.Field(unique=True)
    half: Series[str] = pa.Field(isin=["validation", "test"])
    field: Series[str]
    difficulty: Series[float] = pa.Field(nullable=True)
    stratum: Series[str]


class HalfDistances(Table):
    """Distance between the halves by attribute, compared with random halves."""

    attribute: Series[str] = pa.Field(isin=["field", "difficulty", "stratum"])
    n_validation: Series[int]
    n_test: Series[int]
    total_variation: Series[float] = pa.Field(nullable=True)
    expected: Series[float] = pa.Field(nullable=True)  # mean over random halves
    chance_95: Series[float] = pa.Field(nullable=True)
    ks: Series[float] = pa.Field(nullable=True)  # of difficulty only, which is ordered
    chi_square: Series[float] = pa.Field(nullable=True)
    degrees: Series[int]
    p_value: Series[float] = pa.Field(nullable=True)
    reason: Series[str]


class LeakPairs(Table):
    """Pairs of similar questions across the halves, and their treatment.

    `verdict` is `certain`, `same_words`, `other_words` (not judged), `judged_same`,
    `judged_different`; `removed` is the id of the removed question, "" if none.
    """

    item_id: Series[str]
    other: Series[str]
    similarity: Series[float] = pa.Field(ge=-1, le=1)
    verdict: Series[str]
    removed: Series[str]
    overlap: Series[float] = pa.Field(ge=0, le=1)  # common words over all words
    judge: Series[str] = pa.Field(isin=["", "parsed", "unparsed", "too_long"])
    moved: Series[bool]  # both are now in one half


class LeakCounts(Table):
    """Pairs of similar questions across the halves, by verdict (`LeakPairs`); key verdict."""

    verdict: Series[str] = pa.Field(unique=True)
    pairs: Series[int] = pa.Field(ge=1)
    moved: Series[int] = pa.Field(ge=0)  # the same question, now in one half
    removed: Series[int] = pa.Field(ge=0)  # questions, each counted once
    left: Series[int] = pa.Field(ge=0)  # the same question, still in both halves


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
    field: Series[str]  # "" is all fields
    p_value: Series[float] = pa.Field(nullable=True)
    p_holm: Series[float] = pa.Field(nullable=True)
    reason: Series[str]
    original: Series[float] = pa.Field(nullable=True)  # accuracy on the original benchmark
    n_original: Series[float] = pa.Field(nullable=True)


class Memorisation(Table):
    """Share of an item's options that a model writes from the question alone; key
    (model, item_id, sample).

    `exact` and `fuzzy` are shares of the options (0–1) written in their places; `control_…` are
    the same for the options of another item of the subject.
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
    written: Series[int] = pa.Field(ge=0)  # options in the reply
    control_item: Series[str]  # "" without a suitable item of the subject


class MemorisationSummary(Table):
    """Rates of remembered items per model, and the test against the control; key model.

    `p_value` compares complete items with complete controls, `difference` shares of options.
    """

    model: Series[str]
    items: Series[int]
    with_options: Series[int]  # items with a reply that has any option
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
    control_whole: Series[float] = pa.Field(nullable=True)  # items whose control is complete
    control_whole_low: Series[float] = pa.Field(nullable=True)
    control_whole_high: Series[float] = pa.Field(nullable=True)
    item_only: Series[int] = pa.Field(ge=0)  # complete items whose control is incomplete
    control_only: Series[int] = pa.Field(ge=0)  # the reverse
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
    raw: Series[str]  # the input row as JSON


class CleaningChanges(Table):
    """Texts rewritten by cleaning, by item and then by rule; includes rejected items."""

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
    """Items rejected as duplicates, with the items that they duplicate; key item_id."""

    item_id: Series[str]
    rule: Series[str] = pa.Field(isin=["exact_duplicate", "near_duplicate"])
    duplicate_of: Series[str]  # kept, unless the copies' answers differ
    similarity: Series[float] = pa.Field(ge=0, le=1)  # Jaccard, of question and choices
    detail: Series[str]


class DifficultyRatings(Table):
    """Judges' ratings of the difficulty of questions; key (item_id, judge, attempt)."""

    item_id: Series[str]
    judge: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    rating: Series[float] = pa.Field(ge=0, le=9, nullable=True)
    reply: Series[str] = pa.Field(nullable=True)  # None where the prompt was too long
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])


class ItemDifficulty(Table):
    """The difficulty of each question, 0–9, and its source; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    difficulty: Series[float] = pa.Field(ge=0, le=9, nullable=True)
    level: Series[float] = pa.Field(ge=0, le=9, nullable=True)  # a whole number
    source: Series[str] = pa.Field(isin=["judges", "responses", "not_judged"])
    judges: Series[int] = pa.Field(ge=0)  # that gave a rating
    lowest: Series[float] = pa.Field(nullable=True)
    highest: Series[float] = pa.Field(nullable=True)
    reason: Series[str]  # why difficulty is missing


class JudgeRatings(Table):
    """Judges' ratings of questions, by criterion; key (item_id, judge, criterion)."""

    item_id: Series[str]
    judge: Series[str]
    criterion: Series[str]
    rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    reply: Series[str] = pa.Field(nullable=True)  # the last; None where the prompt was too long
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])
    attempt: Series[int] = pa.Field(ge=1)  # the last


class HarmFlags(Table):
    """Harms that judges flag in questions; key (item_id, judge, harm)."""

    item_id: Series[str]
    judge: Series[str]
    harm: Series[str]
    flagged: Series[float] = pa.Field(isin=[0, 1], nullable=True)
    status: Series[str] = pa.Field(isin=["parsed", "unparsed", "too_long"])
    reply: Series[str] = pa.Field(nullable=True)  # the last
    attempt: Series[int] = pa.Field(ge=1)


CHECKED = ["good", "low_rating", "low_criterion", "harmful", "unjudged"]
"""What the check finds of a question; only good ones pass."""


class CheckingDecisions(Table):
    """Decisions of the check on each question; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    mean_rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    lowest_criterion: Series[float] = pa.Field(ge=1, le=5, nullable=True)  # its mean over judges
    rated_by: Series[int] = pa.Field(ge=0)  # judges that rated every criterion
    harm_judged_by: Series[int] = pa.Field(ge=0)  # judges that gave a flag for every harm
    harms: Series[str]  # those that count, separated by commas
    kept: Series[bool]
    reason: Series[str] = pa.Field(isin=CHECKED)


class Judgements(Table):
    """What each judge said of each item of a benchmark; key (item_id, judge).

    Values are missing where they were not asked for, or where no reply was readable.
    """

    item_id: Series[str]
    judge: Series[str]
    level: Series[float] = pa.Field(ge=0, le=9, nullable=True)  # of difficulty
    overall: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    clarity: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    logic: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    facts: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    exclusive: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    answerable: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    hatred: Series[float] = pa.Field(isin=[0, 1], nullable=True)
    sex: Series[float] = pa.Field(isin=[0, 1], nullable=True)
    self_harm: Series[float] = pa.Field(isin=[0, 1], nullable=True)
    violence: Series[float] = pa.Field(isin=[0, 1], nullable=True)


class JudgedItems(Table):
    """The judges' combined level, rating and decision on each item of a benchmark; key item_id."""

    item_id: Series[str] = pa.Field(unique=True)
    subject: Series[str]
    difficulty: Series[float] = pa.Field(ge=0, le=9, nullable=True)
    level: Series[float] = pa.Field(ge=0, le=9, nullable=True)  # a whole number
    level_by: Series[int] = pa.Field(ge=0)  # judges that gave a level
    lowest: Series[float] = pa.Field(nullable=True)  # level
    highest: Series[float] = pa.Field(nullable=True)
    mean_rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    lowest_criterion: Series[float] = pa.Field(ge=1, le=5, nullable=True)  # its mean over judges
    rated_by: Series[int] = pa.Field(ge=0)  # judges that rated every criterion
    harm_judged_by: Series[int] = pa.Field(ge=0)  # judges that gave a flag for every harm
    harms: Series[str]  # those that count, separated by commas
    reason: Series[str] = pa.Field(isin=CHECKED)


class JudgeRounds(Table):
    """Readable replies by attempt; key (task, judge, attempt)."""

    task: Series[str]  # difficulty, checking, fields, …
    judge: Series[str]
    attempt: Series[int] = pa.Field(ge=1)
    asked: Series[int] = pa.Field(ge=0)
    parsed: Series[int] = pa.Field(ge=0)
    unparsed: Series[int] = pa.Field(ge=0)
    too_long: Series[int] = pa.Field(ge=0)
    parse_rate: Series[float] = pa.Field(ge=0, le=1)  # parsed / asked


class JudgeAgreement(Table):
    """Agreement of judges; key (task, criterion, judge, other), both "" for all judges.

    `alpha` is Krippendorff's alpha, with a 95% interval over items.
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
    difference: Series[float] = pa.Field(nullable=True)  # mean of judge − other; NaN for all judges
    reason: Series[str]


class FieldPredictions(Table):
    """The field of each question; key item_id.

    `confidence` is the classifier's probability, or the share of the judges that chose the field.
    """

    item_id: Series[str] = pa.Field(unique=True)
    field: Series[str] = pa.Field(nullable=True)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    second: Series[str] = pa.Field(nullable=True)  # the next best
    source: Series[str] = pa.Field(isin=["classifier", "judges", "not_judged"])


class FieldAccuracy(Table):
    """Recall and precision of fields on labelled questions; key (labels, field), "" is all.

    Shares are 0–1, bounds are 95% Wilson intervals.
    """

    labels: Series[str]  # the set of labelled questions
    field: Series[str]
    n_items: Series[int] = pa.Field(ge=0)
    recall: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # of all: the accuracy
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)
    predicted: Series[int] = pa.Field(ge=0)
    precision: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # mean of known values


class Documents(Table):
    """Web documents in their original form; key doc_id."""

    doc_id: Series[str]
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    content_type: Series[str]  # text/plain, text/html, text/markdown
    text: Series[str]


class RawItems(Table):
    """Questions extracted from documents, in their original form; key item_id.

    `answer` is a label, or the text of the option where options have no label, or null.
    """

    item_id: Series[str] = pa.Field(unique=True)  # <doc_id>#<number>
    doc_id: Series[str]
    number: Series[int] = pa.Field(ge=1)
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    layout: Series[str]  # layout of the options (docs/reference/collection.md)
    question: Series[str]
    choices: Series[object]  # list[str]
    labels: Series[object]  # list[str], "" where an option has none
    answer: Series[str] = pa.Field(nullable=True)
    explanation: Series[str] = pa.Field(nullable=True)
    passage: Series[str] = pa.Field(nullable=True)
    start: Series[int] = pa.Field(ge=0)  # characters in the extracted text
    end: Series[int] = pa.Field(ge=0)


class DocumentsRead(Table):
    """Documents read from each shard; key file."""

    file: Series[str] = pa.Field(unique=True)
    documents: Series[int] = pa.Field(ge=0)
    unreadable: Series[int] = pa.Field(ge=0)
    first_fault: Series[str]  # line or record, and the reason; "" without faults
    skipped: Series[int] = pa.Field(ge=0)  # no sign of options


class ExtractionMeasures(Table):
    """Agreement of extracted and labelled questions; key (measure, style), "" is all.

    Shares are 0–1, bounds are 95% Wilson intervals. Empty if no document is labelled.
    """

    measure: Series[str]
    style: Series[str]
    hits: Series[int] = pa.Field(ge=0)
    of: Series[int] = pa.Field(ge=0)
    share: Series[float] = pa.Field(ge=0, le=1, nullable=True)
    low: Series[float] = pa.Field(nullable=True)
    high: Series[float] = pa.Field(nullable=True)


class CleaningReasons(Table):
    """Rejected rows by reason, rewritten rows by column; key (rule, kind, reason)."""

    rule: Series[str]
    kind: Series[str] = pa.Field(isin=["reject", "rewrite"])
    reason: Series[str]  # for `rewrite`, the column
    rows: Series[int] = pa.Field(ge=1)


class DomainCounts(Table):
    """Documents and items of each domain, before and after cleaning; key domain, "" if unknown."""

    domain: Series[str] = pa.Field(unique=True)
    documents: Series[int] = pa.Field(ge=0)
    raw_items: Series[int] = pa.Field(ge=0)
    clean_items: Series[int] = pa.Field(ge=0)


class FieldCounts(Table):
    """Clean items of each field; key field, "" if unknown."""

    field: Series[str] = pa.Field(unique=True)
    items: Series[int] = pa.Field(ge=0)
    domains: Series[int] = pa.Field(ge=0)
    confidence: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # mean


class DifficultyCounts(Table):
    """Questions of each level after each step (MMLU-CF, Figures 4 and 8); key (pool, level).

    `rated` are all clean questions, `sampled` and `checked` those that passed these steps, by their
    first rating; `final` are those of the benchmark, by a rating after the rules, if any.
    """

    pool: Series[str] = pa.Field(isin=["rated", "sampled", "checked", "final"])
    level: Series[int] = pa.Field(ge=-1, le=9)  # −1: unknown
    n: Series[int] = pa.Field(ge=0)
    share: Series[float] = pa.Field(ge=0, le=1)  # of the pool
    expected: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # of `sampled`: the target


class HalfGapShares(Table):
    """Share of small gaps between the halves; key (style, shots, size_group, below).

    `style` "" with `shots` −1 is all styles and shots, `size_group` "" all sizes. Shares are 0–1,
    bounds are Wilson's; `expected` is the share under sampling error alone, for halves of equal
    difficulty.
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


def arrow_schema(table: type[Table], texts: pyarrow.DataType) -> pyarrow.Schema:
    """Return the columns of a table as Arrow types; `texts` is that of lists of texts."""
    kinds = {"int64": pyarrow.int64(), "float64": pyarrow.float64(), "object": texts}
    columns = table.to_schema().columns.items()
    return pyarrow.schema(
        [(name, kinds.get(str(kind.dtype), pyarrow.large_string())) for name, kind in columns]
    )
