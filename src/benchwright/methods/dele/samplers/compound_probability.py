"""DELE's "compound probability distribution" of a text: three ratios in one figure (A.1.12)."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from math import fsum, isnan, nan, sqrt

from benchwright.methods.dele.samplers.pool import Draw, Sampler, SamplingPool
from benchwright.methods.dele.samplers.prose import without_formulas
from benchwright.methods.dele.samplers.ranking import order_by, prefixes, rank_by_feature

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
    scales = [_mean_and_sd(column) for column in zip(*whole, strict=True)]
    return [fsum(map(_standardised, row, scales)) / len(scales) for row in rows]


@lru_cache(maxsize=1 << 17)
def _parts(text: str) -> tuple[float, float, float]:
    return wordform(text), vowel_consonant_ratio(text), periods(text)


def _standardised(value: float, scale: tuple[float, float]) -> float:
    mean, sd = scale
    if isnan(value):
        return nan
    return (value - mean) / sd if sd else 0.0


def _mean_and_sd(values: Sequence[float]) -> tuple[float, float]:
    mean = fsum(values) / len(values)
    return mean, sqrt(fsum((value - mean) ** 2 for value in values) / len(values))


def compound_probability_sampler(*, standardise: bool) -> Sampler:
    """Items with the highest figure first, standardised over the pool or as printed."""
    if not standardise:
        return rank_by_feature("cpd", compound_probability, highest_first=True)

    def sample(pool: SamplingPool, seed: int) -> Draw:
        values = standardised_compound_probability(pool.texts)
        return prefixes(order_by(values, pool, seed, "cpd", highest_first=True))

    return sample
