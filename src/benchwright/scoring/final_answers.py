"""Final answers without options: numbers in their many spellings, and words."""

import re
from collections import deque
from fractions import Fraction
from typing import NamedTuple

from benchwright.scoring.answer_statements import (
    BUT,
    NO_ANSWER,
    SENTENCE_END,
    WINDOW,
    Extraction,
    Reading,
    after_thoughts,
    decide,
    folded,
    plain,
    sentence_before,
    statements,
    unmarked,
)

_MOST_DIGITS = 40
_LONGEST = 300  # characters of a final answer in words

_NUMBER = re.compile(
    r"(?<![\w.^/\\√])"
    r"(?P<sign>[-+]?)(?:(?P<dollar>(?:US|USD|A|C|CA)? ?\$)|[€£¥₹] ?|(?:USD|EUR|GBP) |Rs\.? ?)?"
    r"(?P<inner>-?)"
    r"(?=[\d.])(?P<whole>\d++(?:,\d++)*+)?(?P<part>\.\d++)?(?<=\d)"
    r"(?:[eE](?P<power>[-+]?\d{1,2})(?!\w)| ?(?:×|x|\*) ?10\^\{?(?P<exponent>-?\d{1,2})\}?)?"
    r"(?P<mixed> \d{1,9}(?=/\d))?(?: ?/ ?(?P<under>\d++)(?![/\d]))?"
    r"(?: (?P<scale>thousand|million|billion|trillion)\b|(?P<kilo>k)\b)?",
    re.IGNORECASE,
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{2,3})*,\d{3}")
# A time, a version, a power, a variable, an ordinal: not the number alone.
_NOT_A_NUMBER = re.compile(
    r":\d|\.\d|,\d|\^|/\d|[xyzn](?![A-Za-z])| ?(?:[×÷+]|\*(?= ?\w))|(?:st|nd|rd|th)\b"
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TWENTY_TO_NINETY = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(_TWENTY_TO_NINETY.split(), 2)
}
_TENS = "|".join(word for word, value in _WORDS.items() if value >= 20)
_ONES = "|".join(word for word, value in _WORDS.items() if 0 < value < 10)
_WORD = re.compile(
    rf"(?:(?P<tens>{_TENS})(?:[- ](?P<ones>{_ONES}))?|(?P<small>{'|'.join(_WORDS)}))\b"
    r"(?! (?:of|hundred|thousand|million|and|or|to)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:[ *_\"'`$≈~]|(?:about|approximately|exactly|only|simply|therefore|thus|just|equal to"
    r"|indeed|probably|likely|clearly|a total of|roughly|around)(?!\w)){0,6}",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r" ?(?:%|percent\b)?(?P<unit>(?:[ -]?[A-Za-z°µ²³/']{1,20}(?:\^\{?[23]\}?)?){0,3})"
)
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_REASON = re.compile(
    r"\b(?:because|since|as|which|so|where|when|if|after|given|for|rather|not|instead)\b"
    r"|,(?= (?!and\b|or\b)[A-Za-z])",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:(?:definitely|certainly|clearly) )?(?:not|never)(?: be)?\b", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"\b(?:cannot|can't|could not|not) (?:be )?(?:determined?|known?|calculated?|answer|solve|"
    r"possible|enough|sure)\b|\bi (?:do not|don't) know\b",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"[ *#]{0,6}(?:step |part |option )?\d{1,3}[.):] ", re.IGNORECASE)
_JOINED = re.compile(
    r"(?: ?[a-z%]{1,15})? ?(?:,? ?\b(?:or|and|to)\b|[-–—/*×x+÷^]) ?", re.IGNORECASE
)
_FORMULA = re.compile(r"[√π^]|\\(?!f?box)[A-Za-z]")
_WORKING = re.compile(
    r"(?:found|obtained|given|calculated|determined|that|because|simple|straightforward|clear"
    r"|as follows)\b",
    re.IGNORECASE,
)


class Quantity(NamedTuple):
    """A number and the unit after it ("" for none and for percent, "dollar" for $)."""

    value: Fraction
    unit: str


