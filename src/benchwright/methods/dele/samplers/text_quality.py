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
    forms = [word, base, base.removesuffix("s"), *(rule.sub(us, base) for rule, us in _BRITISH)]
    if any(form in listed for form in forms):
        return False
    return any(near in listed for near in spelling.edit_distance_1(word))


@cache
def _checker() -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(language="en", distance=1)


_VOWELS = frozenset("aeiou")
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
