"""Four readability indices of texts (DELE, A.1.15–A.1.18).

The formulas are those of the paper. Syllables, sentences and difficult words are those of textstat,
words those of `prose`. A number, a formula or a piece of code counts as one easy word of one
syllable.
"""

from collections.abc import Callable
from functools import lru_cache
from math import nan
from typing import NamedTuple

from benchwright.methods.dele.samplers.prose import read_prose, without_formulas

_COMPLEX = 3  # syllables


class ReadingCounts(NamedTuple):
    """Counts of a text for the indices."""

    words: int  # including numbers and formulas
    sentences: int  # at least 1
    syllables: int  # of all words
    difficult: int  # words of two syllables or more that are not on the list of easy words
    complex: int  # words of three syllables or more


@lru_cache(maxsize=1 << 17)
def reading_counts(text: str) -> ReadingCounts:
    """Count the words, sentences and syllables that the indices share."""
    import textstat

    prose = read_prose(text)
    words = [word.casefold() for word in prose.words]
    syllables = [syllable_count(word) for word in words]
    return ReadingCounts(
        words=len(words) + prose.others,
        sentences=max(1, textstat.sentence_count(without_formulas(text))),
        syllables=sum(syllables) + prose.others,
        difficult=sum(map(textstat.is_difficult_word, words)),
        complex=sum(count >= _COMPLEX for count in syllables),
    )


def _index(formula: Callable[[ReadingCounts], float]) -> Callable[[str], float]:
    """Return the index of a text by a formula of its counts; NaN without words."""

    def index(text: str) -> float:
        counts = reading_counts(text)
        return formula(counts) if counts.words else nan

    return index


difficult_word_share = _index(lambda c: c.difficult / c.words)
"""Difficult words divided by words, in [0, 1] (A.1.15)."""

dale_chall = _index(
    lambda c: 0.1579 * (100 * c.difficult / c.words) + 0.0496 * c.words / c.sentences
)
"""0.1579 × difficult words in % + 0.0496 × words per sentence (A.1.16).

This is the printed formula, without the 3.6365 that the original adds above 5% difficult words.
"""

flesch_reading_ease = _index(
    lambda c: 206.835 - 1.015 * (c.words / c.sentences) - 84.6 * (c.syllables / c.words)
)
"""206.835 − 1.015 × words per sentence − 84.6 × syllables per word (A.1.17)."""

gunning_fog = _index(lambda c: 0.4 * (c.words / c.sentences + 100 * c.complex / c.words))
"""0.4 × (words per sentence + complex words in %) (A.1.18)."""


@lru_cache(maxsize=1 << 17)
def syllable_count(word: str) -> int:
    """Count the syllables of a lower-case word by CMU's dictionary, else by hyphenation."""
    import textstat

    return max(1, int(textstat.syllable_count(word)))
