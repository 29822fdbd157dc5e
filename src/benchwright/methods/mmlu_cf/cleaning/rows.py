"""A batch of questions as columns for the cleaning rules, and the results of cleaning."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
Ints = NDArray[np.int64]

TEXT = pa.large_string()
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII"
ROMAN = (*_ROMAN.split(), "XXIV", "XXV", "XXVI")


def offsets_of(counts: NDArray[Any]) -> Ints:
    """Return the bounds of consecutive groups of the given sizes, shape (groups + 1,)."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def ranges(starts: Ints | int, counts: NDArray[Any]) -> Ints:
    """Return starts[i] … starts[i] + counts[i] − 1 for all i, one after another."""
    offsets = offsets_of(counts)
    return np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1])


@dataclass(frozen=True)
class Rows:
    """`n` rows with `m` choices in all."""

    index: Ints  # position in the input batch, ascending, shape (n,)
    question: Text  # shape (n,), without nulls
    answer: Text  # as on the page, null if there is none, shape (n,)
    # passage, explanation: null if there is none, shape (n,)
    passage: Text
    explanation: Text
    choices: Text  # shape (m,), without nulls
    labels: Text  # shape (m,): "" in rows without labels, "?" in rows with another number of labels
    offsets: Ints  # shape (n + 1,): row i has the choices offsets[i] … offsets[i + 1] − 1

    @classmethod
    def of(cls, table: pa.Table) -> "Rows":
        """Return the columns of raw items (`RawItems`).

        Raises:
            InputError: `item_id`, `question`, `choices` or `answer` is missing.
        """
        for name in ("item_id", "question", "choices", "answer"):
            if name not in table.column_names:
                raise InputError(f"raw items: no column {name!r}")
        optional = {"labels": pa.large_list(TEXT), "passage": TEXT, "explanation": TEXT}
        for name in optional.keys() - {*table.column_names}:
            table = table.append_column(name, pa.nulls(table.num_rows, optional[name]))
        choices, offsets = _flattened(table.column("choices").combine_chunks())
        labels, label_offsets = _flattened(table.column("labels").combine_chunks())
        question, answer, passage, explanation = (
            decoded(table.column(name).combine_chunks())
            for name in ("question", "answer", "passage", "explanation")
        )
        return cls(
            np.arange(table.num_rows),
            pc.fill_null(question, ""),
            answer,
            passage,
            explanation,
            pc.fill_null(choices, ""),
            _aligned(pc.fill_null(labels, ""), label_offsets, offsets),
            offsets,
        )

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def counts(self) -> Ints:
        """Number of choices of each row, shape (n,)."""
        return np.diff(self.offsets)

    @cached_property
    def parent(self) -> Ints:
        """Row of each choice, shape (m,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    @cached_property
    def slot(self) -> Ints:
        """Position of each choice in its row, from 0, shape (m,)."""
        return ranges(0, self.counts)

    def expected(self, series: Sequence[str]) -> Text:
        """Return the label in a series that each choice should have, or "", shape (m,)."""
        return named((*series, ""), np.minimum(self.slot, len(series)))

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sum over the choices of each row, shape (n,); of hashes modulo 2^64."""
        kind = np.uint64 if values.dtype == np.uint64 else np.int64
        total = np.concatenate([np.zeros(1, kind), np.cumsum(values, dtype=kind)])
        return total[self.offsets[1:]] - total[self.offsets[:-1]]

    def all(self, truths: Bools) -> Bools:
        """Return whether a condition holds for all choices of each row, shape (n,)."""
        return self.sums(truths) == self.counts

    def any(self, truths: Bools) -> Bools:
        """Return whether a condition holds for any choice of each row, shape (n,)."""
        return self.sums(truths) > 0

    def take(self, places: Ints) -> "Rows":
        """Return the rows at some positions."""
        counts = self.counts[places]
        rows, flat = pa.array(places), pa.array(ranges(self.offsets[places], counts))
        return Rows(
            self.index[places],
            self.question.take(rows),
            self.answer.take(rows),
            self.passage.take(rows),
            self.explanation.take(rows),
            self.choices.take(flat),
            self.labels.take(flat),
            offsets_of(counts),
        )

    def where(self, keep: Bools) -> "Rows":
        """Return the rows for which `keep` is true."""
        return self if keep.all() else self.take(np.flatnonzero(keep))


class Outcome(NamedTuple):
    """The rows after a rule, and pairs of a mask (n,) and the reason for rejecting its rows."""

    rows: Rows
    reasons: tuple[tuple[Bools, str], ...] = ()


def truths(array: Any) -> Bools:
    """Convert an Arrow array of Booleans to NumPy; null becomes false."""
    values: Bools = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
    return values


def matches(texts: Text, pattern: str) -> Bools:
    """Return which texts contain a match of a pattern."""
    return truths(pc.match_substring_regex(texts, pattern))


def indices(places: Ints) -> Any:
    """Convert positions to Arrow indices; negative positions become null."""
    return pa.array(places, pa.int64(), mask=places < 0)


def named(names: Sequence[str | None], places: Ints) -> Text:
    """Return the names at some positions; null at negative positions."""
    return pa.array(names, TEXT).take(indices(places))


