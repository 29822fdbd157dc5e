"""How many words of a text are misspelt (DELE, A.1.9)."""

import re
from functools import cache, lru_cache
from math import nan
from typing import TYPE_CHECKING

from benchwright.methods.dele.samplers.prose import prose_words

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
