"""Near-duplicates: MinHash LSH for candidate pairs, exact comparison for each pair.

Texts are compared as sets of shingles: all runs of five bytes, without case and punctuation.
Signatures cover the last sentence of the question and the choices, so that items that only share a
long passage are no candidates.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import (
    Bools,
    Ints,
    Rows,
    Text,
    hashed,
    mixed,
    offsets_of,
    ranges,
    truths,
    written_over,
)

_SIMILAR = 0.7  # least Jaccard similarity of question and choices together
_PART_SIMILAR = 0.5  # and of each part: a shared long passage is not enough
_LONG = 250  # bytes above which a text may contain a passage
# Up to the last end of a sentence or line that at least 15 characters follow.
_BEFORE_LAST_SENTENCE = r"(?s)^.*(?:[.?!][\x{22}\x{27}\x{201D})\]]*\s|\n)\s*(?P<last>\S.{14,})$"


def last_sentence(questions: Text) -> Text:
    """Return the last sentence or line of long texts, and short texts as they are.

    A passage shared by several items usually precedes the question, so an item is identified by its
    last sentence, its first one (`beginning`) and its choices.
    """
    long = truths(pc.greater(pc.binary_length(questions), _LONG))
    some = pc.utf8_trim_whitespace(questions.filter(pa.array(long)))
    some = pc.utf8_slice_codeunits(some, -600)
    last = pc.struct_field(pc.extract_regex(some, _BEFORE_LAST_SENTENCE), "last")
    return written_over(questions, long, pc.coalesce(last, some))


def beginning(questions: Text) -> Text:
    """Return the first 120 characters of each text."""
    return pc.utf8_slice_codeunits(pc.utf8_ltrim_whitespace(questions), 0, 120)


WIDTH = 5
_BITS = 8 * WIDTH
_BLANK = 32
_KEPT = b"+=<>*/^%-"  # they change the meaning of a formula

_PLAIN = np.arange(256, dtype=np.uint8)
_PLAIN[[b for b in range(128) if not chr(b).isalnum() and b not in _KEPT]] = _BLANK


class Shingles(NamedTuple):
    """Shingles of n texts, those of text i at offsets[i] … offsets[i + 1] − 1."""

    # the five bytes as a number below 2^40; repeated shingles occur repeatedly
    values: NDArray[np.uint64]
    offsets: Ints  # shape (n + 1,)

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
    padded = np.full(len(data) + (WIDTH - 1) * (len(lengths) + 1), _BLANK, np.uint8)
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
        space = letters == _BLANK
        edges = (offsets[1:] - 1 if at_end else offsets[:-1])[np.diff(offsets) > 0]
        drop = np.zeros(len(letters), np.bool_) if at_end else space & np.roll(space, 1)
        drop[edges] = space[edges]
        letters, offsets = letters[~drop], offsets_of(~drop)[offsets]
    return letters, offsets


# Another number of such words makes another question.
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


class Compared(NamedTuple):
    """Positions of duplicates and the exact Jaccard similarity of their questions and choices.

    All have the shape (pairs,).
    """

    later: Ints
    earlier: Ints
    similarity: NDArray[np.float64]


class PairsToCompare(NamedTuple):
    """Pairs with only their items, for another process to compare."""

    rows: Rows  # the items
    answer: Ints  # position of each item's answer, shape (items,)
    items: Ints  # their positions among all items, ascending, shape (items,)
    # later, earlier: the items of each pair, shape (pairs,), as positions in `rows`
    later: Ints
    earlier: Ints

    @classmethod
    def of(cls, rows: Rows, answer: Ints, later: Ints, earlier: Ints) -> "PairsToCompare":
        """Select pairs of items by their positions in `rows`."""
        items, inverse = np.unique(np.concatenate([later, earlier]), return_inverse=True)
        n = len(later)
        return cls(rows.take(items), answer[items], items, inverse[:n], inverse[n:])

    def only(self, keep: Bools) -> "PairsToCompare":
        """Return some of the pairs with their items."""
        some = self.of(self.rows, self.answer, self.later[keep], self.earlier[keep])
        return some._replace(items=self.items[some.items])


def compared_pairs(pairs: PairsToCompare) -> Iterator[Compared]:
    """Yield those pairs that ask the same, as one batch.

    Two items ask the same if (1) question, passage and choices together reach .7; (2) the
    passage, the beginning and the last sentence of the question, and the choices each reach
    .5; (3) they have the same numbers, operators and words of polarity ("not",
    "increase"); (4) their answers are the same choice; (5) no word is replaced by a word with
    another spelling. In doubt, (3), (4) and (5) keep both items.
    """
    rows = pairs.rows
    whole = pc.binary_join_element_wise(pc.fill_null(rows.passage, ""), rows.question, _SPACE)
    similarity = jaccard(item_shingles(rows, whole).distinct(), pairs.later, pairs.earlier)
    similar = similarity >= _SIMILAR
    pairs, similarity = pairs.only(similar), similarity[similar]
    same = _parts_similar(pairs)
    pairs, similarity = pairs.only(same), similarity[same]
    same = _ask_the_same(pairs)
    later, earlier = pairs.items[pairs.later[same]], pairs.items[pairs.earlier[same]]
    yield Compared(later, earlier, similarity[same])


def _parts_similar(pairs: PairsToCompare) -> Bools:
    """Return whether passage, last sentence, beginning and choices are each similar."""
    rows, same = pairs.rows, np.ones(len(pairs.later), np.bool_)
    for part in (
        shingles(rows.passage),
        shingles(last_sentence(rows.question)),
        shingles(beginning(rows.question)),
        shingles(rows.choices).grouped(rows.offsets),
    ):
        same[same] = (
            jaccard(part.distinct(), pairs.later[same], pairs.earlier[same]) >= _PART_SIMILAR
        )
    return same


def _ask_the_same(pairs: PairsToCompare) -> Bools:
    """Return whether formulas, polarity, number of choices, answers and words agree."""
    rows, later, earlier = pairs.rows, pairs.later, pairs.earlier
    same = np.ones(len(later), np.bool_)
    for features in (_formulas(rows), _polarity(rows), rows.counts):
        same &= features[later] == features[earlier]
    gold = rows.offsets[:-1] + np.maximum(pairs.answer, 0)
    same[same] = _same_answer(rows, gold, later[same], earlier[same])
    questions = (rows.question.take(pa.array(side[same])).to_pylist() for side in (later, earlier))
    same[same] = [not substituted(text, other) for text, other in zip(*questions, strict=True)]
    return same


def _formulas(rows: Rows) -> NDArray[np.uint64]:
    """Hash the numbers and operators of each question, in order, and of the set of choices."""
    passage = pc.fill_null(rows.passage, "")
    whole = hashed(_formula(pc.binary_join_element_wise(passage, rows.question, _SPACE)))
    hashes: NDArray[np.uint64] = mixed(whole) + rows.sums(mixed(hashed(_formula(rows.choices))))
    return hashes


def _formula(texts: Text) -> Text:
    signs = pc.replace_substring_regex(texts, _MINUS, "\\1\u2212\\2")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(signs, _NOT_FORMULA, " "))


def _polarity(rows: Rows) -> Ints:
    """Combine the counts of all words of polarity in each question into one number."""
    total = np.zeros(len(rows), np.int64)
    low = pc.utf8_lower(rows.question)
    for place, word in enumerate(_POLARITY.split()):
        pattern = word if word == "n't" else rf"\b{word}(?:s|d|ed|ing)?\b"
        count = pc.count_substring_regex(low, pattern).to_numpy(zero_copy_only=False)
        total = total + count.astype(np.int64) * (31**place % (1 << 61))  # wraps around
    return total


def substituted(text: str, other: str) -> bool:
    """Return whether both texts have a word of four letters or more without a similar one.

    Similar words share 70% of their letters in order, unless one is the other with a negating
    prefix. Words that only join a sentence together do not count.
    """
    words, others = (set(_WORD.findall(text.lower())) for text in (text, other))
    only, only_other = words - others, others - words
    return _dissimilar(only, only_other) and _dissimilar(only_other, only)


def _dissimilar(words: set[str], others: set[str]) -> bool:
    content = (word for word in words if len(word) >= 4 and word not in _JOINING)
    return any(not any(_similar(word, other) for other in others) for word in content)


def _similar(word: str, other: str) -> bool:
    from rapidfuzz import fuzz

    short, long = sorted((word, other), key=len)
    return fuzz.ratio(word, other) >= 70 and long not in {prefix + short for prefix in _NEGATING}


def _same_answer(rows: Rows, gold: Ints, later: Ints, earlier: Ints) -> Bools:
    """Return whether the answers, at `gold` among all choices, are equal or similar.

    The answer of one item must not be a wrong choice of the other.
    """
    hashes = hashed(pc.replace_substring_regex(pc.utf8_lower(rows.choices), _NOT_WORD, ""))
    answers = shingles(rows.choices.take(pa.array(gold))).distinct()
    equal = hashes[gold[later]] == hashes[gold[earlier]]
    same: Bools = equal | (jaccard(answers, later, earlier) >= _PART_SIMILAR)
    for items, others in ((later, earlier), (earlier, later)):
        wanted = hashes[gold[items]]
        choice = np.zeros(len(items), np.bool_)
        for slot in range(int(rows.counts.max(initial=0))):
            there = rows.counts[others] > slot
            choice[there] |= hashes[rows.offsets[:-1][others[there]] + slot] == wanted[there]
        same &= ~choice | equal
    return same


Pairs = Ints
"""Pairs of n items, each as later · n + earlier."""

Over = Callable[[Callable[[Any], Any], Iterator[Any]], Iterator[Any]]

_PAIRS_AT_ONCE = 10_000
_ESTIMATED_AT_ONCE = 100_000
_NO_PAIRS: Pairs = np.zeros(0, np.int64)
PERMUTATIONS = 64
"""Length of a MinHash signature."""
_BANDS = 16  # of a signature; items are compared if a band is equal
_NEIGHBOURS = 5  # earlier items of a bucket that each item is compared with
_MARGIN = 4  # standard errors below the threshold at which an estimate excludes a pair


def signatures(rows: Rows) -> NDArray[np.uint32]:
    """Return MinHash signatures (rensa's R-MinHash), shape (n, 64)."""
    from rensa import RMinHash

    if not len(rows):
        return np.empty((0, PERMUTATIONS), np.uint32)
    values, offsets = item_shingles(rows, last_sentence(rows.question))
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        mixed(values), offsets.astype(np.uint64), PERMUTATIONS, 0
    )
    return np.array(matrix.to_rows(), np.uint32)


