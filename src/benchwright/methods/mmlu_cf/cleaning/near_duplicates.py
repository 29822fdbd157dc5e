"""Items that are nearly the same: MinHash LSH for candidates, exact comparison for each pair.

Signatures are made of the last sentence of the question and the choices, so that items that share
a long passage are not candidates for that alone.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import fuzz

from benchwright.methods.mmlu_cf.cleaning.rows import Bools, Rows, Text, hashed, mixed
from benchwright.methods.mmlu_cf.cleaning.shingles import (
    beginning,
    item_shingles,
    jaccard,
    last_sentence,
    shingles,
)
from benchwright.params.mmlu_cf import NearDuplicateParams

# One such word more or less, and the question is another one.
_POLARITY = (
    "not n't no never none neither except least most without false true incorrect correct increase "
    "decrease more less greater smaller higher lower highest lowest maximum minimum first second "
    "third last before after above below positive negative left right north south east west early "
    "late"
)
_SPACE = pa.scalar(" ", pa.large_string())
_MINUS = r"(^|[\s(=,+*/^])-\s*([0-9.\p{L}])"
_NOT_FORMULA = r"[^0-9+=<>*/^%\x{2212}\x{2190}-\x{22FF}]+"
_NOT_WORD = r"[^\p{L}\p{N}+=<>*/^%\x{2212}\x{2190}-\x{22FF}]+"


_WORD = re.compile(r"[^\W\d_]+")
_JOINING = frozenset({
    "would", "will", "could", "should", "might", "must", "shall", "which", "what", "that",
    "this", "these", "those", "there", "their", "with", "from", "into", "onto", "upon", "have",
    "been", "being", "does", "most", "best", "following", "when", "where", "while", "also",
    "such",
})  # fmt: skip
_NEGATING = ("in", "un", "im", "ir", "il", "dis", "non", "anti", "mis")


Ints = NDArray[np.int64]


class Compared(NamedTuple):
    """The pairs that ask the same.

    Attributes:
        later, earlier: positions of the items, shape (pairs,).
        similarity: Jaccard similarity of question and choices, shape (pairs,).
    """

    later: Ints
    earlier: Ints
    similarity: NDArray[np.float64]


class PairsToCompare(NamedTuple):
    """Pairs with nothing but the items in them, so that another process can compare them.

    Attributes:
        rows: the items.
        answer: position of each item's answer, shape (items,).
        items: their positions among all, ascending, shape (items,).
        one, other: the later and the earlier item of each pair, shape (pairs,), below `items`.
    """

    rows: Rows
    answer: Ints
    items: Ints
    one: Ints
    other: Ints

    @classmethod
    def of(cls, rows: Rows, answer: Ints, later: Ints, earlier: Ints) -> "PairsToCompare":
        """Pairs of items given by their positions in `rows`."""
        items, inverse = np.unique(np.concatenate([later, earlier]), return_inverse=True)
        counts = rows.counts[items]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        flat = np.repeat(rows.offsets[items] - offsets[:-1], counts) + np.arange(offsets[-1])
        at = pa.array(items)
        some = Rows(
            rows.index[items],
            rows.question.take(at),
            rows.answer.take(at),
            rows.passage.take(at),
            rows.explanation,
            rows.choices.take(pa.array(flat)),
            rows.labels,
            offsets,
        )
        return cls(some, answer[items], items, inverse[: len(later)], inverse[len(later) :])

    def only(self, keep: Bools) -> "PairsToCompare":
        """Some of the pairs, with their items."""
        some = self.of(self.rows, self.answer, self.one[keep], self.other[keep])
        return some._replace(items=self.items[some.items])


def compared_pairs(pairs: PairsToCompare, params: NearDuplicateParams) -> Iterator[Compared]:
    """Those of the pairs that ask the same, by the texts of both; one batch.

    Two items do if (1) question, passage and choices together reach `similarity`; (2) the passage,
    the beginning and the last sentence of the question, and the choices reach `part_similarity`
    each; (3) they have the same numbers, operators and words of polarity ("not", "increase"); (4)
    their answers are the same choice; (5) no word of the one question stands for another word in
    the other, unless it is spelt much like it. (3), (4) and (5) err on the side of keeping both.
    """
    rows = pairs.rows
    whole = pc.binary_join_element_wise(pc.fill_null(rows.passage, ""), rows.question, _SPACE)
    similarity = jaccard(item_shingles(rows, whole).distinct(), pairs.one, pairs.other)
    alike = similarity >= params.similarity
    pairs, similarity = pairs.only(alike), similarity[alike]
    same = _parts_alike(pairs, params.part_similarity)
    pairs, similarity = pairs.only(same), similarity[same]
    same = _ask_the_same(pairs, params.part_similarity)
    later, earlier = pairs.items[pairs.one[same]], pairs.items[pairs.other[same]]
    yield Compared(later, earlier, similarity[same])


def _parts_alike(pairs: PairsToCompare, least: float) -> Bools:
    """Whether passage, last sentence, beginning and choices are alike, each by itself."""
    rows, same = pairs.rows, np.ones(len(pairs.one), np.bool_)
    for part in (
        shingles(rows.passage),
        shingles(last_sentence(rows.question)),
        shingles(beginning(rows.question)),
        shingles(rows.choices).grouped(rows.offsets),
    ):
        same[same] = jaccard(part.distinct(), pairs.one[same], pairs.other[same]) >= least
    return same


def _ask_the_same(pairs: PairsToCompare, least: float) -> Bools:
    """Whether formulas, polarity, number of choices, answers and words agree."""
    rows, one, other = pairs.rows, pairs.one, pairs.other
    same = np.ones(len(one), np.bool_)
    for marks in (_formulas(rows), _polarity(rows), rows.counts):
        same &= marks[one] == marks[other]
    gold = np.maximum(pairs.answer, 0)
    same[same] = _same_answer(rows, gold, one[same], other[same], least)
    questions = (rows.question.take(pa.array(side[same])).to_pylist() for side in (one, other))
    same[same] = [not substituted(a, b) for a, b in zip(*questions, strict=True)]
    return same


def _formulas(rows: Rows) -> NDArray[np.uint64]:
    """A hash of the numbers and operators of the question, in order, and of the choices' sets."""
    passage = pc.fill_null(rows.passage, "")
    whole = hashed(_formula(pc.binary_join_element_wise(passage, rows.question, _SPACE)))
    each = np.concatenate([[np.uint64(0)], np.cumsum(mixed(hashed(_formula(rows.choices))))])
    return mixed(whole) + each[rows.offsets[1:]] - each[rows.offsets[:-1]]


