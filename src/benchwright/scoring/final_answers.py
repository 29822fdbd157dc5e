"""Final answers without options: numbers in their many spellings, and words."""

import re
from decimal import Context
from fractions import Fraction

from benchwright.scoring.answer_text import (
    DENIAL,
    UNSTATED,
    Found,
    ReadAs,
    plain,
    same_words,
    sentence_before,
    sentence_end,
    unmarked,
)

_MOST_DIGITS = 40
_EXACT = Context(prec=200)
_LONGEST = 300  # characters of a final answer in words

_NUMBER = re.compile(
    r"(?<![\w.^/\\√])(?P<sign>-?)(?:\$|[€£] ?)?(?P<inner>-?)"
    r"(?=[\d.])(?P<whole>\d++(?:,\d{3})*+)?(?P<part>\.\d++)?(?<=\d)"
    r"(?:(?P<mixed> \d{1,9})?/(?P<under>\d++))?"
    r"(?: (?P<scale>thousand|million|billion)\b)?",
    re.IGNORECASE,
)
# A time, a version, a power, a variable, an ordinal: not the number alone.
_NOT_A_NUMBER = re.compile(r"[:.,/]\d|\^|[xyzn](?![A-Za-z])| ?[×÷+]|(?:st|nd|rd|th)\b")
_SCALES = {"thousand": 3, "million": 6, "billion": 9}
_UNIT = re.compile(r" ?%?(?:[ -]?[A-Za-z°²³/']{1,20}){0,3}")
_JOINED = re.compile(r"(?: ?[a-z%]{1,15})? ?(?:,? ?\b(?:or|and|to)\b|[-–—/*×x+÷^]) ?")
_LIST_MARK = re.compile(r"^[ *#]{0,6}(?:step )?\d{1,3}[.):] ", re.IGNORECASE | re.MULTILINE)
_OPERATORS = ("×", "*", "+", "/", "÷", " or")


def same_answer(given: str, gold: str) -> bool:
    """Return whether two final answers are the same: equal numbers, or equal words but for case.

    1,000 = $1000.00 apples and 50% = 50 = 100/2: a unit is not compared.
    """
    a, b = canonical_number(given), canonical_number(gold)
    if a is None or b is None:
        return same_words(given[:10_000]) == same_words(gold[:10_000])
    return a == b


def canonical_number(text: str) -> str | None:
    """Return a number without currency, percent sign, separators or unit: "$1,234.50" → "1234.5".

    Finite decimals are written out, other fractions stay ("1/3"). None if the text is not one
    number with at most three words of unit after it.
    """
    if len(text) > _LONGEST:
        return None
    text = unmarked(plain(text))
    match = _NUMBER.match(text)
    if match and _UNIT.fullmatch(text, match.end()):
        return _value(match)
    return None


def _value(match: re.Match[str]) -> str | None:
    """Return a number in its canonical spelling; None if it is part of something else."""
    start, end = match.span()
    if end - start > _MOST_DIGITS or _NOT_A_NUMBER.match(match.string, end):
        return None
    value = Fraction((match["whole"] or "0").replace(",", "") + (match["part"] or ""))
    if match["under"]:
        under = int(match["under"])
        if under == 0:
            return None
        if match["mixed"]:
            value += Fraction(int(match["mixed"]), under)
        else:
            value /= under
    if match["scale"]:
        value *= 10 ** _SCALES[match["scale"].lower()]
    is_negative = match["sign"] or match["inner"]
    return _written(-value if is_negative else value)


def _written(value: Fraction) -> str:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return str(value)
    return f"{_EXACT.divide(value.numerator, value.denominator).normalize(_EXACT):f}"


def read_number(content: str, how: ReadAs) -> Found | None:
    """Read the number at the start of what follows a cue; see `Reader`."""
    if how is not ReadAs.STATED:
        value = canonical_number(re.split("[=≈]", content)[-1])
        known = value is not None or how is ReadAs.BOXED
        return _found(value, len(content)) if known else None
    if DENIAL.match(content):
        return _found(None, 1)
    clause = content[: sentence_end(content)]
    if "=" in clause and re.search(r"\d", content[len(clause) + 1 :]):
        return None  # the beginning of the working
    begin = max(clause.rfind("="), clause.rfind("≈")) + 1
    numbers = list(_NUMBER.finditer(clause, begin))
    if not numbers:
        return None
    first, *others = numbers
    joined = others and _JOINED.fullmatch(clause, first.end(), others[0].start())
    if joined:
        return Found(None, first.end(), ReadAs.SEVERAL)
    return _found(_value(first), first.end())


def _found(value: str | None, length: int) -> Found:
    return Found(value, length, ReadAs.NOTHING if value is None else ReadAs.STATED)


def read_words(content: str, how: ReadAs) -> Found | None:
    """Read the words at the start of what follows a cue; see `Reader`."""
    if DENIAL.match(content):
        return _found(None, 1)
    clause = content if how is not ReadAs.STATED else content[: sentence_end(content)]
    words = unmarked(clause)
    if 0 < len(words) <= _LONGEST:
        return _found(words, len(clause.rstrip()))
    return None


def whole_answer(text: str, numeric: bool) -> str | None:
    """Return a text that is only the answer: a number, or words in one short line."""
    if numeric:
        return canonical_number(text)
    words = unmarked(text)
    if "\n" in words or len(words) > _LONGEST or UNSTATED.search(words):
        return None
    return words or None


def last_number(text: str) -> str | None:
    """Return the last number of a text; None if its sentence asks, doubts or denies."""
    text = _LIST_MARK.sub("", text)
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    start, end = numbers[-1].span()
    sentence = sentence_before(text, start) + text[start : sentence_end(text, end) + 1]
    if sentence.endswith("?") or UNSTATED.search(sentence):
        return None
    if text[:start].rstrip().endswith(_OPERATORS):
        return None
    return _value(numbers[-1])
