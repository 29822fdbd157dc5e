"""Parse judges' replies strictly: one number, several named values, yes or no, one name.

A number counts if it has the form of a rating: alone on a line, in square
brackets, after "Rating:" or a similar name, after "I would rate this question as", as "7/9", or
under a known key of a JSON object. Any other reply is unreadable, and the judge is asked again.
Named values are read equally strictly: every name once, every value in its form, or nothing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_MARKUP = re.compile(r"[*_`#]+|^>", re.MULTILINE)
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’", "'"))
_SPACES = re.compile(r"[^\S\n]+")
_REFUSAL = re.compile(
    r"\bi(?:'m| am) (?:sorry|afraid|unable|not able|not sure)\b"
    r"|\bi (?:can ?not|can't|could not|couldn't|won't|will not|do not|don't) "
    r"(?:\w+ )?(?:rate|give|provide|assess|answer|judge|determine|help|assist|know|evaluate|assign|"
    r"comply|classify|review|have)\b"
    r"|\b(?:can ?not|can't|not possible to|unable to) (?:be )?(?:rate|assess|judge|review)"
    r"|\bneed more (?:information|context)\b",
    re.IGNORECASE,
)
LONGEST = 8_000
"""Characters of a reply; a longer one is not read."""
_MARK = "\n¶\n"  # replaces what repeats the prompt


def plain_text(text: str) -> str:
    """Remove Markdown, runs of spaces and empty lines; lines stay lines."""
    text = _MARKUP.sub(" ", text.translate(_QUOTES))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def own_words(reply: str, shown: Sequence[str]) -> str:
    """Return the plain text of a reply without what it repeats of the texts it was shown.

    A shown text of two words or more is removed anywhere; a line of it, if it is a whole line of
    the reply.
    """
    text = plain_text(reply)
    prompts = {plain for part in shown if (plain := plain_text(part))}
    for prompt in sorted(prompts, key=len, reverse=True):
        if " " in prompt or "\n" in prompt:
            text = re.sub(re.escape(prompt), lambda _: _MARK, text, flags=re.IGNORECASE)
    lines = {line.strip().casefold() for prompt in prompts for line in prompt.split("\n")}
    return "\n".join(
        line for line in text.split("\n") if not (" " in line and line.strip().casefold() in lines)
    ).strip("\n¶ ")


def refuses(text: str) -> bool:
    """Return whether a reply declines to do what it was asked."""
    return _REFUSAL.search(text) is not None


def other_digits(text: str) -> bool:
    """Return whether a text holds digits other than 0–9: superscripts, circled ones, "½"."""
    return any(sign.isnumeric() and not sign.isascii() for sign in text)


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
    reply: str | None, scale: Scale, shown: Sequence[str] = (), choices: Sequence[str] = ()
) -> int | None:
    """Read the rating that a reply states, or return None.

    None if it states no rating, two different ones, a range ("6-7"), one out of range or of another
    scale ("7/10"), a decimal, one after a doubt or a negation, or one next to another number of
    the scale; if it refuses; and if it only repeats the scale or the prompt. Repetition of `shown`
    texts of the prompt is ignored, and so is a number alone that is one of the `choices`, since it
    may answer the question.
    """
    if reply is None or len(reply) > LONGEST or other_digits(reply):
        return None
    objects = _json_ratings(_FENCE.sub("", reply), scale)
    text = "" if objects is None else own_words(objects, [*shown, *choices])
    rest = None if refuses(text) else _without_scale(text, scale)
    claims = None if rest is None else _claims(rest, scale, choices)
    if rest is None or not claims:
        return None
    values = {claim.value for claim in claims}
    for claim in reversed(claims):
        rest = rest[: claim.start] + "\n" + rest[claim.end :]
    values |= {
        number
        for written in _ANY_NUMBER.findall(rest)
        if scale.low <= (number := float(written.replace(",", "."))) <= scale.high
    }
    value = values.pop()
    return int(value) if not values and scale.low <= value <= scale.high else None


def _without_scale(text: str, scale: Scale) -> str | None:
    """Remove mentions of the scale; return None if the text rates on another one."""
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


def _claims(text: str, scale: Scale, choices: Sequence[str]) -> list[_Claim] | None:
    """Find numbers in a stated form, in their order; return None if one is doubtful."""
    label = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, scale.labels))})\b\"?{_LINK}"
        rf"{_OPEN}{_VALUE}{_CLOSE}{_OUT_OF}{_AFTER}",
        re.IGNORECASE,
    )
    options = {choice.strip().rstrip(".") for choice in choices}
    claims: list[_Claim] = []
    for form in (label, _VERB, _BRACKETED, _ALONE):
        for match in form.finditer(text):
            start, end = match.span()
            if any(start < claim.end and claim.start < end for claim in claims):
                continue
            most = match["most"]
            if (
                (most is not None and int(most) != scale.high)
                or (form is _ALONE and match["value"] in options and not most)
                or "." in match["value"]
                or _DOUBT.search(text[max(0, start - _BEFORE) : start])
            ):
                return None
            claims.append(_Claim(float(match["value"]), start, end))
    return sorted(claims, key=lambda claim: claim.start)


def _json_ratings(reply: str, scale: Scale) -> str | None:
    """Replace JSON objects by lines of the ratings they hold; return None if one is invalid."""
    lines: list[str] = []
    names = {name_key(label) for label in scale.labels}
    for text in _OBJECT.findall(reply):
        pairs = json_pairs(text)
        if pairs is None:
            return None
        values = [value for key, value in pairs if name_key(key) in names]
        if not all(_is_number(value) for value in values):
            return None
        lines += [f"{scale.labels[0]}: {str(value).strip()}" for value in values]
    rest = _OBJECT.sub("\n", reply)
    return None if "{" in rest else "\n".join([rest, *lines])


def json_pairs(text: str) -> list[tuple[str, Any]] | None:
    """Parse a JSON object to keys and values, doubled keys too; return None for anything else."""
    try:
        read = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, list) and text.lstrip().startswith("{") else None


def name_key(name: str) -> str:
    """Return the key by which spellings of a name are compared."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(rf"\s*{_NUMBER}(?:\s?/\s?\d+)?\s*", value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_LINE = re.compile(
    r"^(?:[-•|–] ?|\d{1,2}[.)] )?\"?(?P<name>[A-Za-z][A-Za-z -]{0,40})\"?(?: ?\([^()\d]{0,60}\))?"
    r" ?(?:[:=|–]|-(?= )) ?(?P<value>.{1,40}?) ?[|,.]?$",
    re.MULTILINE,
)
_RATING = re.compile(r"[\[(\"]?(\d{1,3})[\])\"]?(?: ?(?:/|out of) ?(\d{1,3}))?(?: stars?)?")


