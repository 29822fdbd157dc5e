"""How hard a text is to read: four indices (DELE, A.1.15–A.1.18).

The formulas are the paper's. Syllables and the list of easy words are textstat's; words and
sentences are counted by `prose`. A number, a formula or a piece of code counts as one easy word of
one syllable. docs/reference/sampling.md says where textstat's own indices differ.
"""

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from math import inf, isfinite, isnan, nan
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.prose import read_prose, sentence_count
from benchwright.tables.dele import ReadabilityBands, ReadabilityExtremes

_COMPLEX = 3  # syllables
_ENDINGS = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("d", ""),
    ("ed", ""),
    ("ied", "y"),
    ("ing", ""),
    ("ing", "e"),
    ("st", ""),
    ("est", ""),
    ("iest", "y"),
)
_DOUBLING = frozenset({"ed", "ing", "est"})  # stopped, stopping, biggest


class ReadingCounts(NamedTuple):
    """What the indices are made of."""

    words: int  # of the text, numbers and formulas among them
    sentences: int  # at least 1
    syllables: int  # of all words
    difficult: int  # words that are not on the list of words that fourth-graders know
    complex: int  # words of three syllables or more


@lru_cache(maxsize=1 << 17)
def reading_counts(text: str) -> ReadingCounts:
    """Count once what four indices share."""
    prose = read_prose(text)
    words = [word.casefold() for word in prose.words]
    syllables = [syllable_count(word) for word in words]
    return ReadingCounts(
        words=len(words) + prose.others,
        sentences=sentence_count(text),
        syllables=sum(syllables) + prose.others,
        difficult=sum(map(is_difficult, words)),
        complex=sum(count >= _COMPLEX for count in syllables),
    )


def difficult_word_share(text: str) -> float:
    """Difficult words divided by words, in [0, 1] (A.1.15); NaN for a text of none."""
    counts = reading_counts(text)
    return counts.difficult / counts.words if counts.words else nan


def dale_chall(text: str) -> float:
    """0.1579 × difficult words in % + 0.0496 × words per sentence (A.1.16); NaN without words.

    As printed, without the 3.6365 that the original adds above 5% difficult words.
    """
    counts = reading_counts(text)
    if not counts.words:
        return nan
    percentage = 100 * counts.difficult / counts.words
    return 0.1579 * percentage + 0.0496 * counts.words / counts.sentences


def flesch_reading_ease(text: str) -> float:
    """206.835 − 1.015 × words per sentence − 84.6 × syllables per word (A.1.17), at most 121.22.

    NaN for a text of none.
    """
    counts = reading_counts(text)
    if not counts.words:
        return nan
    per_sentence, per_word = counts.words / counts.sentences, counts.syllables / counts.words
    return 206.835 - 1.015 * per_sentence - 84.6 * per_word


def gunning_fog(text: str) -> float:
    """0.4 × (words per sentence + complex words in %) (A.1.18); NaN for a text of none."""
    counts = reading_counts(text)
    if not counts.words:
        return nan
    return 0.4 * (counts.words / counts.sentences + 100 * counts.complex / counts.words)


@lru_cache(maxsize=1 << 17)
def syllable_count(word: str) -> int:
    """Syllables of a lower-case word: CMU's dictionary, else hyphenation; at least 1."""
    import textstat

    return max(1, int(textstat.syllable_count(word)))


@lru_cache(maxsize=1 << 17)
def is_difficult(word: str) -> bool:
    """Whether a lower-case word is not on textstat's Dale–Chall list.

    As Dale and Chall instruct, regular inflections of listed words are not difficult: pigs,
    carries, stopped, making, biggest, a boy's.
    """
    return _easy_words().isdisjoint(_forms(word))


@cache
def _easy_words() -> frozenset[str]:
    from textstat.backend.utils import get_lang_easy_words

    return frozenset(get_lang_easy_words("en"))


def _forms(word: str) -> list[str]:
    """The word and what it may be a regular inflection of."""
    forms = [word, word.removesuffix("'s")]
    for ending, instead in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < 2:
            continue
        forms.append(stem + instead)
        if ending in _DOUBLING and stem[-1] == stem[-2]:
            forms.append(stem[:-1])
    return forms


Index = Literal["difficult_words", "dale_chall", "flesch", "gunning_fog"]


# Each index, and its sign: −1 where high values are easy.
_INDICES: Mapping[Index, tuple[Callable[[str], float], int]] = MappingProxyType(
    {
        "difficult_words": (difficult_word_share, 1),
        "dale_chall": (dale_chall, 1),
        "flesch": (flesch_reading_ease, -1),
        "gunning_fog": (gunning_fog, 1),
    }
)

_NAMES = [
    "very easy",
    "easy",
    "fairly easy",
    "standard",
    "fairly difficult",
    "difficult",
    "very difficult",
]
# Bounds of the bands of these names, one after the other: from one (with it) to the next (without
# it). The paper prints whole numbers (80–89); a band here reaches to the next one.
_BOUNDS: Mapping[Index, tuple[float, ...]] = MappingProxyType(
    {
        "flesch": (inf, 90, 80, 70, 60, 50, 30, -inf),
        "gunning_fog": (-inf, 7, 9, 11, 13, 15, 17, inf),
    }
)


def easiest_and_hardest(
    pool: SamplingPool, by: Index = "difficult_words", each: int = 3
) -> pd.DataFrame:
    """The items that are easiest and hardest to read, with all four indices (Table 2).

    Args:
        pool: items; those without any word are left out.
        by: the index that orders them; the other indices, then ids, settle equal values.
        each: items at either end; fewer where there are fewer than twice as many.

    Returns:
        A `ReadabilityExtremes` table: the easiest, easiest first, then the hardest, hardest first.
    """
    keys = [by, *(index for index in _INDICES if index != by)]
    rows = []
    for item_id, subject, text in zip(pool.item_ids, pool.subjects, pool.texts, strict=True):
        values: dict[str, float] = {key: index(text) for key, (index, _) in _INDICES.items()}
        if not isnan(values[by]):
            order = (*(_INDICES[key][1] * values[key] for key in keys), item_id)
            rows.append((order, {"item_id": item_id, "subject": subject, "text": text, **values}))
    rows.sort(key=lambda row: row[0])
    ends = min(each, len(rows) // 2)
    easiest = [{"end": "easy", **row} for _, row in rows[:ends]]
    hardest = [{"end": "hard", **row} for _, row in rows[len(rows) - ends :][::-1]]
    ranked = [
        {**row, "rank": rank} for end in (easiest, hardest) for rank, row in enumerate(end, 1)
    ]
    return ReadabilityExtremes.from_rows(ranked)


def readability_bands(pool: SamplingPool) -> pd.DataFrame:
    """How many items fall in each band of Flesch reading ease and Gunning fog (Tables 4 and 5).

    The outer bands are open: Flesch goes beyond 0 and 100. Items without any word are in none.

    Returns:
        A `ReadabilityBands` table, the easiest band of each index first.
    """
    rows = []
    for index, bounds in _BOUNDS.items():
        values = np.array([_INDICES[index][0](text) for text in pool.texts], dtype=np.float64)
        judged = int(np.sum(~np.isnan(values)))
        for name, *ends in zip(_NAMES, bounds, bounds[1:], strict=False):
            low, high = sorted(ends)
            n = int(np.sum((values >= low) & (values < high)))
            shown = [end if isfinite(end) else None for end in (low, high)]
            rows.append((index, name, *shown, n, n / judged if judged else 0.0))
    return ReadabilityBands.from_rows(rows)
