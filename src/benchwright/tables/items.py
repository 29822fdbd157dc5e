"""Items, demonstrations and rejected source rows."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Columns, NotEmpty, Table


class ItemRows(Table):
    """One row per question, in the natural order of ids; later stages keep that order.

    `answer` is an index into `choices`, −1 where open-ended.
    """

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


class Items(ItemRows, NotEmpty):
    """The questions of a benchmark: never empty."""


class Demonstrations(ItemRows):
    """Worked examples shown before the question, or items to calibrate on; may be empty."""


class KeptItems(Items):
    """Items that no rule removed, with what the rules say of them."""

    tags: Series[str]  # as in `ItemAudit`, e.g. retained_easy; "" for none


class RemovedItems(ItemRows):
    """Items that a rule removed; may be empty."""


KnownLabelErrors = Columns(
    (str, "item_id", "kind"),
)
"""Items whose gold answers the source has checked."""


class RejectedItems(Table):
    """Rejected source rows: `len(raw) == len(items) + len(rejected)`.

    `row` is the position in the source, from 1, `raw` the whole row as JSON text.
    """

    row: Series[int] = pa.Field(ge=1)
    rule: Series[str]
    detail: Series[str]
    raw: Series[str]
