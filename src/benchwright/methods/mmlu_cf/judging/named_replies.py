"""Replies that give several named values, say yes or no, or name one of several things.

As strict as single ratings (`replies`): every name once, every value in its form, or nothing.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.methods.mmlu_cf.judging.replies import json_pairs, name_key
from benchwright.methods.mmlu_cf.judging.reply_text import (
    LONGEST,
    other_digits,
    own_words,
    plain_text,
    refuses,
)

_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_LINE = re.compile(
    r"^(?:[-•|–] ?|\d{1,2}[.)] )?\"?(?P<name>[A-Za-z][A-Za-z -]{0,40})\"?(?: ?\([^()\d]{0,60}\))?"
    r" ?(?:[:=|–]|-(?= )) ?(?P<value>.{1,40}?) ?[|,.]?$",
    re.MULTILINE,
)
_RATING = re.compile(r"[\[(\"]?(\d{1,3})[\])\"]?(?: ?(?:/|out of) ?(\d{1,3}))?(?: stars?)?")
_YES_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_FIRST = re.compile(r"(?:(?:answer|verdict|reply)\s?:\s?)?[\[\"(]?(yes|no)\b(?!-)", re.IGNORECASE)


def parse_named(
    reply: str | None,
    ratings: Sequence[str],
    flags: Sequence[str],
    low: int,
    high: int,
    shown: Sequence[str] = (),
) -> dict[str, int | bool] | None:
    """One value for every name, from a JSON object or from lines "name: value"; else None.

    None where a name is missing or given twice, a rating is no whole number of the range ("4/5" is
    one of 1–5, "4/10" is not), a flag is neither yes/true nor no/false, or the judge refuses. Other
    names are not read. Case, spaces, "_" and "-" in names do not matter.

    Args:
        reply: as the model wrote it.
        ratings: names of whole numbers.
        flags: names of yes or no.
        low: the least rating.
        high: the greatest.
        shown: texts of the prompt; a reply's repetition of them is not read.
    """
    if reply is None or len(reply) > LONGEST or other_digits(reply):
        return None
    given = _pairs(reply, shown)
    if given is None:
        return None
    wanted = {name_key(name): name for name in (*ratings, *flags)}
    found: dict[str, int | bool] = {}
    for key, value in given:
        name = wanted.get(name_key(key))
        if name is None:
            continue
        read = _flag(value) if name in flags else _rating(value, low, high)
        if read is None or name in found:
            return None
        found[name] = read
    return found if len(found) == len(wanted) else None


def parse_yes_no(reply: str | None) -> bool | None:
    """Whether a reply begins with yes or no and holds only that of the two; else None."""
    if reply is None or len(reply) > LONGEST:
        return None
    text = plain_text(reply)
    first = _FIRST.match(text)
    if first is None or refuses(text):
        return None
    said = {word.lower() for word in _YES_NO.findall(text)}
    return first[1].lower() == "yes" if len(said) == 1 else None


def parse_choice(
    reply: str | None, names: Mapping[str, str], label: str, shown: Sequence[str] = ()
) -> str | None:
    """The one of several names that a reply begins with, perhaps after "<label>:"; else None.

    None where more is said on the line than a remark in brackets or after a dash, where it goes on
    to another of the names, and where it refuses.

    Args:
        reply: as the model wrote it.
        names: what each spelling stands for; case does not matter.
        label: of the names, e.g. "field"; also a key of a JSON object.
        shown: texts of the prompt; a reply's repetition of them is not read.
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
    others = {meant[one.casefold()] for one in further if one[0].isupper()} - {chosen}
    return None if others else chosen


def _pairs(reply: str, shown: Sequence[str]) -> list[tuple[str, Any]] | None:
    """Names and values of the one JSON object in a reply, or else of its lines."""
    start, end = reply.find("{"), reply.rfind("}")
    if start >= 0:
        pairs = json_pairs(reply[start : end + 1])
        outside = plain_text(reply[:start] + "\n" + reply[end + 1 :])
        return None if pairs is None or refuses(outside) else _flat(pairs)
    text = own_words(reply, shown)
    if refuses(text):
        return None
    return [(match["name"], match["value"]) for match in _LINE.finditer(text)]


def _flat(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The pairs of an object and of the objects in it."""
    flat: list[tuple[str, Any]] = []
    for key, value in pairs:
        inner = isinstance(value, list) and all(isinstance(one, tuple) for one in value)
        flat += value if inner else [(key, value)]
    return flat


def _rating(value: Any, low: int, high: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    found = _RATING.fullmatch(str(value).strip())
    if found is None or (found[2] is not None and int(found[2]) != high):
        return None
    return int(found[1]) if low <= int(found[1]) <= high else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _FLAGS.get(value.strip(' "[]').casefold()) if isinstance(value, str) else None


def _json_value(reply: str, label: str) -> str:
    """The value of the label in a reply that is one JSON object; any other reply as it is."""
    start, end = reply.find("{"), reply.rfind("}")
    pairs = json_pairs(reply[start : end + 1]) if start >= 0 else None
    values = [value for key, value in pairs or [] if name_key(key) == name_key(label)]
    return values[0] if len(values) == 1 and isinstance(values[0], str) else reply
