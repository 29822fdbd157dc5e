"""Words and sentences of a text, without formulas, code and numbers."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# $…$ as Pandoc reads it, so that "$5 and $10" are amounts; $$…$$, \[…\] and \(…\).
_FORMULA = re.compile(
    r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\$(?![\s$])[^$]*?(?<![\s\\])\$(?!\d)", re.DOTALL
)
_PLURAL = re.compile(r"\((?:s|es|n)\)")  # student(s)
_BETWEEN_WORDS = re.compile(r'[\s,;:"“”„«»|/…\-\u2010-\u2015]+')
_AROUND_WORDS = ".!?()[]{}<>'`‘_*=+¿¡"
_SINGLE_LETTERS = frozenset({"a", "A", "I"})

_SENTENCE_END = re.compile(r"[.!?]+[\"”’')\]]*(?=\s|$)|[。！？]|\n")
_ENUMERATION = re.compile(r"\(?\w{1,4}[).]\s")  # (ii) at the start of a line
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_LONGEST_ABBREVIATION = 8
_ENDS_NO_SENTENCE = re.compile(
    r"\w|[IVX]+|(?i:mr|mrs|ms|dr|prof|st|jr|sr|vs|no|fig|eq|inc|co|corp|ltd|etc|cf|al|approx|vol|pp)"
)


class Prose(NamedTuple):
    """The parts of a text."""

    # in order: letters and apostrophes (’ becomes '). Hyphens, dashes and slashes separate words.
    words: tuple[str, ...]
    # numbers, formulas, single letters other than a and I, and tokens that mix letters with digits
    # or signs (`f(x)`, `H2O`, `Z_3`, `U.S.`). Operators and blanks to fill in are not counted.
    others: int


def without_formulas(text: str) -> str:
    r"""Replace each formula of the text ($…$, \[…\]) by a space, in NFC."""
    return _FORMULA.sub(" ", unicodedata.normalize("NFC", text))


@lru_cache(maxsize=1 << 16)
def read_prose(text: str) -> Prose:
    """Return the words of a text, and the number of other tokens."""
    plain = _FORMULA.sub(" 0 ", unicodedata.normalize("NFC", text))
    pieces = _BETWEEN_WORDS.split(_PLURAL.sub("", plain).replace("’", "'"))
    read = [(_word(piece), piece) for piece in pieces]
    others = sum(not word and any(map(str.isalnum, piece)) for word, piece in read)
    return Prose(tuple(word for word, _ in read if word), others)


def prose_words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return read_prose(text).words


def sentence_count(text: str) -> int:
    """Count the sentences with a word of two letters or more; at least 1.

    A sentence ends at a full stop, question or exclamation mark or line break that no lower-case
    letter follows, and at a line break before (i), b) or 2. Points in numbers, after single letters
    (initials, U.S.), Roman numerals and common abbreviations do not end sentences.
    """
    plain = without_formulas(text)
    count, start = 0, 0
    for end in _SENTENCE_END.finditer(plain):
        if not _goes_on(plain, end):
            count += _holds_word(plain[start : end.start()])
            start = end.end()
    return max(1, count + _holds_word(plain[start:]))


def _goes_on(text: str, end: re.Match[str]) -> bool:
    rest = text[end.end() : end.end() + 40].lstrip()
    if end[0] == "\n" and _ENUMERATION.match(rest):
        return False
    if rest.lstrip("\"“'‘([")[:1].islower():
        return True
    if not end[0].startswith("."):
        return False
    before = _LAST_WORD.search(text[max(0, end.start() - _LONGEST_ABBREVIATION) : end.start()])
    return before is not None and _ENDS_NO_SENTENCE.fullmatch(before[0]) is not None


def _holds_word(text: str) -> bool:
    return any(len(word) > 1 for word in prose_words(text))


@lru_cache(maxsize=1 << 17)
def _word(piece: str) -> str:
    core = piece.strip(_AROUND_WORDS)
    letters = core.replace("'", "")
    if not letters or not all(map(_is_letter, letters)):
        return ""
    if len(letters) == 1 and letters.isascii() and core not in _SINGLE_LETTERS:
        return ""
    return core


def _is_letter(character: str) -> bool:
    return character.isalpha() or unicodedata.category(character).startswith("M")