def same_answer(given: str, gold: str) -> bool:
    """Return whether two final answers are the same: equal numbers, or equal words but for case.

    1,000 = $1000.00 and 50% = 50 = 100/2; units must agree if both have one.
    """
    a, b = quantity(given), quantity(gold)
    if a is None or b is None:
        return folded(given[:10_000]) == folded(gold[:10_000])
    units_agree = not (a.unit and b.unit) or a.unit.rstrip("s") == b.unit.rstrip("s")
    return a.value == b.value and units_agree


def canonical_number(text: str) -> str | None:
    """Return a number without currency, percent sign, separators or unit: "$1,234.50" → "1234.5".

    Finite decimals are written out, other fractions stay ("1/3"). None if the text is not one
    number with at most three words of unit after it.
    """
    number = quantity(text)
    return None if number is None else _written(number.value)


def quantity(text: str) -> Quantity | None:
    """Return the number that a text is, with its unit; None if it is something else or more."""
    if len(text) > _LONGEST:
        return None
    text = unmarked(plain(text))
    lead = _LEAD.match(text)
    # The lead may include a currency sign that belongs to the number.
    for start in dict.fromkeys((0, lead.end() if lead else 0)):
        match = _NUMBER.match(text, start)
        value = None if match is None else _value(match)
        if match is None or value is None:
            continue
        unit = _UNIT.fullmatch(text, match.end())
        if unit is not None:
            words = unit["unit"].strip(" -").casefold()
            return Quantity(value, words or ("dollar" if match["dollar"] else ""))
    word = _WORD.fullmatch(text)
    return None if word is None else Quantity(Fraction(_word_value(word)), "")


def _value(match: re.Match[str]) -> Fraction | None:
    whole = match["whole"] or "0"
    if "," in whole and not _GROUPED.fullmatch(whole):
        return None
    if match.end() - match.start() > _MOST_DIGITS or _NOT_A_NUMBER.match(match.string, match.end()):
        return None
    value = Fraction(whole.replace(",", "") + (match["part"] or ""))
    value *= Fraction(10) ** int(match["power"] or match["exponent"] or 0)
    if match["under"]:
        under = int(match["under"])
        if under == 0:
            return None
        value = value + Fraction(int(match["mixed"]), under) if match["mixed"] else value / under
    value *= 10 ** (3 if match["kilo"] else _SCALES.get((match["scale"] or "").lower(), 0))
    return -value if "-" in (match["sign"], match["inner"]) else value


def _word_value(match: re.Match[str]) -> int:
    if match["small"]:
        return _WORDS[match["small"].lower()]
    return _WORDS[match["tens"].lower()] + (_WORDS[match["ones"].lower()] if match["ones"] else 0)