def _formula(texts: Text) -> Text:
    signs = pc.replace_substring_regex(texts, _MINUS, "\\1\u2212\\2")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(signs, _NOT_FORMULA, " "))


def _polarity(rows: Rows) -> Ints:
    """A number made of how often each word of polarity stands in the question."""
    total = np.zeros(len(rows), np.int64)
    low = pc.utf8_lower(rows.question)
    for place, word in enumerate(_POLARITY.split()):
        pattern = word if word == "n't" else rf"\b{word}(?:s|d|ed|ing)?\b"
        count = pc.count_substring_regex(low, pattern).to_numpy(zero_copy_only=False)
        total = total + count.astype(np.int64) * (31**place % (1 << 61))  # wraps around
    return total


def substituted(one: str, other: str) -> bool:
    """Whether each text has a word of four letters or more for which the other has none like it.

    Alike are words that share 70% of their letters in order, unless one is the other with a prefix
    that negates it. Words that only join a sentence together do not count.
    """
    mine, yours = (set(_WORD.findall(text.lower())) for text in (one, other))
    only_mine, only_yours = mine - yours, yours - mine
    return _unlike(only_mine, only_yours) and _unlike(only_yours, only_mine)


def _unlike(words: set[str], others: set[str]) -> bool:
    telling = (word for word in words if len(word) >= 4 and word not in _JOINING)
    return any(not any(_alike(word, other) for other in others) for word in telling)


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return fuzz.ratio(one, other) >= 70 and long not in {prefix + short for prefix in _NEGATING}


def _same_answer(rows: Rows, gold: Ints, one: Ints, other: Ints, least: float) -> Bools:
    words = pc.replace_substring_regex(pc.utf8_lower(rows.choices), _NOT_WORD, "")
    value = hashed(words)
    at = rows.offsets[:-1] + gold
    answers = shingles(rows.choices.take(pa.array(at))).distinct()
    same = (value[at[one]] == value[at[other]]) | (jaccard(answers, one, other) >= least)
    for mine, yours in ((one, other), (other, one)):
        same &= ~_is_distractor(rows, value, gold, value[at[mine]], yours)
    return same


def _is_distractor(
    rows: Rows, value: NDArray[np.uint64], gold: Ints, wanted: NDArray[np.uint64], items: Ints
) -> Bools:
    """Whether a text is one of an item's choices but not its answer."""
    found = np.zeros(len(items), np.bool_)
    right = value[rows.offsets[:-1][items] + gold[items]] == wanted
    for slot in range(int(rows.counts.max(initial=0))):
        there = rows.counts[items] > slot
        at = rows.offsets[:-1][items[there]] + slot
        found[there] |= value[at] == wanted[there]
    return found & ~right


Pairs = Ints
"""Pairs of n items, each as later · n + earlier."""

Over = Callable[[Callable[[Any], Any], Iterator[Any]], Iterator[Any]]

