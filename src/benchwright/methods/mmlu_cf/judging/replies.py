"""Parse judges' replies strictly: one number, yes or no by name, one name.

A number counts if it has the form of a rating: alone on a line, in square brackets, after "Rating:"
or a similar name, after "I would rate this question as", or as "7/9". Any other reply is
unreadable, and the judge is asked again. Flags are read equally strictly: every name once, every
value yes or no, or nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_MARKUP = re.compile(r"[*_`#]+|^>", re.MULTILINE)
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’", "'"))
_SPACES = re.compile(r"[^\S\n]+")
_SEPARATOR = re.compile(r"[\s_-]+")
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


class Scale(NamedTuple):
    """Ratings from `low` to `high`, and the names under which a judge may give one."""

    low: int
    high: int
    labels: tuple[str, ...] = ("rating", "score")


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
    if reply is None or len(reply) > LONGEST:
        return None
    if any(sign.isnumeric() and not sign.isascii() for sign in reply):  # "½", "⁷"
        return None
    text = own_words(reply, [*shown, *choices])
    rest = None if _REFUSAL.search(text) else _without_scale(text, scale)
    claims = None if rest is None else _claims(rest, scale, choices)
    if rest is None or not claims:
        return None
    values = {float(claim["value"]) for claim in claims}
    for claim in claims:
        rest = rest[: claim.start()] + "\n" + rest[claim.end() :]
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


def _claims(text: str, scale: Scale, choices: Sequence[str]) -> list[re.Match[str]] | None:
    """Find numbers in a stated form, the last one first; return None if one is doubtful."""
    label = re.compile(
        rf"\b(?:{'|'.join(map(re.escape, scale.labels))})\b\"?{_LINK}"
        rf"{_OPEN}{_VALUE}{_CLOSE}{_OUT_OF}{_AFTER}",
        re.IGNORECASE,
    )
    options = {choice.strip().rstrip(".") for choice in choices}
    claims: list[re.Match[str]] = []
    for form in (label, _VERB, _BRACKETED, _ALONE):
        for match in form.finditer(text):
            start, end = match.span()
            if any(start < claim.end() and claim.start() < end for claim in claims):
                continue
            most = match["most"]
            if (
                (most is not None and int(most) != scale.high)
                or (form is _ALONE and match["value"] in options and not most)
                or "." in match["value"]
                or _DOUBT.search(text[max(0, start - _BEFORE) : start])
            ):
                return None
            claims.append(match)
    return sorted(claims, key=lambda claim: -claim.start())


_JSON = re.compile(r"(?:```\w*\s*)?\{([^{}]*)\}(?:\s*```)?")
_MEMBER = re.compile(r'"([^"]+)"\s*:\s*"?([^",\n]*)"?\s*,?')


def _json_as_lines(reply: str) -> str:
    """Write the members of a JSON object as lines, `name: value`."""
    return _JSON.sub(lambda found: _MEMBER.sub(r"\n\1: \2\n", found[1]), reply).strip()


_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_LINE = re.compile(
    r"^(?:[-•|–] ?|\d{1,2}[.)] )?\"?(?P<name>[A-Za-z][A-Za-z -]{0,40})\"?(?: ?\([^()\d]{0,60}\))?"
    r" ?(?:[:=|–]|-(?= )) ?(?P<value>.{1,40}?) ?[|,.]?$",
    re.MULTILINE,
)


def parse_flags(
    reply: str | None, names: Sequence[str], shown: Sequence[str] = ()
) -> dict[str, bool] | None:
    """Read yes or no for every name from lines "name: yes"; else None.

    None if a name is missing or occurs twice, a value is neither yes/true nor no/false, or the
    judge refuses. Other names are ignored. Case, spaces, "_" and "-" in names do not matter.
    Repetition of `shown` texts is ignored.
    """
    text = own_words(_json_as_lines(reply or ""), shown)
    if len(text) > LONGEST or _REFUSAL.search(text):
        return None
    wanted = {_SEPARATOR.sub(" ", name): name for name in names}
    flags: dict[str, bool] = {}
    for match in _LINE.finditer(text):
        name = wanted.get(_SEPARATOR.sub(" ", match["name"]).strip().casefold())
        if name is None:
            continue
        value = _FLAGS.get(match["value"].strip(' "[]').casefold())
        if value is None or name in flags:
            return None
        flags[name] = value
    return flags if len(flags) == len(wanted) else None


def parse_choice(
    reply: str | None, names: Mapping[str, str], label: str, shown: Sequence[str] = ()
) -> str | None:
    """Read which of several names a reply begins with, perhaps after "<label>:"; else None.

    None if the line continues with more than a remark in brackets or after a dash, if another of
    the names follows, or if the judge refuses. `names` has the name of each spelling, in any case.
    Repetition of `shown` texts is ignored.
    """
    if reply is None or len(reply) > LONGEST:
        return None
    text = own_words(_json_as_lines(reply), shown)
    if _REFUSAL.search(text):
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
