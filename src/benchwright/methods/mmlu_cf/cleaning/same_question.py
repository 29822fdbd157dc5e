"""Whether two similar items ask the same: exact similarities, numbers, polarity, answers."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from rapidfuzz import fuzz

from benchwright.methods.mmlu_cf.cleaning.exact_duplicates import hashed, mixed
from benchwright.methods.mmlu_cf.cleaning.question_parts import beginning, last_sentence
from benchwright.methods.mmlu_cf.cleaning.rows import Bools, Rows, Text
from benchwright.methods.mmlu_cf.cleaning.shingles import item_shingles, jaccard, shingles
from benchwright.params.cleaning import NearDuplicateParams

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
_JOINING = (
    "would will could should might must shall which what that this these those there their with "
    "from into onto upon have been being does most best following when where while also such"
)
_NEGATING = ("in", "un", "im", "ir", "il", "dis", "non", "anti", "mis")


class Compared(NamedTuple):
    """The pairs that ask the same.

    Attributes:
        later, earlier: positions of the items, shape (pairs,).
        similarity: Jaccard similarity of question and choices, shape (pairs,).
        shared_passage: how many others are as alike as a whole but differ in a part.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]
    shared_passage: int


class PairsToCompare(NamedTuple):
    """Pairs with nothing but the items in them, so that another process can compare them.

    Attributes:
        rows: the items.
        answer: position of each item's answer, shape (items,).
        items: their positions among all, ascending, shape (items,).
        one, other: the later and the earlier item of each pair, shape (pairs,), below `items`.
    """

    rows: Rows
    answer: NDArray[np.int64]
    items: NDArray[np.int64]
    one: NDArray[np.int64]
    other: NDArray[np.int64]


def pairs_to_compare(
    rows: Rows,
    answer: NDArray[np.int64],
    later: NDArray[np.int64],
    earlier: NDArray[np.int64],
) -> PairsToCompare:
    """Pairs of items given by their positions in `rows`."""
    some, one, other = _only(rows, later, earlier)
    items = np.union1d(later, earlier)
    return PairsToCompare(some, answer[items], items, one, other)


def compared_pairs(task: PairsToCompare, params: NearDuplicateParams) -> Iterator[Compared]:
    """`compared` for a batch of pairs, with the positions among all items."""
    found = compared(task.rows, task.answer, task.one, task.other, params)
    yield found._replace(later=task.items[found.later], earlier=task.items[found.earlier])


def compared(
    rows: Rows,
    answer: NDArray[np.int64],
    later: NDArray[np.int64],
    earlier: NDArray[np.int64],
    params: NearDuplicateParams,
) -> Compared:
    """Those of the pairs that ask the same, by the texts of both.

    Two items do if (1) question, passage and choices together reach `similarity`; (2) the passage,
    the beginning and the last sentence of the question, and the choices reach `part_similarity`
    each; (3) they have
    the same numbers, operators and words of polarity ("not", "increase"); (4) their answers are
    the same choice; (5) no word of the one question stands for another word in the other, unless it
    is spelt much like it. (3), (4) and (5) err on the side of keeping both.
    """
    similarity = _together(rows, later, earlier)
    alike = similarity >= params.similarity
    later, earlier, similarity = later[alike], earlier[alike], similarity[alike]
    same = _parts_alike(rows, later, earlier, params.part_similarity)
    shared_passage = int((~same).sum())
    same[same] = _ask_the_same(rows, answer, later[same], earlier[same], params.part_similarity)
    return Compared(later[same], earlier[same], similarity[same], shared_passage)


def _parts_alike(
    rows: Rows, later: NDArray[np.int64], earlier: NDArray[np.int64], least: float
) -> Bools:
    """Whether passage, last sentence, beginning and choices are alike, each by itself."""
    some, one, other = _only(rows, later, earlier)
    same = np.ones(len(later), np.bool_)
    for part in (
        shingles(some.passage),
        shingles(last_sentence(some.question)),
        shingles(beginning(some.question)),
        shingles(some.choices).grouped(some.offsets),
    ):
        same[same] = jaccard(part.distinct(), one[same], other[same]) >= least
    return same


def _ask_the_same(
    rows: Rows,
    answer: NDArray[np.int64],
    later: NDArray[np.int64],
    earlier: NDArray[np.int64],
    least: float,
) -> Bools:
    """Whether formulas, polarity, number of choices, answers and words agree."""
    some, one, other = _only(rows, later, earlier)
    same = np.ones(len(later), np.bool_)
    for marks in (_formulas(some), _polarity(some), some.counts):
        same &= marks[one] == marks[other]
    items = np.union1d(later, earlier)
    gold = np.where(answer[items] >= 0, answer[items], 0)
    same[same] = _same_answer(some, gold, one[same], other[same], least)
    same[same] = _same_words(some.question, one[same], other[same])
    return same


