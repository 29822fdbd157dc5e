"""How hard a text is to read: four indices (DELE, A.1.15–A.1.18).

The formulas are the paper's. Syllables and the list of easy words are textstat's; words and
sentences are counted by `prose`. A number, a formula or a piece of code counts as one easy word of
one syllable. docs/sampling.md says where textstat's own indices differ.
"""

from functools import cache, lru_cache
from math import nan
from typing import NamedTuple

from benchwright.methods.dele.samplers.prose import read_prose, sentence_count

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
    """What the indices are made of.

    Attributes:
        words: of the text, numbers and formulas among them.
        sentences: at least 1.
        syllables: of all words.
        difficult: words that are not on the list of words that fourth-graders know.
        complex: words of three syllables or more.
    """

    words: int
    sentences: int
    syllables: int
    difficult: int
    complex: int


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
