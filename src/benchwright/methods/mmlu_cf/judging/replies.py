"""The one number that a judge states; never a guess.

A number counts where it stands in a form in which ratings are given: alone on a line, in square
brackets, after "Rating:" or a like name, after "I would rate this question as", as "7/9", or under
a known key of a JSON object. Everything else says nothing, and the judge is asked again.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchwright.methods.mmlu_cf.judging.reply_text import (
    LONGEST,
    other_digits,
    own_words,
    refuses,
)

_NUMBER = r"\d{1,4}(?:\.\d{1,3})?"
_OPEN, _CLOSE = r"[\[(<\"']?\s?", r"\s?[\])>\"']?"
# What may follow a rating; "7 or 8", "7-8", "7.5", "7th", "7%" and "7 steps" are something else.
_AFTER = (
    r"(?=\s?$|\s?\n|\s?[!;|}\])\"'](?!\w)|[.,](?!\d)|\s[-–—(]\s?(?!\d)"
    r"|\s(?:because|since|as|due|given|for|points?|stars?|overall|which|meaning|indicating|(?-i:[A-Z])\w))"
)
_OUT_OF = rf"(?:\s?(?:/|out of|of)\s?{_OPEN}(?P<most>\d{{1,4}}){_CLOSE})?"
_VALUE = rf"(?<![\w.,/~+\-–—])(?P<value>{_NUMBER})"
_THIS = r"(?:this|the|that)(?: \w+[\w-]*)? (?:question|item|problem|one)"
_LINK = (
    rf"(?:\s\([^()\d\n]*\))?(?:\s(?:of|for) (?:{_THIS}|this|it))?"
    r"\s?(?:[:=]|[-–—]{1,3}>?(?=\s)|→|\b(?:is|as|at|of|would be|should be)\b)?:?\s{0,2}"
    r"(?:\b(?:a|an|the|level|rating|score|number)\b:?\s){0,3}"
)
_VERB = re.compile(
    rf"\bi(?:'d| would| will|'ll)?(?: also)? (?:rate|give|assign|score|put)\b"
    rf"(?: (?:{_THIS}|the difficulty of {_THIS}|this|it))?(?: (?:as|at|with|being|to be|:))?"
    rf"(?: (?:a|an|the))?(?: (?:difficulty|level|rating|score|of)){{0,4}}:?\s?"
    rf"{_OPEN}{_VALUE}{_CLOSE}{_OUT_OF}{_AFTER}",
    re.IGNORECASE,
)
_BRACKETED = re.compile(
    rf"(?<!\w)\[\s?(?P<value>{_NUMBER})\s?\]{_OUT_OF}(?!\w)(?!\s?[-–—/]\s?[\[\d])"
)
_ALONE = re.compile(
    rf"^{_OPEN}(?P<value>{_NUMBER}){_CLOSE}{_OUT_OF}(?: points?| stars?)?\s?[.!]?"
    rf"(?:$|(?=\s[-–—]\s\D|,? (?:because|since)\b))",
    re.MULTILINE,
)
_ANY_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)?")
_DOUBT = re.compile(
    r"\b(?:not|never|n't|if|might|may|could|either|between|least|most|more than|less than|above|"
    r"below|example|e\.g|about|around|roughly|approximately|maybe|perhaps|or)\b[^.!?\n]*$|n't\b[^.!?\n]*$",
    re.IGNORECASE,
)
_BEFORE = 80  # characters before a number in which a doubt counts
_OBJECT = re.compile(r"\{[^{}]*\}")
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)


class Scale(NamedTuple):
    """Ratings from `low` to `high`, and the names under which a judge may give one."""

    low: int
    high: int
    labels: tuple[str, ...] = ("rating", "score")


class _Claim(NamedTuple):
    value: float
    start: int
    end: int


def parse_rating(
    reply: str | None,
    scale: Scale,
    shown: Sequence[str] = (),
    choices: Sequence[str] = (),
    decimals: bool = False,
) -> float | None:
    """The rating that a reply states, or None.

    None where it states none, two different ones, a range ("6-7"), one out of range or of another
    scale ("7/10"), a decimal, one with a doubt or a negation before it, or beside another number of
    the scale; where it refuses; and where it only repeats the scale or what it was shown.

    Args:
        reply: as the model wrote it.
        scale: the least and most, and the names of the rating.
        shown: texts of the prompt; a reply's repetition of them is not read.
        choices: the options of the question; a number alone that is one of them may be an answer
            to the question, and is not read.
        decimals: whether "7.5" is a rating.
    """
    if reply is None or len(reply) > LONGEST or other_digits(reply):
        return None
    objects = _json_ratings(_FENCE.sub("", reply), scale)
    if objects is None:
        return None
    text = own_words(objects, [*shown, *choices])
    if refuses(text):
        return None
    rest = _without_scale(text, scale)
    claims = None if rest is None else _claims(rest, scale, choices, decimals)
    if rest is None or not claims:
        return None
    values = {claim.value for claim in claims}
    for claim in reversed(claims):
        rest = rest[: claim.start] + "\n" + rest[claim.end :]
    values |= {
        number
        for found in _ANY_NUMBER.findall(rest)
        if scale.low <= (number := float(found.replace(",", "."))) <= scale.high
    }
    value = values.pop()
    return value if not values and scale.low <= value <= scale.high else None


def _without_scale(text: str, scale: Scale) -> str | None:
    """The text without mentions of the scale; None where it rates on another one."""
    between = r"\s?(?:-|–|—|to|and|through)\s?"
    named = re.compile(
        rf"\b(?:scale|range)\b(?:\s(?:of|from|between|is))?\s?:?\s?"
        rf"[\[(]?(\d+)[\])]?{between}[\[(]?(\d+)[\])]?",
        re.IGNORECASE,
    )
    for low, high in named.findall(text):
        if (int(low), int(high)) != (scale.low, scale.high):
            return None
    text = re.sub(rf"\b(?:on|using|in) (?:a|the) (?={named.pattern})", " ", text, flags=re.I)
    text = named.sub(" ", text)
    ends = rf"[\[(]?(?<![\w.]){scale.low}[\])]?{between}[\[(]?{scale.high}(?![\w.]\w)[\])]?"
    return re.sub(" +", " ", re.sub(ends, " ¶ ", text, flags=re.IGNORECASE)).strip()


def _claims(text: str, scale: Scale, choices: Sequence[str], decimals: bool) -> list[_Claim] | None:
    """Numbers in a stated form, in their order; None where one is doubtful."""
    label = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, scale.labels))})\b\"?{_LINK}"
        rf"{_OPEN}{_VALUE}{_CLOSE}{_OUT_OF}{_AFTER}",
        re.IGNORECASE,
    )
    options = {choice.strip().rstrip(".") for choice in choices}
    found: list[_Claim] = []
    for form in (label, _VERB, _BRACKETED, _ALONE):
        for match in form.finditer(text):
            start, end = match.span()
            if any(start < claim.end and claim.start < end for claim in found):
                continue
            if match["most"] is not None and int(match["most"]) != scale.high:
                return None
            if form is _ALONE and match["value"] in options and not match["most"]:
                return None
            if "." in match["value"] and not decimals:
                return None
            if _DOUBT.search(text[max(0, start - _BEFORE) : start]):
                return None
            found.append(_Claim(float(match["value"]), start, end))
    return sorted(found, key=lambda claim: claim.start)


def _json_ratings(reply: str, scale: Scale) -> str | None:
    """JSON objects replaced by the ratings they hold, as lines; None where one cannot be read."""
    lines: list[str] = []
    names = {name_key(label) for label in scale.labels}
    for found in _OBJECT.findall(reply):
        pairs = json_pairs(found)
        if pairs is None:
            return None
        values = [value for key, value in pairs if name_key(key) in names]
        if not all(_is_number(value) for value in values):
            return None
        lines += [f"{scale.labels[0]}: {str(value).strip()}" for value in values]
    rest = _OBJECT.sub("\n", reply)
    return None if "{" in rest else "\n".join([rest, *lines])


def json_pairs(text: str) -> list[tuple[str, Any]] | None:
    """The keys and values of a JSON object, doubled keys too; None where it is none."""
    try:
        read = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, list) and text.lstrip().startswith("{") else None


def name_key(name: str) -> str:
    """A name by which spellings of it are compared."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(rf"\s*{_NUMBER}(?:\s?/\s?\d+)?\s*", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)
