"""Tables of a benchmark with a closed half, made from documents."""

import pandera.pandas as pa
import pyarrow
from pandera.typing import Series

from benchwright.tables.base import Table


class SplitAssignment(Table):
    """The half of each item; in a sealed benchmark, test items have keyed ids."""

    item_id: Series[str] = pa.Field(unique=True)
    half: Series[str] = pa.Field(isin=["validation", "test"])
    field: Series[str]
    difficulty: Series[float] = pa.Field(nullable=True)
    stratum: Series[str]


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

    `exact` and `fuzzy` are shares of the options (0–1) written in their places; `control_fuzzy` is
    the same for the options of another item of the subject.
    """

    model: Series[str]
    item_id: Series[str]
    exact: Series[float] = pa.Field(ge=0, le=1)
    fuzzy: Series[float] = pa.Field(ge=0, le=1)
    control_fuzzy: Series[float] = pa.Field(nullable=True, ge=0, le=1)
    reply: Series[str]
    sample: Series[int] = pa.Field(ge=0)
    written: Series[int] = pa.Field(ge=0)  # options in the reply
    control_item: Series[str]  # "" without a suitable item of the subject


class MemorisationSummary(Table):
    """Rates of remembered items per model, and the test against the control; key model."""

    model: Series[str]
    items: Series[int]
    with_options: Series[int]  # items with a reply that has any option
    exact: Series[float]  # items with all options verbatim
    exact_low: Series[float]
    exact_high: Series[float]
    fuzzy: Series[float]  # items with all options within the threshold
    fuzzy_low: Series[float]
    fuzzy_high: Series[float]
    options_fuzzy: Series[float]  # mean share of an item's options
    compared: Series[int]  # items with a control
    control_whole: Series[float] = pa.Field(nullable=True)  # items whose control is complete
    control_whole_low: Series[float] = pa.Field(nullable=True)
    control_whole_high: Series[float] = pa.Field(nullable=True)
    item_only: Series[int] = pa.Field(ge=0)  # complete items whose control is incomplete
    control_only: Series[int] = pa.Field(ge=0)  # the reverse
    p_value: Series[float] = pa.Field(nullable=True)
    p_holm: Series[float] = pa.Field(nullable=True)
    remembers: Series[bool]


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


CHECKED = ["good", "low_rating", "harmful", "unjudged"]
"""What the check finds of a question; only good ones pass."""


class Judgements(Table):
    """What each judge said of each item of a benchmark; key (item_id, judge).

    Values are missing where they were not asked for, or where no reply was readable.
    """

    item_id: Series[str]
    judge: Series[str]
    level: Series[float] = pa.Field(ge=0, le=9, nullable=True)  # of difficulty
    overall: Series[float] = pa.Field(ge=1, le=5, nullable=True)
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
    mean_rating: Series[float] = pa.Field(ge=1, le=5, nullable=True)
    harms: Series[str]  # those that count, separated by commas
    reason: Series[str] = pa.Field(isin=CHECKED)


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


class HalfGapShares(Table):
    """Share of small gaps between the halves; key (style, shots, size_group, below).

    `style` "" with `shots` −1 is all styles and shots, `size_group` "" all sizes. Shares are 0–1,
    bounds are Wilson's, as if models were independent; `expected` is the share under sampling error
    alone, for halves of equal difficulty.
    """

    style: Series[str]
    shots: Series[int]
    size_group: Series[str]
    below: Series[float]  # bound of |Δ|, a share
    n: Series[int] = pa.Field(ge=1)  # configurations
    share: Series[float] = pa.Field(ge=0, le=1)
    low: Series[float]
    high: Series[float]
    expected: Series[float] = pa.Field(ge=0, le=1)


def arrow_schema(table: type[Table], texts: pyarrow.DataType) -> pyarrow.Schema:
    """Return the columns of a table as Arrow types; `texts` is that of lists of texts."""
    kinds = {"int64": pyarrow.int64(), "float64": pyarrow.float64(), "object": texts}
    columns = table.to_schema().columns.items()
    return pyarrow.schema(
        [(name, kinds.get(str(kind.dtype), pyarrow.large_string())) for name, kind in columns]
    )