def near_pairs(
    rows: Rows,
    signed: NDArray[np.uint32],
    answer: Ints,
    known: Pairs,
    over: Over,
) -> tuple[Compared, Pairs]:
    """Return the near-duplicates among n items, and the pairs that were compared, ascending.

    Each item of a bucket is compared with the first item and with the five items before it,
    so the number of pairs is proportional to n.

    The items come in order of precedence, with their signatures `signed` (n, 64) and the
    positions `answer` (n,) of their answers. `known` pairs were compared before and are no
    duplicates. `over` applies a function to tasks in order, as `BatchEngine.over`.
    """
    n = len(rows)
    pairs = _candidates(signed)
    chunks = _chunks(pairs, _ESTIMATED_AT_ONCE)
    likely = np.concatenate([_NO_PAIRS, *(_likely(signed, chunk) for chunk in chunks)])
    tasks = (
        PairsToCompare.of(rows, answer, chunk // n, chunk % n)
        for chunk in _chunks(np.setdiff1d(likely, known, assume_unique=True), _PAIRS_AT_ONCE)
    )
    none = Compared(_NO_PAIRS, _NO_PAIRS, np.zeros(0))
    parts = [none, *over(compared_pairs, tasks)]
    return Compared(*map(np.concatenate, zip(*parts, strict=True))), likely


def remaining(pairs: Pairs, keep: Bools) -> Pairs:
    """Return the pairs of items that stay, ascending, with the new numbers of the items."""
    n, place = len(keep), np.cumsum(keep) - 1
    later, earlier = pairs // n, pairs % n
    both = keep[later] & keep[earlier]
    left: Pairs = place[later[both]] * int(keep.sum()) + place[earlier[both]]
    return left


def _candidates(signed: NDArray[np.uint32]) -> Pairs:
    """Return the pairs that share a band, ascending and distinct."""
    n = len(signed)
    width = PERMUTATIONS // _BANDS
    pairs = _NO_PAIRS
    for band in range(_BANDS):
        bucket = np.zeros(n, np.uint64)
        for column in range(band * width, (band + 1) * width):
            bucket = mixed(bucket + np.uint64(0x9E3779B97F4A7C15) + signed[:, column])
        order = np.argsort(bucket, kind="stable")
        ordered = bucket[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])[:n]
        place = np.arange(n)
        first = np.maximum.accumulate(np.where(new, place, 0))
        pieces = [order[place[~new]] * n + order[first[~new]]]
        for lag in range(1, _NEIGHBOURS + 1):
            there = place - lag > first
            pieces.append(order[place[there]] * n + order[place[there] - lag])
        pairs = np.unique(np.concatenate([pairs, *pieces]))
    return pairs


def _chunks(pairs: Pairs, size: int) -> Iterator[Pairs]:
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _likely(signed: NDArray[np.uint32], pairs: Pairs) -> Pairs:
    """Return the pairs that their signatures do not exclude."""
    n = len(signed)
    spread = (_SIMILAR * (1 - _SIMILAR) / PERMUTATIONS) ** 0.5
    agreement = (signed[pairs // n] == signed[pairs % n]).mean(axis=1)
    likely: Pairs = pairs[agreement >= _SIMILAR - _MARGIN * spread]
    return likely
