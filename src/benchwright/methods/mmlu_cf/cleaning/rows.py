"""A batch of questions as columns, on which the cleaning rules work, and what cleaning gives."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleaningDuplicates,
    CleaningFunnel,
    CleanItems,
    RejectedRawItems,
    arrow_schema,
)

Text = Any
"""A `pyarrow.LargeStringArray`."""
Bools = NDArray[np.bool_]

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII"
ROMAN = (*_ROMAN.split(), "XXIV", "XXV", "XXVI")


@dataclass(frozen=True)
class Rows:
    """`n` rows with `m` choices in all; `choices` and `labels` are flat, `offsets` bounds the rows.

    Attributes:
        index: position in the batch that came in, ascending, shape (n,).
        question: shape (n,), without nulls.
        answer: as on the page, null where there is none, shape (n,).
        passage, explanation: null where there is none, shape (n,).
        choices: shape (m,), without nulls.
        labels: shape (m,): "" where a row has none, "?" where it has more or fewer than choices.
        offsets: shape (n + 1,): row i has the choices offsets[i] … offsets[i + 1] − 1.
    """

    index: NDArray[np.int64]
    question: Text
    answer: Text
    passage: Text
    explanation: Text
    choices: Text
    labels: Text
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, table: pa.Table) -> "Rows":
        """Columns of a table of raw items (`RawItems`); `labels` and texts may be missing.

        Raises:
            InputError: `question`, `choices` or `answer` is missing.
        """
        for name in ("item_id", "question", "choices", "answer"):
            if name not in table.column_names:
                raise InputError(f"raw items have no column {name!r}")
        n = table.num_rows
        choices, offsets = _flat(table, "choices")
        labels, label_offsets = _flat(table, "labels")
        return cls(
            np.arange(n),
            pc.fill_null(_text(table, "question"), ""),
            _text(table, "answer"),
            _text(table, "passage"),
            _text(table, "explanation"),
            pc.fill_null(choices, ""),
            _aligned(pc.fill_null(labels, ""), label_offsets, offsets),
            offsets,
        )

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of choices of each row, shape (n,)."""
        return np.diff(self.offsets)

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """The row of each choice, shape (m,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def slot(self) -> NDArray[np.int64]:
        """The position of each choice in its row, from 0, shape (m,)."""
        return np.arange(len(self.parent)) - np.repeat(self.offsets[:-1], self.counts)

    @cached_property
    def letters(self) -> Text:
        """The label that each choice should have, shape (m,); "" after Z."""
        names = pa.array([*LETTERS, ""], pa.large_string())
        return names.take(pa.array(np.minimum(self.slot, len(LETTERS))))

    def sums(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Sum over the choices of each row of a number or truth per choice, shape (n,)."""
        total = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])
        return total[self.offsets[1:]] - total[self.offsets[:-1]]

    def all(self, truths: Bools) -> Bools:
        """Whether it holds of all choices of a row, shape (n,)."""
        return self.sums(truths) == self.counts

    def any(self, truths: Bools) -> Bools:
        """Whether it holds of any choice of a row, shape (n,)."""
        return self.sums(truths) > 0

    def where(self, keep: Bools) -> "Rows":
        """The rows of which `keep` is true."""
        if keep.all():
            return self
        rows, flat = pa.array(keep), pa.array(np.repeat(keep, self.counts))
        return Rows(
            self.index[keep],
            self.question.filter(rows),
            self.answer.filter(rows),
            self.passage.filter(rows),
            self.explanation.filter(rows),
            self.choices.filter(flat),
            self.labels.filter(flat),
            np.concatenate([[0], np.cumsum(self.counts[keep])]),
        )

    def rewritten(self, **columns: Text) -> "Rows":
        """The same rows with other texts."""
        return replace(self, **columns)


class Outcome(NamedTuple):
    """What a rule makes of `n` rows.

    Attributes:
        rows: the same rows, rewritten or not.
        reasons: pairs of a mask of shape (n,) and why its rows are rejected.
    """

    rows: Rows
    reasons: tuple[tuple[Bools, str], ...] = ()


def truths(array: Any) -> Bools:
    """An Arrow array of truths as NumPy; null is false."""
    found: Bools = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return found


def indices(places: NDArray[np.int64]) -> Any:
    """Places as Arrow indices, null for those below 0."""
    return pa.array(places, pa.int64(), mask=places < 0)


def written_over(texts: Text, places: Bools, new: Text) -> Text:
    """The texts with those at `places` replaced by `new`, one for each place."""
    if not places.any():
        return texts
    return pc.replace_with_mask(texts, pa.array(places), new)


def decoded(texts: Any) -> Text:
    """The texts as large strings; bytes that are not UTF-8 become U+FFFD."""
    if pa.types.is_null(texts.type):
        return texts.cast(pa.large_string())
    try:
        texts = texts.cast(pa.large_string())
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.large_binary()).to_pylist()
        return pa.array(
            [None if one is None else one.decode(errors="replace") for one in raw],
            pa.large_string(),
        )
    return texts


def _column(table: pa.Table, name: str) -> Any:
    column = table.column(name).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _text(table: pa.Table, name: str) -> Text:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.large_string())
    return decoded(_column(table, name))


def _flat(table: pa.Table, name: str) -> tuple[Text, NDArray[np.int64]]:
    if name not in table.column_names:
        return pa.array([], pa.large_string()), np.zeros(table.num_rows + 1, np.int64)
    lists = _column(table, name)
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return decoded(pc.list_flatten(lists)), offsets


def _aligned(labels: Text, have: NDArray[np.int64], need: NDArray[np.int64]) -> Text:
    """Labels with one entry per choice."""
    if np.array_equal(have, need):
        return labels
    held, wanted = np.diff(have), np.diff(need)
    texts = pa.concat_arrays([labels, pa.array(["", "?"], pa.large_string())])
    parent = np.repeat(np.arange(len(wanted)), wanted)
    slot = np.arange(len(parent)) - np.repeat(need[:-1], wanted)
    fitting = (held == wanted)[parent]
    without = (held == 0)[parent]
    place = np.where(fitting, have[:-1][parent] + slot, len(labels) + np.where(without, 0, 1))
    return texts.take(pa.array(place))


HASH_SEED = "benchwright-key-1"

_TEXT = pa.large_string()
CLEAN, REJECTED, CHANGES, FUNNEL, DUPLICATES = (
    arrow_schema(table, pa.large_list(_TEXT))
    for table in (CleanItems, RejectedRawItems, CleaningChanges, CleaningFunnel, CleaningDuplicates)
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
    columns = [_readable(_column(table, name)) for name in table.column_names]
    table = pa.table(columns, names=table.column_names)
    frame: pd.DataFrame = table.to_pandas(
        types_mapper=_numbers_as_they_are, integer_object_nulls=True
    )
    lines = frame.to_json(orient="records", lines=True, force_ascii=False).rstrip("\n").split("\n")
    return pa.array(lines, _TEXT)


def _readable(column: pa.Array) -> pa.Array:
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


def hashed(texts: pa.Array, seed: str = HASH_SEED) -> NDArray[np.uint64]:
    """64-bit SipHash of texts, equal on every machine."""
    values = texts.to_numpy(zero_copy_only=False)
    result: NDArray[np.uint64] = pd.util.hash_array(
        values, hash_key=seed[-16:].rjust(16, "."), categorize=False
    )
    return result


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: a bijection after which sums and differences mean nothing."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