def parse_named(
    reply: str | None,
    ratings: Sequence[str],
    flags: Sequence[str],
    low: int,
    high: int,
    shown: Sequence[str] = (),
) -> dict[str, int | bool] | None:
    """Read a value for every name from a JSON object or from lines "name: value"; else None.

    None if a name is missing or occurs twice, a rating is not a whole number of the range ("4/5" is
    one of 1–5, "4/10" is not), a flag is neither yes/true nor no/false, or the judge refuses. Other
    names are ignored. Case, spaces, "_" and "-" in names do not matter. `ratings` are whole numbers
    from `low` to `high`. Repetition of `shown` texts is ignored.
    """
    if reply is None or len(reply) > LONGEST or other_digits(reply):
        return None
    pairs = _pairs(reply, shown)
    if pairs is None:
        return None
    wanted = {name_key(name): name for name in (*ratings, *flags)}
    values: dict[str, int | bool] = {}
    for key, written in pairs:
        name = wanted.get(name_key(key))
        if name is None:
            continue
        value = _flag(written) if name in flags else _rating(written, low, high)
        if value is None or name in values:
            return None
        values[name] = value
    return values if len(values) == len(wanted) else None


def parse_choice(
    reply: str | None, names: Mapping[str, str], label: str, shown: Sequence[str] = ()
) -> str | None:
    """Read which of several names a reply begins with, perhaps after "<label>:"; else None.

    None if the line continues with more than a remark in brackets or after a dash, if another of
    the names follows, or if the judge refuses. `names` has the name of each spelling, in any case.
    The `label`, e.g. "field", may be a key of a JSON object. Repetition of `shown` texts is
    ignored.
    """
    if reply is None or len(reply) > LONGEST:
        return None
    text = own_words(_json_value(reply, label), shown)
    if refuses(text):
        return None
    spellings = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    stated = re.match(
        rf"(?:(?:the )?{label}(?: of (?:this|the) question)? ?(?::|=|is:?)? ?)?"
        rf"[\[\"'(]? ?({spellings}) ?[\])\"']?[.,]?(?=$|\n| ?[-–—(:] | ?\()",
        text,
        re.IGNORECASE,
    )
    if stated is None:
        return None
    meant = {spelling.casefold(): name for spelling, name in names.items()}
    chosen = meant[stated[1].casefold()]
    further = re.findall(rf"(?<!\w)(?:{spellings})(?!\w)", text[stated.end() :], re.IGNORECASE)
    others = {meant[name.casefold()] for name in further if name[0].isupper()} - {chosen}
    return None if others else chosen


def _pairs(reply: str, shown: Sequence[str]) -> list[tuple[str, Any]] | None:
    """Return names and values of the JSON object in a reply, or else of its lines."""
    start, end = reply.find("{"), reply.rfind("}")
    if start >= 0:
        pairs = json_pairs(reply[start : end + 1])
        outside = plain_text(reply[:start] + "\n" + reply[end + 1 :])
        if pairs is None or refuses(outside):
            return None
        flat: list[tuple[str, Any]] = []
        for key, value in pairs:  # with the pairs of inner objects
            inner = isinstance(value, list) and all(isinstance(part, tuple) for part in value)
            flat += value if inner else [(key, value)]
        return flat
    text = own_words(reply, shown)
    if refuses(text):
        return None
    return [(match["name"], match["value"]) for match in _LINE.finditer(text)]


def _rating(value: Any, low: int, high: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    rating = _RATING.fullmatch(str(value).strip())
    if rating is None or (rating[2] is not None and int(rating[2]) != high):
        return None
    return int(rating[1]) if low <= int(rating[1]) <= high else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _FLAGS.get(value.strip(' "[]').casefold()) if isinstance(value, str) else None


def _json_value(reply: str, label: str) -> str:
    """Return the value of the label in a reply that is a JSON object, and any other reply as is."""
    start, end = reply.find("{"), reply.rfind("}")
    pairs = json_pairs(reply[start : end + 1]) if start >= 0 else None
    values = [value for key, value in pairs or [] if name_key(key) == name_key(label)]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else reply
