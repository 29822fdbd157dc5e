"""What duplicates are found by, made of each row by itself: keys and MinHash signatures."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.clean import clean_batch
from benchwright.methods.mmlu_cf.cleaning.cleaned import Cleaned, as_raw
from benchwright.methods.mmlu_cf.cleaning.exact_duplicates import Keys, keys
from benchwright.methods.mmlu_cf.cleaning.near_duplicates import signatures
from benchwright.methods.mmlu_cf.cleaning.rows import Rows
from benchwright.params.cleaning import CleaningParams

_AT_ONCE = 20_000


class Fingerprints(NamedTuple):
    """Of n clean rows; empty where the rule that needs them is off.

    Attributes:
        text, answer: as in `Keys`, shapes (n, 2) and (n,).
        signed: MinHash signatures, shape (n, permutations).
    """

    text: NDArray[np.uint64]
    answer: NDArray[np.uint64]
    signed: NDArray[np.uint32]

    def take(self, places: NDArray[np.int64]) -> "Fingerprints":
        """Those of some rows."""
        return Fingerprints(
            self.text[places] if len(self.text) else self.text,
            self.answer[places] if len(self.answer) else self.answer,
            self.signed[places] if len(self.signed) else self.signed,
        )


def fingerprints(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    """Fingerprints of clean rows."""
    return joined_fingerprints(
        [
            _of_slice(rows.slice(start, _AT_ONCE), params)
            for start in range(0, max(rows.num_rows, 1), _AT_ONCE)
        ]
    )


def joined_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Of several batches, as of one."""
    return Fingerprints(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cleaned_with_fingerprints(
    table: pa.Table, params: CleaningParams
) -> Iterator[tuple[Cleaned, Fingerprints]]:
    """The row rules on a batch of raw items, and the fingerprints of what is clean: one pair."""
    cleaned = clean_batch(table, params)
    yield cleaned, fingerprints(cleaned.rows, params)


def _of_slice(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    raw = Rows.of(as_raw(rows))
    found = Keys(np.zeros((0, 2), np.uint64), np.zeros(0, np.uint64))
    signed = np.zeros((0, params.near_duplicates.permutations), np.uint32)
    if "exact_duplicate" not in params.off:
        found = keys(raw, rows.column("answer").to_numpy())
    if "near_duplicate" not in params.off:
        signed = signatures(raw, params.near_duplicates)
    return Fingerprints(*found, signed)