def _written(value: Fraction) -> str:
    """Write a decimal if it is finite, else a fraction."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def read_number(content: str, kind: str) -> Reading[str] | None:
    """Read the number at the start of what follows a cue; see `answer_statements.Reader`."""
    if kind in {"boxed", "hash"}:
        return _read_alone(content, kind)
    negation = _NOT.match(content)
    if negation:
        return _read_negated(content, negation.end(), kind)
    if NO_ANSWER.match(content):
        return Reading(None, 1)
    end = SENTENCE_END.search(content)
    clause = content[: end.start() if end else len(content)]
    shown = _ASIDE.sub(lambda aside: " " * len(aside[0]), clause)
    reason = _REASON.search(shown, 1)
    if reason:
        shown = shown[: reason.start()]
    ends_text = len(clause) == len(content.rstrip(" .\n")) and len(content) < WINDOW
    return _read_clause(shown, kind, ends_text)


def _read_alone(content: str, kind: str) -> Reading[str] | None:
    number = quantity(re.split("[=≈]", content)[-1])
    if kind == "hash" and (number is None or " " in number.unit):  # "#### 2 Ways to" is a heading
        return None
    if number is None:
        return Reading(None, len(content))
    return Reading(_written(number.value), len(content))


def _read_negated(content: str, at: int, kind: str) -> Reading[str]:
    instead = BUT.match(content, at)
    rest = content[instead.end() if instead else at :].lstrip()
    reading = read_number(rest, kind)
    if reading is None or reading.answer is None:
        return Reading(None, at)
    length = len(content) - len(rest) + reading.length
    return reading._replace(length=length, denied=reading.denied if instead else True)


def _read_clause(clause: str, kind: str, ends_text: bool) -> Reading[str] | None:
    """Read the one number of a clause: after its last equals sign, or alone."""
    equals = [match.end() for match in re.finditer("[=≈]", clause)]
    begin = equals[-1] if equals else 0
    lead = _LEAD.match(clause, begin)
    start = lead.end() if lead else begin
    numbers = list(_NUMBER.finditer(clause, begin))
    if not numbers:
        word = _WORD.match(clause, start)
        return None if word is None else Reading(str(_word_value(word)), word.end())
    if kind == "colon":  # "Answer:" may stand before the working
        is_working = bool(equals) and _NUMBER.search(clause[:begin]) is not None
        if numbers[0].start() > start or (is_working and not ends_text):
            return None
    value = _value(numbers[0]) if len(numbers) == 1 and not _FORMULA.search(clause) else None
    return Reading(None if value is None else _written(value), numbers[0].end())


def read_words(content: str, kind: str) -> Reading[str] | None:
    """Read the words at the start of what follows a cue; see `answer_statements.Reader`."""
    if kind in {"boxed", "hash"}:
        words = unmarked(content)
        return Reading(words, len(content)) if words else None
    if _NOT.match(content) or NO_ANSWER.match(content):
        return Reading(None, 1)
    end = SENTENCE_END.search(content)
    clause = content[: end.start() if end else len(content)]
    words = unmarked(clause)
    if not words or len(words) > _LONGEST or _WORKING.match(words):
        return None
    return Reading(words, len(clause.rstrip()))


def whole_words(text: str) -> str | None:
    """Return a text of one short line unchanged."""
    words = unmarked(text)
    refused = _UNKNOWN.search(words) or NO_ANSWER.match(words)
    return None if "\n" in words or len(words) > _LONGEST or refused else words or None


def last_number(text: str) -> str | None:
    """Return the last number of a text; None if it is one of several, or part of something else."""
    last: re.Match[str] | None = None
    for match in reversed(deque(_NUMBER.finditer(text), maxlen=8)):
        if last is None:
            if not _is_list_mark(text, match):
                last = match
            continue
        if _JOINED.fullmatch(text, match.end(), last.start()):
            return None
        break
    if last is None:
        return None
    end = SENTENCE_END.search(text, last.end())
    sentence = sentence_before(text, last.start()) + text[last.start() : end.end() if end else None]
    value = _value(last)
    near = sentence[-_LONGEST:]
    if value is None or near.endswith("?") or _UNKNOWN.search(near) or _FORMULA.search(near):
        return None
    return _written(value)


def extract_final_answer(text: str, finished: bool = True, numeric: bool = True) -> Extraction[str]:
    """Return the final answer to an open-ended question, by the rules of `extract_letter`.

    A `numeric` answer is given as by `canonical_number`; another one is the words stated. In a text
    that was cut off (not `finished`), neither the last number nor the whole text counts.
    """
    shown = after_thoughts(plain(text), finished)
    if shown is None:
        return Extraction(None, "none")
    events = list(statements(shown, read_number if numeric else read_words, WINDOW))
    if not numeric:  # other headings begin with "####" too
        events = [e for e in events if e.reading.rule != "hash_marks" or e.end == len(shown)]
    decided = decide(shown, events, finished)
    if decided is not None or not finished:
        return decided or Extraction(None, "none")
    whole = canonical_number(shown) if numeric else whole_words(shown)
    if whole is not None:
        return Extraction(whole, "whole_text")
    last = last_number(shown) if numeric else None
    return Extraction(last, "none" if last is None else "last_number")


def _is_list_mark(text: str, match: re.Match[str]) -> bool:
    line = text.rfind("\n", 0, match.start()) + 1
    mark = _LIST_MARK.match(text, line)
    return mark is not None and mark.end() > match.start()
