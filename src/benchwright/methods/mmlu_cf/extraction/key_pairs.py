"""Pairs of a question's number and its answer in running text: `1 – 3; 2 – 4`, `Q1: b, Q2: c`."""

import re
from typing import NamedTuple

_WORD = (
    r"(?:(?:q|ques|question|problem|item|task|exercise|no|nr|frage|aufgabe|вопрос|задание|№|#)"
    r"\s?\.?\s?#?)?"
)
_LABEL = r"(?:\d{1,2}|[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_SIGN = r"(?:\.{2,6}|::|[.:=)\]]|[-–—=→>»…]{1,2}|\bis\b)"
_OF = r"(?:(?:the\s)?(?:option|choice|answer|variant|letter|number|no\.?)\s)?"
_HEAD = re.compile(
    rf"{_WORD}[(\[]?(?P<number>\d{{1,4}})\s?(?P<sign>{_SIGN}(?:\s?[-–—=→>:.]){{0,2}}|(?=\s|\())\s?"
    rf"(?=\S)",
    re.IGNORECASE,
)
_FIRST = re.compile(
    rf"[(\[]?(?P<name>{_WORD}\d{{1,4}}|[A-Ha-hА-Е])[)\]]?\s?(?P<sign>{_SIGN}(?:\s?[-–—=→>:])?|(?=\s?[(\[]))\s?"
    rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\].]?(?P<after>$|\s?[;,|/]\s?|\s)",
    re.IGNORECASE,
)
_GAP = re.compile(r"(?:[;,|/·•\t\n]|\.|\band\b|&)\s*$", re.IGNORECASE)
_BARE = re.compile(rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\]]?\.?", re.IGNORECASE)
_LONGEST = 20_000


class Pair(NamedTuple):
    """What a text says of one question."""

    number: int
    rest: str


def pairs_in(text: str) -> list[Pair]:
    """The pairs of a text that counts questions: two or more, numbers rising by one.

    A new pair begins at the next number, behind a separator (behind white space, where all that
    pairs say are labels). Empty where the text is anything else.
    """
    text = text.strip().rstrip(".;, ")
    if len(text) > _LONGEST:
        return []
    first = _HEAD.match(text)
    if first is None:
        return []
    starts, heads = [0], [first]
    wanted = int(first["number"]) + 1
    for found in _numbers(text, first.end()):
        if int(found["number"]) == wanted and _may_follow(text, heads[-1], found):
            starts.append(found.start())
            heads.append(found)
            wanted += 1
    if len(heads) < 2:
        return []
    ends = [*starts[1:], len(text)]
    rests = [
        re.sub(r"\s?(?:and|&)$", "", text[head.end() : end].strip(" \t;,|/·•")).strip(" ;,")
        for head, end in zip(heads, ends, strict=True)
    ]
    if not all(rests):
        return []
    unsigned = any(not head["sign"] for head in heads)
    if unsigned and not all(_BARE.fullmatch(one) for one in rests):
        return []
    return [Pair(int(head["number"]), one) for head, one in zip(heads, rests, strict=True)]


def counted(text: str) -> tuple[int, str] | None:
    """The number that a text begins with and the sign behind it; None where none stands there."""
    found = _HEAD.match(text)
    return (int(found["number"]), found["sign"].strip()) if found and found["sign"] else None


def _numbers(text: str, start: int) -> list["re.Match[str]"]:
    return [
        found
        for found in re.finditer(rf"(?<![\w(\[#№])(?<!\d[.,]){_HEAD.pattern}", text, re.IGNORECASE)
        if found.start() > start - 1
    ]


def _may_follow(text: str, head: "re.Match[str]", found: "re.Match[str]") -> bool:
    """Whether a pair may end before a number: something is said, then comes a gap."""
    at = found.start()
    before = text[head.end() : at]
    if not before.strip():
        return False
    if _GAP.search(text[max(0, at - 8) : at]) is not None:
        return True
    if not found["sign"]:
        return False
    same = found["sign"].strip() == head["sign"].strip()
    return same or _BARE.fullmatch(before.strip()) is not None


def speaks_of_questions(text: str) -> bool:
    """Whether what follows "Answer:" pairs numbers or labels: a key, or part of one.

    `1 – 3` and `Q1: b` do, `A – 3; B – 1` (a matching exercise) does; `B. 3` and `B) text` do not.
    """
    if pairs_in(text[:2_000]):
        return True
    text = text.strip(" .;")
    first = _FIRST.match(text)
    if first is None:
        return False
    if first["name"].isalpha() or first["after"].strip():
        other = _FIRST.match(text, first.end())
        return other is not None and other["name"].casefold() != first["name"].casefold()
    return first.end() == len(text)
