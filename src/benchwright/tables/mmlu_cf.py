"""Tables of a benchmark with a closed half, made from documents."""

import pandera.pandas as pa
import pyarrow
from pandera.typing import Series

from benchwright.tables.base import Columns, Table

SplitAssignment = Columns(
    (str, "item_id", "half", "field"),
    (float, "difficulty"),
    (str, "stratum"),
)
"""The half of each item; in a sealed benchmark, test items have keyed ids."""


HalfGap = Columns(
    (str, "model", "style"),
    (int, "shots"),
    (str, "size_group"),
    (int, "n_validation", "n_test"),
    (float, "validation", "test", "delta", "low", "high"),
    (bool, "suspicious"),
    (str, "field"),  # "" is all fields
    (float, "p_value", "p_holm"),
    (str, "reason"),
    (float, "original", "n_original"),  # on the original benchmark
)
"""One model's accuracy on both halves; key (model, style, shots, field).

`delta` is test − validation; accuracies, delta and bounds are shares, 0–1.
"""


Memorisation = Columns(
    (str, "model", "item_id"),
    (float, "exact", "fuzzy", "control_fuzzy"),
    (str, "reply"),
    (int, "sample", "written"),  # written: options in the reply
    (str, "control_item"),  # "" without a suitable item of the subject
)
"""Share of an item's options that a model writes from the question alone.

Key (model, item_id, sample). `exact` and `fuzzy` are shares of the options (0–1) written in their
places; `control_fuzzy` is the same for the options of another item of the subject.
"""


MemorisationSummary = Columns(
    (str, "model"),
    (int, "items", "with_options"),  # with_options: items with a reply that has any option
    # items with all options verbatim, or within the threshold
    (float, "exact", "exact_low", "exact_high", "fuzzy", "fuzzy_low", "fuzzy_high"),
    (float, "options_fuzzy"),  # mean share of an item's options
    (int, "compared"),  # items with a control
    # items whose control is complete
    (float, "control_whole", "control_whole_low", "control_whole_high"),
    (int, "item_only", "control_only"),  # complete items whose control is not, and the reverse
    (float, "p_value", "p_holm"),
    (bool, "remembers"),
)
"""Rates of remembered items per model, and the test against the control; key model."""


class RejectedRawItems(Table):
    """Raw items that a cleaning rule rejected (MMLU-CF, section 3.2); key item_id."""

    item_id: Series[str]
    rule: Series[str]
    detail: Series[str]
    # of duplicates: the item like it, which is kept unless the copies' answers differ
    duplicate_of: Series[str] = pa.Field(nullable=True)
    similarity: Series[float] = pa.Field(ge=0, le=1, nullable=True)  # Jaccard, question and choices


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


CHECKED = ["good", "low_rating", "harmful", "unjudged"]
"""What the check finds of a question; only good ones pass."""


Judgements = Columns(
    (str, "item_id", "judge"),
    (float, "level", "overall"),  # of difficulty, 0–9; of quality, 1–5
    (float, "hatred", "sex", "self_harm", "violence"),  # 0 or 1
)
"""What each judge said of each item of a benchmark; key (item_id, judge).

Values are missing where they were not asked for, or where no reply was readable.
"""


JudgedItems = Columns(
    (str, "item_id", "subject"),
    (float, "difficulty", "level", "mean_rating"),  # level: a whole number, 0–9
    (str, "harms", "reason"),  # harms: those that count, separated by commas; reason: `CHECKED`
)
"""The judges' combined level, rating and decision on each item of a benchmark; key item_id."""


class RawItems(Table):
    """Questions extracted from documents, in their original form; key item_id.

    `answer` is a label, or the text of the option where options have no label, or null.
    """

    item_id: Series[str] = pa.Field(unique=True)  # <doc_id>#<number>
    doc_id: Series[str]
    number: Series[int] = pa.Field(ge=1)
    url: Series[str] = pa.Field(nullable=True)
    domain: Series[str] = pa.Field(nullable=True)
    question: Series[str]
    choices: Series[object]  # list[str]
    labels: Series[object]  # list[str], "" where an option has none
    answer: Series[str] = pa.Field(nullable=True)
    explanation: Series[str] = pa.Field(nullable=True)
    passage: Series[str] = pa.Field(nullable=True)


HalfGapShares = Columns(
    (str, "style"),
    (int, "shots"),
    (str, "size_group"),
    (float, "below"),  # bound of |Δ|, a share
    (int, "n"),  # configurations
    (float, "share", "low", "high", "expected"),
)
"""Share of small gaps between the halves; key (style, shots, size_group, below).

`style` "" with `shots` −1 is all styles and shots, `size_group` "" all sizes. Shares are 0–1,
bounds are Wilson's, as if models were independent; `expected` is the share under sampling error
alone, for halves of equal difficulty.
"""


def arrow_schema(table: type[Table], texts: pyarrow.DataType) -> pyarrow.Schema:
    """Return the columns of a table as Arrow types; `texts` is that of lists of texts."""
    kinds = {"int64": pyarrow.int64(), "float64": pyarrow.float64(), "object": texts}
    columns = table.to_schema().columns.items()
    return pyarrow.schema(
        [(name, kinds.get(str(kind.dtype), pyarrow.large_string())) for name, kind in columns]
    )
