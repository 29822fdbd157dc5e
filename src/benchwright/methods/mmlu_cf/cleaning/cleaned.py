"""What cleaning gives: clean rows, rejected rows, what was rewritten, and the funnel."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import LETTERS, decoded

_TEXT, _TEXTS = pa.large_string(), pa.large_list(pa.large_string())
CLEAN = pa.schema(
    [
        ("item_id", _TEXT),
        ("doc_id", _TEXT),
        ("url", _TEXT),
        ("domain", _TEXT),
        ("question", _TEXT),
        ("choices", _TEXTS),
        ("answer", pa.int64()),
        ("explanation", _TEXT),
        ("passage", _TEXT),
        ("field", _TEXT),
        ("field_confidence", pa.float64()),
    ]
)
REJECTED = pa.schema([(name, _TEXT) for name in ("item_id", "rule", "detail", "raw")])
CHANGES = pa.schema([(name, _TEXT) for name in ("item_id", "rule", "column", "before", "after")])
FUNNEL = pa.schema(
    [
        ("place", pa.int64()),
        ("rule", _TEXT),
        ("kind", _TEXT),
        *((name, pa.int64()) for name in ("rows_in", "changed", "rejected", "rows_out")),
    ]
)
DUPLICATES = pa.schema(
    [
        ("item_id", _TEXT),
        ("rule", _TEXT),
        ("like", _TEXT),
        ("similarity", pa.float64()),
        ("detail", _TEXT),
    ]
)


class Cleaned(NamedTuple):
    """Outcome of cleaning; `len(rows) + len(rejected)` is the number of rows that came in.

    Attributes:
        rows: `CleanItems` (field and field_confidence null).
        rejected: `RejectedRawItems`; `raw` is the row as it came in, as JSON.
        changes: `CleaningChanges`: one per text that a rule rewrote, also of rows rejected later.
        counts: `CleaningFunnel`. Rows and rules are counted so that funnels of batches add up.
        duplicates: `CleaningDuplicates`; none before batches are looked at together.
    """

    rows: pa.Table
    rejected: pa.Table
    changes: pa.Table
    counts: pa.Table
    duplicates: pa.Table = DUPLICATES.empty_table()


def joined(parts: Iterable[Cleaned]) -> Cleaned:
    """The batches as one, their funnels added up."""
    rows, rejected, changes, counts, duplicates = zip(*parts, strict=True)
    total = counts[0]
    for name in ("rows_in", "changed", "rejected", "rows_out"):
        column = sum(np.asarray(one.column(name)) for one in counts)
        total = total.set_column(FUNNEL.get_field_index(name), name, pa.array(column))
    return Cleaned(
        pa.concat_tables(rows),
        pa.concat_tables(rejected),
        pa.concat_tables(changes),
        total,
        pa.concat_tables(duplicates),
    )


def as_raw(rows: pa.Table) -> pa.Table:
    """Clean rows as raw ones: labels A, B, …, the answer as a letter."""
    names = pa.array([*LETTERS, None], _TEXT)
    counts = pc.list_value_length(rows.column("choices")).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(counts)])
    slots = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
    labels = pa.LargeListArray.from_arrays(
        pa.array(offsets, pa.int64()), names.take(pa.array(slots, pa.int64()))
    )
    answer = names.take(pa.array(rows.column("answer").to_numpy()))
    return rows.set_column(rows.column_names.index("answer"), "answer", answer).append_column(
        "labels", labels
    )


def rejected_rows(
    raw: pa.Table, places: NDArray[np.int64], rules: pa.Array, details: pa.Array
) -> pa.Table:
    """`RejectedRawItems` of the rows of `raw` at `places`."""
    if not len(places):
        return REJECTED.empty_table()
    some = raw.take(pa.array(places))
    return pa.table(
        [some.column("item_id").cast(_TEXT), rules.cast(_TEXT), details.cast(_TEXT), as_json(some)],
        schema=REJECTED,
    )


def as_json(table: pa.Table) -> pa.Array:
    """Each row as a JSON object, in one line."""
    columns = [_readable(column.combine_chunks()) for column in table.columns]
    table = pa.table(columns, names=table.column_names)
    frame: pd.DataFrame = table.to_pandas(
        types_mapper=_numbers_as_they_are, integer_object_nulls=True
    )
    lines = frame.to_json(orient="records", lines=True, force_ascii=False).rstrip("\n").split("\n")
    return pa.array(lines, _TEXT)


def _readable(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else column.combine_chunks()
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return decoded(column)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]))
        return pa.LargeListArray.from_arrays(
            offsets, decoded(pc.list_flatten(column)), mask=pc.is_null(column)
        )
    return column


def _numbers_as_they_are(kind: pa.DataType) -> pd.api.extensions.ExtensionDtype | None:
    return pd.Int64Dtype() if pa.types.is_integer(kind) else None
