"""Near-duplicates: MinHash LSH for candidate pairs, exact comparison for each pair.

Texts are compared as sets of shingles: all runs of five bytes, without case and punctuation.
Signatures cover the last sentence of the question and the choices, so that items that only share a
long passage are no candidates.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.array_types import Floats

Ints = NDArray[np.int64]
Signatures = NDArray[np.uint32]
"""MinHash signatures, (n, 64)."""
Shingles = set[bytes]

_SIMILAR = 0.7  # least Jaccard similarity of question and choices together
_PART_SIMILAR = 0.5  # and of each part: a shared long passage is not enough
_LONG = 250  # bytes above which a text may contain a passage
_WIDTH = 5
# Up to the last end of a sentence or line that at least 15 characters follow.
_BEFORE_LAST_SENTENCE = re.compile(r"^.*(?:[.?!][\"'”)\]]*\s|\n)\s*(\S.{14,})$", re.DOTALL)
# Signs of formulas and mathematical symbols change the meaning.
_PUNCTUATION = re.compile(r"(?:[^\w+=<>*/^%\-\u0300-\u036f±×÷¬\u2190-\u22ff]|_)+")
# Another number of such words makes another question.
_POLARITY = re.compile(
    r"n't|\b(not|no|never|none|neither|except|least|most|without|false|true|incorrect|correct|"
    r"increase|decrease|more|less|greater|smaller|higher|lower|highest|lowest|maximum|minimum|"
    r"first|second|third|last|before|after|above|below|positive|negative|left|right|north|south|"
    r"west|east|early|late)(?:s|d|ed|ing)?\b"
)
# "x = -3", "3 - 2", "(-y)"; not "well-known".
_MINUS = re.compile(r"(^|[\s(=,+*/^])-\s*([0-9.]|[^\W\d_])")
_NOT_FORMULA = re.compile(r"[^0-9+=<>*/^%−\u2190-\u22ff]+")
_NOT_WORD = re.compile(r"(?:[^\w+=<>*/^%−\u2190-\u22ff]|_)+")
_WORD = re.compile(r"[^\W\d_]+")
_JOINING = frozenset({
    "would", "will", "could", "should", "might", "must", "shall", "which", "what", "that",
    "this", "these", "those", "there", "their", "with", "from", "into", "onto", "upon", "have",
    "been", "being", "does", "most", "best", "following", "when", "where", "while", "also",
    "such",
})  # fmt: skip
_NEGATING = ("in", "un", "im", "ir", "il", "dis", "non", "anti", "mis")


def shingles(*texts: str) -> Shingles:
    """Return all runs of five bytes of texts; the last ones are padded with spaces."""
    found: Shingles = set()
    for text in texts:
        plain = _PUNCTUATION.sub(" ", text.lower()).strip().encode() + b" " * (_WIDTH - 1)
        found |= {plain[at : at + _WIDTH] for at in range(len(plain) - _WIDTH + 1)}
    return found


def jaccard(some: Shingles, others: Shingles) -> float:
    """Return the Jaccard similarity of two sets, 0–1; 1 for two empty ones."""
    return len(some & others) / len(some | others) if some or others else 1.0


def last_sentence(question: str) -> str:
    """Return the last sentence or line of a long text, and a short text as it is."""
    if len(question.encode()) <= _LONG:
        return question
    end = question.strip()[-600:]
    last = _BEFORE_LAST_SENTENCE.match(end)
    return last[1] if last else end


def _formulas(text: str) -> str:
    """Return the numbers and operators of a text."""
    return _NOT_FORMULA.sub(" ", _MINUS.sub("\\1\u2212\\2", text)).strip()


@dataclass(frozen=True)
class Item:
    """A clean row; what is compared of it is computed when it is first needed."""

    question: str
    choices: list[str]
    answer: int
    passage: str

    @cached_property
    def whole(self) -> Shingles:
        """Shingles of passage, question and choices."""
        return shingles(f"{self.passage} {self.question}", *self.choices)

    @cached_property
    def parts(self) -> list[Shingles]:
        """Shingles of passage, last sentence, beginning and choices."""
        return [
            shingles(self.passage),
            shingles(last_sentence(self.question)),
            shingles(self.question.lstrip()[:120]),
            shingles(*self.choices),
        ]

    @cached_property
    def sense(self) -> tuple[Any, ...]:
        """Numbers and operators of the stem in order and of each choice; words of polarity."""
        stem = _formulas(f"{self.passage} {self.question}")
        choices = sorted(_formulas(choice) for choice in self.choices)
        polarity = Counter(word[1] for word in _POLARITY.finditer(self.question.lower()))
        return stem, choices, polarity

    @cached_property
    def plain_choices(self) -> list[str]:
        """Choices as letters, digits and operators."""
        return [_NOT_WORD.sub("", choice.lower()) for choice in self.choices]


def compare(item: Item, other: Item) -> float | None:
    """Return the similarity of two items that ask the same, 0–1; None if they do not.

    Two items ask the same if (1) question, passage and choices together reach .7; (2) the
    passage, the beginning and the last sentence of the question, and the choices each reach
    .5; (3) they have the same numbers, operators and words of polarity ("not",
    "increase"); (4) their answers are the same choice; (5) no word is replaced by a word with
    another spelling. In doubt, (3), (4) and (5) keep both items.
    """
    similarity = jaccard(item.whole, other.whole)
    if similarity < _SIMILAR:
        return None
    parts = zip(item.parts, other.parts, strict=True)
    same = (
        all(jaccard(*part) >= _PART_SIMILAR for part in parts)
        and item.sense == other.sense
        and _same_answer(item, other)
        and not substituted(item.question, other.question)
    )
    return similarity if same else None


def _same_answer(item: Item, other: Item) -> bool:
    """Return whether answers are equal, or similar and neither is a wrong choice of the other."""
    place = max(item.answer, 0)
    other_place = max(other.answer, 0)
    gold = item.plain_choices[place]
    other_gold = other.plain_choices[other_place]
    if gold == other_gold:
        return True
    if gold in other.plain_choices or other_gold in item.plain_choices:
        return False
    answer = shingles(item.choices[place])
    return jaccard(answer, shingles(other.choices[other_place])) >= _PART_SIMILAR


def substituted(text: str, other: str) -> bool:
    """Return whether both texts have a word of four letters or more without a similar one."""
    words = set(_WORD.findall(text.lower()))
    others = set(_WORD.findall(other.lower()))
    only = words - others
    only_other = others - words
    return _dissimilar(only, only_other) and _dissimilar(only_other, only)


def _dissimilar(words: set[str], others: set[str]) -> bool:
    for word in words:
        if len(word) < 4 or word in _JOINING:
            continue
        if not any(_similar(word, other) for other in others):
            return True
    return False


def _similar(word: str, other: str) -> bool:
    """Return whether words share 70% of their letters in order, without a negating prefix."""
    from rapidfuzz import fuzz

    short, long = sorted((word, other), key=len)
    return fuzz.ratio(word, other) >= 70 and long not in {prefix + short for prefix in _NEGATING}


class Pairs(NamedTuple):
    """Pairs of rows by their positions, and similarities, all of shape (pairs,)."""

    later: Ints
    earlier: Ints
    similarity: Floats

    def at(self, which: NDArray[np.generic]) -> "Pairs":
        """Return some of the pairs."""
        return Pairs(*(column[which] for column in self))


Over = Callable[[Callable[[Any], Any], Iterator[Any]], Iterator[Any]]

_PAIRS_AT_ONCE = 10_000
PERMUTATIONS = 64
"""Length of a MinHash signature."""
_BANDS = 16  # of a signature; items are compared if a band is equal
_MIX = np.random.default_rng(0).integers(1, 2**64, PERMUTATIONS // _BANDS, np.uint64)
_NEIGHBOURS = 5  # earlier items of a bucket that each item is compared with
_MARGIN = 4  # standard errors below the threshold at which an estimate excludes a pair


def sign(items: Iterable[Item]) -> Signatures:
    """Return MinHash signatures (rensa's R-MinHash), shape (n, 64)."""
    from rensa import RMinHash

    sets = [shingles(last_sentence(item.question), *item.choices) for item in items]
    if not sets:
        return np.zeros((0, PERMUTATIONS), np.uint32)
    matrix = RMinHash.digest_matrix_from_token_byte_sets(sets, PERMUTATIONS, 0)
    return np.array(matrix.to_rows(), np.uint32)


def as_items(rows: pa.Table) -> list[Item]:
    """Return clean rows as items."""
    records = rows.select(["question", "choices", "answer", "passage"]).to_pylist()
    return [Item(**record | {"passage": record["passage"] or ""}) for record in records]


def compare_pairs(task: tuple[pa.Table, Ints, Ints]) -> Iterator[Floats]:
    """Yield the similarities of pairs of rows that ask the same, NaN for others, as one batch."""
    rows, later, earlier = task
    items = as_items(rows)
    found = [compare(items[one], items[two]) for one, two in zip(later, earlier, strict=True)]
    yield np.array(found, dtype=np.float64)  # None becomes NaN


def find_near_pairs(
    rows: pa.Table, signed: Signatures, active: Ints, known: Ints, over: Over
) -> tuple[Pairs, Ints]:
    """Return the near-duplicates among active rows, and the pairs known to be compared by then.

    Each item of a bucket is compared with the first item and with the five items before it,
    so the number of pairs is proportional to n.

    The n rows come in order of precedence, with their signatures (n, 64); `active` are ascending
    positions. A pair is known as later · n + earlier; known ones are not compared again. `over`
    applies a function to tasks in order, as `BatchEngine.over`.
    """
    n = len(signed)
    new = np.setdiff1d(_candidates(signed, active), known, assume_unique=True)

    def tasks() -> Iterator[tuple[pa.Table, Ints, Ints]]:
        for start in range(0, len(new), _PAIRS_AT_ONCE):
            chunk = new[start : start + _PAIRS_AT_ONCE]
            items, place = np.unique(np.concatenate([chunk // n, chunk % n]), return_inverse=True)
            yield rows.take(pa.array(items)), place[: len(chunk)], place[len(chunk) :]

    similarity = np.concatenate([np.zeros(0), *over(compare_pairs, tasks())])
    pairs = Pairs(new // n, new % n, similarity)
    return pairs.at(~np.isnan(similarity)), np.union1d(known, new)


def _candidates(signed: Signatures, active: Ints) -> Ints:
    """Return pairs that share a band and whose signatures do not exclude them, ascending."""
    n = len(signed)
    width = PERMUTATIONS // _BANDS
    place = np.arange(len(active))
    pieces = [np.zeros(0, np.int64)]
    for band in range(_BANDS):
        bucket = signed[active, band * width : (band + 1) * width].astype(np.uint64) @ _MIX
        order = np.argsort(bucket, kind="stable")
        ordered = bucket[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(place)]
        first = np.maximum.accumulate(np.where(new, place, 0))
        rows = active[order]
        pieces.append(rows[place[~new]] * n + rows[first[~new]])
        for lag in range(1, _NEIGHBOURS + 1):
            there = place - lag > first
            pieces.append(rows[place[there]] * n + rows[place[there] - lag])
        pieces = [np.unique(np.concatenate(pieces))]
    [pairs] = pieces
    least = _SIMILAR - _MARGIN * (_SIMILAR * (1 - _SIMILAR) / PERMUTATIONS) ** 0.5
    likely = []
    for some in np.array_split(pairs, len(pairs) // 100_000 + 1):
        estimate = (signed[some // n] == signed[some % n]).mean(axis=1)
        likely.append(some[estimate >= least])
    return np.concatenate(likely)
