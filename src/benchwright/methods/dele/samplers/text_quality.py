"""Quality of texts: spelling, word length, repetition, diversity (DELE, A.1.9–A.1.13)."""

import re
import unicodedata
from functools import cache, lru_cache
from math import fsum, nan
from typing import Any

from benchwright.methods.dele.samplers.prose import read_prose, without_formulas


def average_word_length(text: str) -> float:
    """Return letters per word, without apostrophes; NaN without words."""
    words = read_prose(text).words
    if not words:
        return nan
    return sum(len(word.replace("'", "")) for word in words) / len(words)


def repeated_words(text: str) -> float:
    """Count the words that occurred earlier in the text, ignoring case; NaN without words."""
    words = read_prose(text).words
    return float(len(words) - len({word.casefold() for word in words})) if words else nan


def lexical_diversity(text: str) -> float:
    """Return distinct words divided by words, in (0, 1], ignoring case; NaN without words."""
    words = read_prose(text).words
    return len({word.casefold() for word in words}) / len(words) if words else nan


_SHORTEST = 4
# British spellings and how the word list, which is American, has them.
_BRITISH = (
    (r"our(?=(?:s|ed|ing|er|ers|able|ably|al|ful|less|ite|ites|ism|hood|ly)?$)", "or"),  # colours
    (r"([iy])s(?=(?:e|ed|es|ing|er|ers|able|ation|ations|ational|ationally)$)", r"\1z"),  # analyse
    (r"re(?=s?$)", "er"),  # centre
    (r"([ef])ence(?=(?:s|less)?$)", r"\1ense"),  # defence
    (r"ll(?=(?:ed|ing|ings|er|ers|or|ors)$)", "l"),  # travelled
    (r"[ao]e", "e"),  # foetus
    (r"mme(?=s?$)", "m"),  # programme
    (r"ogue(?=s?$)", "og"),  # catalogue
)


def spelling_errors(text: str) -> float:
    """Count the distinct misspelt words of the text; NaN without words."""
    words = read_prose(text).words
    return float(sum(map(is_misspelt, set(words)))) if words else nan


@lru_cache(maxsize=1 << 17)
def is_misspelt(word: str) -> bool:
    """Return whether a word is unlisted and one edit away from a listed word.

    An edit inserts, deletes or changes a letter or swaps two neighbours. Words further from all
    listed words count as technical terms (pharmacotherapy). Words with a capital letter, fewer than
    four letters or a letter outside a–z are not checked.
    """
    if len(word) < _SHORTEST or not re.fullmatch(r"[a-z']+", word):
        return False
    spelling = _checker()
    listed = spelling.word_frequency.dictionary
    base = word.removesuffix("'s")
    if word in listed or base in listed or base.removesuffix("s") in listed:
        return False
    if any(re.sub(british, american, base) in listed for british, american in _BRITISH):
        return False
    return any(near in listed for near in spelling.edit_distance_1(word))


@cache
def _checker() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en", distance=1)


_VOWELS = frozenset("aeiou")
# "..." and the end of "Yes." count once each, the point of 0.5 does not.
_PERIODS = re.compile(r"(?<!\d)\.+|\.+(?!\d)")


def wordform(text: str) -> float:
    """Return upper-case letters divided by lower-case ones; NaN without lower-case letters."""
    plain = without_formulas(text)
    lower = sum(map(str.islower, plain))
    return sum(map(str.isupper, plain)) / lower if lower else nan


def vowel_consonant_ratio(text: str) -> float:
    """Return vowels (accented or not) divided by other letters a–z; NaN without consonants."""
    plain = unicodedata.normalize("NFKD", without_formulas(text)).casefold()
    letters = [character for character in plain if "a" <= character <= "z"]
    vowels = sum(letter in _VOWELS for letter in letters)
    return vowels / (len(letters) - vowels) if len(letters) > vowels else nan


def periods(text: str) -> float:
    """Count the full stops; a run counts once, decimal points do not count."""
    return float(len(_PERIODS.findall(without_formulas(text))))


def compound_probability(text: str) -> float:
    """Return (wordform + vowel–consonant ratio + periods) / 3, or NaN (A.1.12).

    The number of periods is unbounded and dominates.
    """
    return fsum((wordform(text), vowel_consonant_ratio(text), periods(text))) / 3