def _together(
    rows: Rows, later: NDArray[np.int64], earlier: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Similarity of passage, question and choices, shape (pairs,)."""
    some, one, other = _only(rows, later, earlier)
    whole = pc.binary_join_element_wise(pc.fill_null(some.passage, ""), some.question, _SPACE)
    return jaccard(item_shingles(some, whole).distinct(), one, other)


def _only(
    rows: Rows, later: NDArray[np.int64], earlier: NDArray[np.int64]
) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
    """The items of pairs, ascending, and where the two of each pair are among them."""
    items, inverse = np.unique(np.concatenate([later, earlier]), return_inverse=True)
    return _taken(rows, items), inverse[: len(later)], inverse[len(later) :]


def _taken(rows: Rows, items: NDArray[np.int64]) -> Rows:
    counts = rows.counts[items]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    flat = np.repeat(rows.offsets[items] - offsets[:-1], counts) + np.arange(offsets[-1])
    rows_at, choices_at = pa.array(items), pa.array(flat)
    return Rows(
        rows.index[items],
        rows.question.take(rows_at),
        rows.answer.take(rows_at),
        rows.passage.take(rows_at),
        rows.explanation,
        rows.choices.take(choices_at),
        rows.labels,
        offsets,
    )


def _formulas(rows: Rows) -> NDArray[np.uint64]:
    """A hash of the numbers and operators of the question, in order, and of the choices' sets."""
    passage = pc.fill_null(rows.passage, "")
    whole = hashed(_formula(pc.binary_join_element_wise(passage, rows.question, _SPACE)))
    each = np.concatenate([[np.uint64(0)], np.cumsum(mixed(hashed(_formula(rows.choices))))])
    return mixed(whole) + each[rows.offsets[1:]] - each[rows.offsets[:-1]]


def _formula(texts: Text) -> Text:
    signs = pc.replace_substring_regex(texts, _MINUS, "\\1\u2212\\2")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(signs, _NOT_FORMULA, " "))


def _polarity(rows: Rows) -> NDArray[np.int64]:
    """A number made of how often each word of polarity stands in the question."""
    total = np.zeros(len(rows), np.int64)
    low = pc.utf8_lower(rows.question)
    for place, word in enumerate(_POLARITY.split()):
        pattern = word if word == "n't" else rf"\b{word}(?:s|d|ed|ing)?\b"
        count = pc.count_substring_regex(low, pattern).to_numpy(zero_copy_only=False)
        total = total + count.astype(np.int64) * (31**place % (1 << 61))  # wraps around
    return total


def _same_words(questions: Text, one: NDArray[np.int64], other: NDArray[np.int64]) -> Bools:
    return np.array(
        [
            not substituted(a, b)
            for a, b in zip(
                questions.take(pa.array(one)).to_pylist(),
                questions.take(pa.array(other)).to_pylist(),
                strict=True,
            )
        ],
        np.bool_,
    )


def substituted(one: str, other: str) -> bool:
    """Whether each text has a word of four letters or more for which the other has none like it.

    Alike are words that share 70% of their letters in order, unless one is the other with a prefix
    that negates it. Words that only join a sentence together do not count.
    """
    mine, yours = (set(_WORD.findall(text.lower())) for text in (one, other))
    only_mine, only_yours = mine - yours, yours - mine
    return _unlike(only_mine, only_yours) and _unlike(only_yours, only_mine)


def _unlike(words: set[str], others: set[str]) -> bool:
    telling = (word for word in words if len(word) >= 4 and word not in _joining())
    return any(not _has_like(word, others) for word in telling)


@cache
def _joining() -> frozenset[str]:
    return frozenset(_JOINING.split())


def _has_like(word: str, words: set[str]) -> bool:
    return any(fuzz.ratio(word, other) >= 70 and not _negates(word, other) for other in words)


def _negates(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return any(prefix + short == long for prefix in _NEGATING)


def _same_answer(
    rows: Rows,
    gold: NDArray[np.int64],
    one: NDArray[np.int64],
    other: NDArray[np.int64],
    least: float,
) -> Bools:
    words = pc.replace_substring_regex(pc.utf8_lower(rows.choices), _NOT_WORD, "")
    value = hashed(words)
    at = rows.offsets[:-1] + gold
    answers = shingles(rows.choices.take(pa.array(at))).distinct()
    same = (value[at[one]] == value[at[other]]) | (jaccard(answers, one, other) >= least)
    for mine, yours in ((one, other), (other, one)):
        same &= ~_is_distractor(rows, value, gold, value[at[mine]], yours)
    return same


def _is_distractor(
    rows: Rows,
    value: NDArray[np.uint64],
    gold: NDArray[np.int64],
    wanted: NDArray[np.uint64],
    items: NDArray[np.int64],
) -> Bools:
    """Whether a text is one of an item's choices but not its answer."""
    found = np.zeros(len(items), np.bool_)
    right = value[rows.offsets[:-1][items] + gold[items]] == wanted
    for slot in range(int(rows.counts.max(initial=0))):
        there = rows.counts[items] > slot
        at = rows.offsets[:-1][items[there]] + slot
        found[there] |= value[at] == wanted[there]
    return found & ~right