_PAIRS_AT_ONCE = 10_000
_ESTIMATED_AT_ONCE = 100_000
_MARGIN = 4  # standard errors below the threshold at which an estimate rules a pair out


class Near(NamedTuple):
    """Pairs of near-duplicates.

    Attributes:
        later, earlier: positions of the items of each pair, shape (pairs,).
        similarity: exact Jaccard similarity of question and choices, shape (pairs,).
        candidates: pairs that LSH gave.
        compared: the candidates that their signatures did not rule out, ascending.
    """

    later: Ints
    earlier: Ints
    similarity: NDArray[np.float64]
    candidates: int
    compared: Pairs


def signatures(rows: Rows, params: NearDuplicateParams) -> NDArray[np.uint32]:
    """MinHash signatures (rensa's R-MinHash), shape (n, permutations)."""
    from rensa import RMinHash

    if not len(rows):
        return np.empty((0, params.permutations), np.uint32)
    found = item_shingles(rows, last_sentence(rows.question))
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        mixed(found.values), found.offsets.astype(np.uint64), params.permutations, params.seed
    )
    return np.array(matrix.to_rows(), np.uint32)


def near_pairs(
    rows: Rows,
    signed: NDArray[np.uint32],
    answer: Ints,
    params: NearDuplicateParams,
    known: Pairs | None,
    over: Over,
) -> Near:
    """Pairs of near-duplicates among n items.

    Each item of a bucket is compared with its first one and the `neighbours` before it, so the
    number of pairs grows with n whatever the buckets are.

    Args:
        rows: the items, the one to keep before the others.
        signed: their signatures, shape (n, permutations).
        answer: position of each item's answer, shape (n,).
        params: thresholds, bands and neighbours.
        known: pairs that were compared before and are none, as `Near.compared` gives them.
        over: applies a function to tasks, in order, as `BatchEngine.over`.
    """
    pairs = _candidates(signed, params)
    n = len(rows)
    likely = np.concatenate(
        [_likely(signed, some, params) for some in _chunks(pairs, _ESTIMATED_AT_ONCE)]
        or [_no_pairs()]
    )
    new = likely if known is None else np.setdiff1d(likely, known, assume_unique=True)
    tasks = (
        PairsToCompare.of(rows, answer, some // n, some % n)
        for some in _chunks(new, _PAIRS_AT_ONCE)
    )
    work = partial(compared_pairs, params=params)
    parts = list(over(work, tasks))
    none = _no_pairs()
    return Near(
        np.concatenate([none, *(part.later for part in parts)]),
        np.concatenate([none, *(part.earlier for part in parts)]),
        np.concatenate([np.zeros(0), *(part.similarity for part in parts)]),
        len(pairs),
        likely,
    )


def remaining(pairs: Pairs, keep: NDArray[np.bool_]) -> Pairs:
    """Pairs of the items that stay, numbered as they are then, ascending."""
    n, place = len(keep), np.cumsum(keep) - 1
    later, earlier = pairs // n, pairs % n
    both = keep[later] & keep[earlier]
    left: Pairs = place[later[both]] * int(keep.sum()) + place[earlier[both]]
    return left


def _candidates(signed: NDArray[np.uint32], params: NearDuplicateParams) -> Pairs:
    """Pairs that share a band, ascending, each once."""
    n = len(signed)
    width = params.permutations // params.bands
    pairs = _no_pairs()
    for band in range(params.bands):
        bucket = np.zeros(n, np.uint64)
        for column in range(band * width, (band + 1) * width):
            bucket = mixed(bucket + np.uint64(0x9E3779B97F4A7C15) + signed[:, column])
        order = np.argsort(bucket, kind="stable")
        ordered = bucket[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])[:n]
        first = np.flatnonzero(new)[np.cumsum(new) - 1] if n else np.zeros(0, np.int64)
        place = np.arange(n)
        found = [order[place[~new]] * n + order[first[~new]]]
        for lag in range(1, params.neighbours + 1):
            there = place - lag > first
            found.append(order[place[there]] * n + order[place[there] - lag])
        pairs = np.concatenate([pairs, *found])
        pairs.sort()
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)]]
    return pairs


def _chunks(pairs: Pairs, size: int) -> Iterator[Pairs]:
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _likely(signed: NDArray[np.uint32], pairs: Pairs, params: NearDuplicateParams) -> Pairs:
    """Those whose signatures do not rule them out."""
    n = len(signed)
    spread = (params.similarity * (1 - params.similarity) / params.permutations) ** 0.5
    agreement = (signed[pairs // n] == signed[pairs % n]).mean(axis=1)
    found: Pairs = pairs[agreement >= params.similarity - _MARGIN * spread]
    return found


def _no_pairs() -> Pairs:
    return np.zeros(0, np.int64)
