"""Quality of texts: spelling, length and repetition of words, diversity (DELE, A.1.9–A.1.13)."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from math import fsum, isnan, nan, sqrt
from typing import TYPE_CHECKING

from benchwright.methods.dele.samplers.pool import (
    Draw,
    Sampler,
    SamplingPool,
    order_by,
    prefixes,
    rank_by_feature,
)
from benchwright.methods.dele.samplers.prose import prose_words, without_formulas


def average_word_length(text: str) -> float:
    """Letters per word; NaN where the text has no words. Apostrophes do not count."""
    words = prose_words(text)
    if not words:
        return nan
    return sum(len(word.replace("'", "")) for word in words) / len(words)


def repeated_words(text: str) -> float:
    """Words that stood earlier in the text, case folded; NaN where the text has no words.

    "The cat saw the other cat" has 2. The paper says no more than "count of repeating words".
    """
    words = prose_words(text)
    return float(len(words) - len({word.casefold() for word in words})) if words else nan


def lexical_diversity(text: str) -> float:
    """Distinct words divided by words, in (0, 1], case folded; NaN where there are none."""
    words = prose_words(text)
    return len({word.casefold() for word in words}) / len(words) if words else nan


if TYPE_CHECKING:
    from spellchecker import SpellChecker

_SHORTEST = 4
# British spellings: the word list is American.
_BRITISH = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"our(?=(?:s|ed|ing|er|ers|able|ably|al|ful|less|ite|ites|ism|hood|ly)?$)", "or"),
        (r"([iy])s(?=(?:e|ed|es|ing|er|ers|able|ation|ations|ational|ationally)$)", r"\1z"),
        (r"re(?=s?$)", "er"),
        (r"([ef])ence(?=(?:s|less)?$)", r"\1ense"),
        (r"ll(?=(?:ed|ing|ings|er|ers|or|ors)$)", "l"),
        (r"[ao]e", "e"),
        (r"mme(?=s?$)", "m"),
        (r"ogue(?=s?$)", "og"),
    )
)


def spelling_errors(text: str) -> float:
    """Distinct misspelt words of the text; NaN where the text has no words.

    A word that a text uses again and again is rather its term than a slip, and counts once.
    """
    words = prose_words(text)
    return float(sum(map(is_misspelt, set(words)))) if words else nan


@lru_cache(maxsize=1 << 17)
def is_misspelt(word: str) -> bool:
    """Whether a word is not in the list and one edit away from a word that is.

    An edit inserts, deletes or changes a letter or swaps two neighbours. A word far from all listed
    ones is taken for a term that the list lacks (pharmacotherapy), as are words with a capital
    letter, of fewer than four letters or with a letter outside a–z: these are never misspelt.
    """
    if len(word) < _SHORTEST or not re.fullmatch(r"[a-z']+", word):
        return False
    spelling = _checker()
    listed = spelling.word_frequency.dictionary
    if word in listed or any(form in listed for form in _other_forms(word)):
        return False
    return any(near in listed for near in spelling.edit_distance_1(word))


def _other_forms(word: str) -> list[str]:
    """The word without a plural or possessive ending, and as Americans spell it."""
    base = word.removesuffix("'s")
    return [base, base.removesuffix("s"), *(rule.sub(us, base) for rule, us in _BRITISH)]


@cache
def _checker() -> "SpellChecker":
    from spellchecker import SpellChecker

    return SpellChecker(language="en", distance=1)


_VOWELS = frozenset("aeiou")
_PERIODS = re.compile(r"(?<!\d)\.+|\.+(?!\d)")


def wordform(text: str) -> float:
    """Upper-case letters divided by lower-case ones; NaN where no letter is lower-case."""
    plain = without_formulas(text)
    lower = sum(map(str.islower, plain))
    return sum(map(str.isupper, plain)) / lower if lower else nan


def vowel_consonant_ratio(text: str) -> float:
    """Vowels (a, e, i, o, u, accented or not) divided by other letters a–z; NaN: no consonant."""
    plain = unicodedata.normalize("NFKD", without_formulas(text)).casefold()
    letters = [character for character in plain if "a" <= character <= "z"]
    vowels = sum(letter in _VOWELS for letter in letters)
    return vowels / (len(letters) - vowels) if len(letters) > vowels else nan


def periods(text: str) -> float:
    """Full stops; a run of them counts once, a decimal point not at all."""
    return float(len(_PERIODS.findall(without_formulas(text))))


def compound_probability(text: str) -> float:
    """(wordform + vowel–consonant ratio + periods) / 3 as printed; NaN where a part is.

    The number of periods has no bound and decides nearly alone.
    """
    return fsum(_parts(text)) / 3


def standardised_compound_probability(texts: Sequence[str]) -> list[float]:
    """The mean of the three parts after each was put on mean 0 and sd 1 over the texts.

    NaN where a part is; the others' mean and sd leave such texts out. A part that does not vary
    counts 0. Sums are exact, so that the order of the texts changes nothing.
    """
    parts_of = {text: _parts(text) for text in texts}
    rows = [parts_of[text] for text in texts]
    whole = [row for row in rows if not any(map(isnan, row))]
    if not whole:
        return [nan] * len(rows)
    scales = []
    for column in zip(*whole, strict=True):
        mean = fsum(column) / len(column)
        sd = sqrt(fsum((value - mean) ** 2 for value in column) / len(column))
        scales.append((mean, sd))
    return [fsum(map(_standardised, row, scales)) / len(scales) for row in rows]


@lru_cache(maxsize=1 << 17)
def _parts(text: str) -> tuple[float, float, float]:
    return wordform(text), vowel_consonant_ratio(text), periods(text)


def _standardised(value: float, scale: tuple[float, float]) -> float:
    mean, sd = scale
    if isnan(value):
        return nan
    return (value - mean) / sd if sd else 0.0


def compound_probability_sampler(*, standardise: bool) -> Sampler:
    """Items with the highest figure first, standardised over the pool or as printed."""
    if not standardise:
        return rank_by_feature("cpd", compound_probability, highest_first=True)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        values = standardised_compound_probability(pool.texts)
        return prefixes(order_by(values, pool, seed, "cpd", highest_first=True))

    return sample
