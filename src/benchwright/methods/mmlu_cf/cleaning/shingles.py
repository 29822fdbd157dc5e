"""Texts as sets of shingles: all runs of five bytes, without case and punctuation."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import (
    Ints,
    Rows,
    Text,
    offsets_of,
    ranges,
    truths,
    written_over,
)

_LONG = 250
"""Bytes above which a text may contain a passage."""
_LAST = 600
_FIRST = 120
# Up to the last end of a sentence or line that at least 15 characters follow.
_BEFORE_LAST_SENTENCE = r"(?s)^.*(?:[.?!][\x{22}\x{27}\x{201D})\]]*\s|\n)\s*(?P<last>\S.{14,})$"


def last_sentence(questions: Text) -> Text:
    """Return the last sentence or line of long texts, and short texts as they are.

    A passage shared by several items usually precedes the question, so an item is identified by its
    last sentence, its first one (`beginning`) and its choices.
    """
    long = truths(pc.greater(pc.binary_length(questions), _LONG))
    some = pc.utf8_trim_whitespace(questions.filter(pa.array(long)))
    some = pc.utf8_slice_codeunits(some, -_LAST)
    last = pc.struct_field(pc.extract_regex(some, _BEFORE_LAST_SENTENCE), "last")
    return written_over(questions, long, pc.coalesce(last, some))


def beginning(questions: Text) -> Text:
    """Return the first 120 characters of each text."""
    return pc.utf8_slice_codeunits(pc.utf8_ltrim_whitespace(questions), 0, _FIRST)


WIDTH = 5
_BITS = 8 * WIDTH
_SPACE = 32
_KEPT = b"+=<>*/^%-"  # they change the meaning of a formula

_PLAIN = np.arange(256, dtype=np.uint8)
_PLAIN[[b for b in range(128) if not chr(b).isalnum() and b not in _KEPT]] = _SPACE


class Shingles(NamedTuple):
    """Shingles of n texts, those of text i at offsets[i] … offsets[i + 1] − 1.

    Attributes:
        values: the five bytes as a number below 2^40; repeated shingles occur repeatedly.
        offsets: shape (n + 1,).
    """

    values: NDArray[np.uint64]
    offsets: Ints

    def grouped(self, offsets: Ints) -> "Shingles":
        """Join the texts offsets[i] … offsets[i + 1] − 1 into one text each."""
        return Shingles(self.values, self.offsets[offsets])

    def distinct(self) -> "Shingles":
        """Keep each shingle of a text once; for fewer than 2^24 texts."""
        n = len(self.offsets) - 1
        owner = np.repeat(np.arange(n, dtype=np.uint64), np.diff(self.offsets))
        keys = owner << np.uint64(_BITS) | self.values
        keys.sort()
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]]
        counts = np.bincount((keys >> np.uint64(_BITS)).astype(np.int64), minlength=n)
        return Shingles(keys & np.uint64((1 << _BITS) - 1), offsets_of(counts))

    def of(self, texts: Ints) -> NDArray[np.uint64]:
        """Return the shingles of some texts, one text after another."""
        return self.values[ranges(self.offsets[texts], np.diff(self.offsets)[texts])]


def shingles(texts: Text) -> Shingles:
    """Return one shingle per byte of each text; the last ones are padded with spaces."""
    data, offsets = plain_bytes(texts)
    lengths = np.diff(offsets)
    start = np.arange(len(data)) + np.repeat(np.arange(len(lengths)) * (WIDTH - 1), lengths)
    padded = np.full(len(data) + (WIDTH - 1) * (len(lengths) + 1), _SPACE, np.uint8)
    padded[start] = data
    values = np.zeros(len(data), np.uint64)
    for place in range(WIDTH):
        values |= padded[start + place].astype(np.uint64) << np.uint64(8 * place)
    return Shingles(values, offsets)


def item_shingles(rows: Rows, questions: Text) -> Shingles:
    """Return the shingles of a text and the choices of each row, in any order of the choices."""
    n, m = len(rows), len(rows.parent)
    order = np.empty(n + m, np.int64)
    order[rows.offsets[:-1] + np.arange(n)] = np.arange(n)
    order[np.arange(m) + rows.parent + 1] = n + np.arange(m)
    texts = pa.concat_arrays([questions, rows.choices]).take(pa.array(order))
    return shingles(texts).grouped(rows.offsets + np.arange(n + 1))


def jaccard(sets: Shingles, left: Ints, right: Ints) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of pairs of texts, 0–1; 1 for two empty sets.

    `sets` are distinct shingles (`Shingles.distinct`); `left` and `right` are the indices of the
    texts of fewer than 2^24 pairs, shape (pairs,).
    """
    pair = np.arange(len(left), dtype=np.uint64)
    sizes = np.diff(sets.offsets)
    keys = np.concatenate(
        [np.repeat(pair, sizes[side]) << np.uint64(_BITS) | sets.of(side) for side in (left, right)]
    )
    keys.sort()
    twice = keys[1:][keys[1:] == keys[:-1]] >> np.uint64(_BITS)
    shared = np.bincount(twice.astype(np.int64), minlength=len(left))
    union = sizes[left] + sizes[right] - shared
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)


def plain_bytes(texts: Text) -> tuple[NDArray[np.uint8], Ints]:
    """Return texts in lower-case UTF-8, with runs of punctuation and white space as one space.

    The second result is the offsets of each text in the bytes, shape (n + 1,). Nulls are empty.
    """
    low = pc.utf8_lower(pc.fill_null(texts, ""))
    odd = ~truths(pc.string_is_ascii(low))
    some = low.filter(pa.array(odd))
    some = pc.replace_substring_regex(some, r"[^\x00-\x7f\p{L}\p{M}\p{N}\p{Sm}]+", " ")
    low = written_over(low, odd, some)
    _, ends, data = low.buffers()
    offsets = np.frombuffer(ends, np.int64)[low.offset : low.offset + len(low) + 1]
    if data is None:
        return np.zeros(0, np.uint8), np.zeros(len(low) + 1, np.int64)
    letters = _PLAIN[np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]]
    offsets = offsets - offsets[0]
    for at_end in (False, True):  # keep one space of a run, and none at the ends of a text
        space = letters == _SPACE
        edges = (offsets[1:] - 1 if at_end else offsets[:-1])[np.diff(offsets) > 0]
        drop = np.zeros(len(letters), np.bool_) if at_end else space & np.roll(space, 1)
        drop[edges] = space[edges]
        letters, offsets = letters[~drop], offsets_of(~drop)[offsets]
    return letters, offsets