def places_in(texts: Text, names: Sequence[str]) -> Ints:
    """Return the position of each text among some names, −1 for other texts and nulls."""
    places = pc.fill_null(pc.index_in(texts, pa.array(names, TEXT)), -1)
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)


def written_over(texts: Text, places: Bools, new: Text) -> Text:
    """Replace the texts at `places` by `new`, which has a text for each place."""
    if not places.any():
        return texts
    return pc.replace_with_mask(texts, pa.array(places), new)


def decoded(texts: Any) -> Text:
    """Convert texts to large strings; bytes that are not UTF-8 become U+FFFD."""
    if pa.types.is_null(texts.type):
        return texts.cast(TEXT)
    try:
        texts = texts.cast(TEXT)
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.large_binary()).to_pylist()
        return pa.array(
            [None if text is None else text.decode(errors="replace") for text in raw], TEXT
        )
    return texts


def _flattened(lists: pa.Array) -> tuple[Text, Ints]:
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return decoded(pc.list_flatten(lists)), offsets_of(counts)


def _aligned(labels: Text, have: Ints, need: Ints) -> Text:
    """Return the labels with one entry per choice."""
    if np.array_equal(have, need):
        return labels
    held, wanted = np.diff(have), np.diff(need)
    texts = pa.concat_arrays([labels, pa.array(["", "?"], TEXT)])
    filler = np.repeat(np.where(held == 0, len(labels), len(labels) + 1), wanted)
    fitting = np.repeat(held == wanted, wanted)
    return texts.take(pa.array(np.where(fitting, ranges(have[:-1], wanted), filler)))


HASH_SEED = "benchwright-key-1"

CLEAN, REJECTED, CHANGES, FUNNEL, DUPLICATES = (
    arrow_schema(table, pa.large_list(TEXT))
    for table in (CleanItems, RejectedRawItems, CleaningChanges, CleaningFunnel, CleaningDuplicates)
)


class Cleaned(NamedTuple):
    """The result of cleaning; every input row is in `rows` or in `rejected`."""

    rows: pa.Table  # `CleanItems` (field and field_confidence null)
    rejected: pa.Table  # `RejectedRawItems`; `raw` is the input row as JSON
    # `CleaningChanges`: one per text rewritten by a rule, also of rows rejected later
    changes: pa.Table
    counts: pa.Table  # `CleaningFunnel`; the counts of batches add up
    # `CleaningDuplicates`; empty for a single batch
    duplicates: pa.Table = DUPLICATES.empty_table()


def joined(parts: Iterable[Cleaned]) -> Cleaned:
    """Concatenate batches and add up their funnels."""
    rows, rejected, changes, counts, duplicates = zip(*parts, strict=True)
    total = counts[0]
    for name in ("rows_in", "changed", "rejected", "rows_out"):
        column = sum(np.asarray(part.column(name)) for part in counts)
        total = total.set_column(FUNNEL.get_field_index(name), name, pa.array(column))
    rows, rejected, changes, duplicates = map(
        pa.concat_tables, (rows, rejected, changes, duplicates)
    )
    return Cleaned(rows, rejected, changes, total, duplicates)


def as_raw(rows: pa.Table) -> pa.Table:
    """Convert clean rows to raw ones: labels A, B, …, and the answer as a letter."""
    counts = pc.list_value_length(rows.column("choices")).to_numpy()
    labels = pa.LargeListArray.from_arrays(
        pa.array(offsets_of(counts)), named((*LETTERS, None), ranges(0, counts))
    )
    answer = named((*LETTERS, None), rows.column("answer").to_numpy())
    return rows.set_column(rows.column_names.index("answer"), "answer", answer).append_column(
        "labels", labels
    )


def rejected_rows(raw: pa.Table, places: Ints, rules: pa.Array, details: pa.Array) -> pa.Table:
    """Return `RejectedRawItems` of the rows of `raw` at `places`."""
    if not len(places):
        return REJECTED.empty_table()
    some = raw.take(pa.array(places))
    return pa.table(
        [some.column("item_id").cast(TEXT), rules.cast(TEXT), details.cast(TEXT), as_json(some)],
        schema=REJECTED,
    )


def as_json(table: pa.Table) -> pa.Array:
    """Write each row as a JSON object on one line."""
    columns = [_readable(table.column(name).combine_chunks()) for name in table.column_names]
    frame: pd.DataFrame = pa.table(columns, names=table.column_names).to_pandas(
        types_mapper=lambda kind: pd.Int64Dtype() if pa.types.is_integer(kind) else None,
        integer_object_nulls=True,
    )
    lines = frame.to_json(orient="records", lines=True, force_ascii=False).rstrip("\n").split("\n")
    return pa.array(lines, TEXT)


def _readable(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return decoded(column)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        texts, offsets = _flattened(column)
        return pa.LargeListArray.from_arrays(pa.array(offsets), texts, mask=pc.is_null(column))
    return column


def hashed(texts: pa.Array, seed: str = HASH_SEED) -> NDArray[np.uint64]:
    """Return 64-bit SipHashes of texts, equal on every machine."""
    values = texts.to_numpy(zero_copy_only=False)
    result: NDArray[np.uint64] = pd.util.hash_array(
        values, hash_key=seed[-16:].rjust(16, "."), categorize=False
    )
    return result


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply the finaliser of SplitMix64, a bijection that destroys sums and differences."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
