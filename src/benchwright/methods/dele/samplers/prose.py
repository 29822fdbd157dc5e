"""Words of a text, without formulas, code and numbers."""

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


@lru_cache(maxsize=1 << 17)
def _word(piece: str) -> str:
    core = piece.strip(_AROUND_WORDS)
    letters = core.replace("'", "")
    if not letters or any(not c.isalpha() and unicodedata.category(c)[0] != "M" for c in letters):
        return ""
    if len(letters) == 1 and letters.isascii() and core not in _SINGLE_LETTERS:
        return ""
    return core
