"""Texts as sets of shingles: every five bytes in a row, without case and punctuation."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import Rows, Text, truths, written_over

_LONG = 250
"""Bytes from which a text is looked at for a passage."""
_LAST = 600
_FIRST = 120
# Up to the last end of a sentence or line that at least 15 characters follow.
_BEFORE_LAST_SENTENCE = r"(?s)^.*(?:[.?!][\x{22}\x{27}\x{201D})\]]*\s|\n)\s*(?P<last>\S.{14,})$"


def last_sentence(questions: Text) -> Text:
    """The last sentence or line of a long text, the whole of a short one.

    A passage that several items share stands before what is asked, as a rule; what an item asks is
    told from its last sentence, its first one (`beginning`) and its choices.
    """
    long = truths(pc.greater(pc.binary_length(questions), _LONG))
    if not long.any():
        return questions
    some = pc.utf8_trim_whitespace(questions.filter(pa.array(long)))
    some = pc.utf8_slice_codeunits(some, -_LAST)
    last = pc.struct_field(pc.extract_regex(some, _BEFORE_LAST_SENTENCE), "last")
    return written_over(questions, long, pc.coalesce(last, some))


def beginning(questions: Text) -> Text:
    """The first 120 characters."""
    return pc.utf8_slice_codeunits(pc.utf8_ltrim_whitespace(questions), 0, _FIRST)


WIDTH = 5
_BITS = 8 * WIDTH
_SPACE = 32
_KEPT = b"+=<>*/^%-"  # they change what a formula says

_PLAIN = np.arange(256, dtype=np.uint8)
_PLAIN[[b for b in range(128) if not chr(b).isalnum() and b not in _KEPT]] = _SPACE


class Shingles(NamedTuple):
    """Shingles of n texts, those of text i at offsets[i] … offsets[i + 1] − 1.

    Attributes:
        values: the five bytes as a number below 2^40; more than once where they repeat.
        offsets: shape (n + 1,).
    """

    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def grouped(self, offsets: NDArray[np.int64]) -> "Shingles":
        """Those of text offsets[i] … offsets[i + 1] − 1 as of one text."""
        return Shingles(self.values, self.offsets[offsets])

    def distinct(self) -> "Shingles":
        """Each shingle of a text once; for fewer than 2^24 texts."""
        n = len(self.offsets) - 1
        owner = np.repeat(np.arange(n, dtype=np.uint64), np.diff(self.offsets))
        keys = owner << np.uint64(_BITS) | self.values
        keys.sort()
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)]]
        counts = np.bincount((keys >> np.uint64(_BITS)).astype(np.int64), minlength=n)
        return Shingles(
            keys & np.uint64((1 << _BITS) - 1), np.concatenate([[0], np.cumsum(counts)])
        )


def shingles(texts: Text) -> Shingles:
    """Shingles of texts; one of b bytes has b, the last ones filled up with spaces."""
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
    """Shingles of a text and the choices of each row; the order of the choices does not matter."""
    n, m = len(rows), len(rows.parent)
    order = np.empty(n + m, np.int64)
    order[rows.offsets[:-1] + np.arange(n)] = np.arange(n)
    order[np.arange(m) + rows.parent + 1] = n + np.arange(m)
    texts = pa.concat_arrays([questions, rows.choices]).take(pa.array(order))
    return shingles(texts).grouped(rows.offsets + np.arange(n + 1))


def jaccard(
    sets: Shingles, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Exact Jaccard similarity of pairs of distinct shingles, 0–1; 1 for two empty sets.

    Args:
        sets: as `Shingles.distinct` gives them.
        left: index of the one text of each pair, shape (pairs,), fewer than 2^24.
        right: of the other.
    """
    pair = np.arange(len(left), dtype=np.uint64)
    sizes = np.diff(sets.offsets)
    keys = np.concatenate(
        [
            np.repeat(pair, sizes[side]) << np.uint64(_BITS) | _gathered(sets, side)
            for side in (left, right)
        ]
    )
    keys.sort()
    twice = keys[1:][keys[1:] == keys[:-1]] >> np.uint64(_BITS)
    shared = np.bincount(twice.astype(np.int64), minlength=len(left))
    union = sizes[left] + sizes[right] - shared
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)


def plain_bytes(texts: Text) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 of the texts in lower case, each run of punctuation and white space as one space.

    Returns the bytes of all texts and the offsets of each, shape (n + 1,). Nulls are empty.
    """
    low = pc.utf8_lower(pc.fill_null(texts, ""))
    odd = ~truths(pc.string_is_ascii(low))
    if odd.any():
        some = pc.replace_substring_regex(
            low.filter(pa.array(odd)), r"[^\x00-\x7f\p{L}\p{M}\p{N}\p{Sm}]+", " "
        )
        low = pc.replace_with_mask(low, pa.array(odd), some)
    _, ends, data = low.buffers()
    offsets = np.frombuffer(ends, np.int64)[low.offset : low.offset + len(low) + 1]
    if data is None:
        return np.zeros(0, np.uint8), np.zeros(len(low) + 1, np.int64)
    letters = _PLAIN[np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]]
    offsets = offsets - offsets[0]
    for reverse in (False, True):  # a run keeps its last space, and the ends of a text none
        letters, offsets = _without_spaces(letters, offsets, reverse)
    return letters, offsets


def _without_spaces(
    letters: NDArray[np.uint8], offsets: NDArray[np.int64], at_end: bool
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    space = letters == _SPACE
    drop = space.copy()
    ends = offsets[1:][np.diff(offsets) > 0] - 1
    starts = offsets[:-1][np.diff(offsets) > 0]
    if at_end:
        drop[:] = False
        drop[ends] = space[ends]
    else:
        drop[1:] &= space[:-1]
        drop[starts] = space[starts]
    kept = np.concatenate([[0], np.cumsum(~drop)])
    return letters[~drop], kept[offsets]


def _gathered(sets: Shingles, texts: NDArray[np.int64]) -> NDArray[np.uint64]:
    sizes = np.diff(sets.offsets)[texts]
    first = np.repeat(sets.offsets[texts] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return sets.values[first + np.arange(len(first))]
