"""Lines that give answers ("Answer: B", "The correct option is (b)"), and what they answer."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.labels import LETTER
from benchwright.methods.mmlu_cf.extraction.lines import flat

_CORRECT, _QUESTION = words_for("correct"), words_for("question")
_CHOICE = r"(?:option|choice|alternative|opción)s?"
_OPTION = rf"(?:{_CHOICE}|letter|number|no\.?|#)"
_LEAD = (
    r"[\W_]{0,6}(?:(?:correct|right|yes|well done)!\s)?(?:(?:so|thus|hence|therefore),?\s)?"
    r"(?:(?:the|die|das|la|el|le|il|de|het|a|o)\s)?"
)
_ANSWERS = f"{words_for('answers')}|{words_for('answer')}"
_NOUN = (
    rf"(?:(?:(?:{_CORRECT})\s?){{0,2}}(?:{_ANSWERS})(?:\s(?:{_CHOICE}|letter))?"
    rf"(?:\s?(?:yang\s)?(?:{_CORRECT})(?!\w))?|(?:{_CORRECT})\s{_CHOICE}|{_CHOICE}\s(?:{_CORRECT}))"
)
_OF = (
    rf"(?:\.?\s?(?:(?:to|of|for)\s)?(?:(?:this|the)\s)?(?:(?:{_QUESTION})\s?\.?\s?)?"
    r"#?(?P<number>\d{1,4})\s?(?=[:.)=–—-]|is\b)(?![–-]\s?\d)|\s(?:to|of|for)\s(?:this|the)\s\w+)"
)
_IS = r"(?:is|are|was|would be|ist|lautet|es|est|è|é|jest|adalah|là|は|是|为|為|은|는)"
_SIGN = (
    rf"\s?(?:(?:\s|(?<=[^\x00-\xff])){_IS}(?:\s?[:=]|(?!\w)|(?=[A-Za-z](?!\w)))|[:=：]{{1,2}}\s?[-–—]?"
    r"|=>|[-–—→>»|)]{1,2}|\.(?=\s|[(\[]|[A-Za-z]\b))"
)
_ANSWER = re.compile(
    rf"(?is){_LEAD}(?:{_NOUN}|(?P<only>correct|right|{_CORRECT})){_OF}?"
    rf"\s?[\])]?(?P<sign>{_SIGN})?(?P<rest>(?:[\s(\[*\"“'].*|(?<=[:：=])\S.*|(?<=[^\x00-\xff]).*)?)$"
)
_INSIDE = re.compile(
    rf"(?i)(?<=[\s.;,\])。])[\[({{<*✓✔→–-]{{0,3}}\s?(?:the\s)?{_NOUN}"
    rf"\s?\.?(?:\s{_IS})?\s?(?:[:=：]|[-–—]\s|(?<=\.)\s?(?=[(\[]?[A-Ga-g][)\]]?$))"
)
_CONCLUDES = re.compile(
    rf"(?i)(?:{words_for('answer')})(?:\s?{_IS})?\s(?:option\s)?(\([A-Z]\)|(?<=\s)[A-Z])(?:\s?입니다)?\.?\W?$"
)
_EXPLAINS = re.compile(
    rf"(?i)[\W_]{{0,4}}(?:{words_for('explanation')})\s?\)?(?:[:：]|\s[-–—]\s|\.(?=\s)|$)\s?"
)
_SCOPE = (
    r"(?:\s(?:to|for|of|and|with|section|part|set|zu)\b[^:\n]{0,60})?"
    r"(?:\s?[(\[][^()\[\]]{0,60}[)\]])?"
)
_KEY = re.compile(
    rf"(?is){_LEAD}(?:(?:{_CORRECT})\s?){{0,2}}(?:{words_for('answers')}){_SCOPE}\s?[\])]?"
    r"(?:\s?[:：.]|\s[-–—]|$|(?=\t|\s\d{1,3}\s?[-–]\s?\d))\s?(?P<rest>.*)$"
)
_GUESS = re.compile(
    r"(?i)\b(?:i (?:think|guess|believe)|i(?:['’]d| would) say|guess(?:ed|ing)?|not sure|maybe"
    r"|perhaps|probably|(?:my|your) answer|you (?:answered|chose|selected)|votes?|most people)\b"
)
_BUTTON = re.compile(
    r"(?i)[\W_]{0,3}(?:(?:show|view|reveal|see|check|hide|display|toggle|click|tap|open|submit|get)\b"
    rf"[^.:?]{{0,40}}|(?:\w+\s)?(?:{words_for('answer')})(?:\s\w{{1,3}}\s(?:{words_for('explanation')}))?"
    r"|next|previous|reset|vote|discuss|report|skip|\d+ points?|points: \d+)[\W_]{0,3}"
)
_NAME = rf"[{LETTER}Ⓐ-ⓩ①-⑩]|[0-9]{{1,2}}|[ivxIVX]{{1,4}}"
_ONE = re.compile(
    rf"(?s)(?i:(?:(?:the|la|die)\s)?(?:(?:{_CORRECT})\s)?(?:(?:{_OPTION}|answer|is)\s?[:.]?\s){{0,2}})"
    rf"(?P<open>[\[({{<\"“'‘*`]{{0,2}})\s?(?P<name>{_NAME})\s?"
    r"(?P<close>[\])}>\"”'’*`]{0,2}[.:),;。，、：]?[\])]?)(?P<after>\s.*|[-–—(（].*|(?<=[。，、：]).*|$)"
)
_LABELLED = re.compile(r"[(\[]?(?:[A-Ha-hА-Еа-е]|\d{1,2}|[ivxIVX]{1,4})[)\].:]?\s(?:[-–—:=]\s)?")
_REASON = re.compile(
    rf"(?i)(?:(?:because|since|as|is|was)\b|(?:{words_for('explanation')})\s?[:：])"
)
_ALONE = re.compile(rf"[(\[]?(?:{_NAME})[)\]]?\.?")  # "Answer B", "Correct answer (c)"
_DENIES = re.compile(r"(?i)\W{0,2}(?:is\s)?(?:incorrect|wrong|errad|falsch|неверн)")
_LONGEST = 4_000


class Parsed(NamedTuple):
    """An answer as the page gives it, and its explanation."""

    answer: str
    explanation: str


def folded(text: str) -> str:
    """Fold case, white space, quotes and a final full stop for comparison."""
    return flat(text).strip(" .;:,\"'“”‘’*").casefold()


@lru_cache(maxsize=1_000)  # a line is looked at from the questions above and below it
def answer_after(text: str) -> str | None:
    """Return the text after "Answer:" and similar; None if the line does not begin so.

    "Answer to question 3: B" is no answer of the question above.
    """
    match, concluded = _ANSWER.match(text), _CONCLUDES.search(text[-60:])
    if not (match or concluded) or len(text) > _LONGEST or _GUESS.search(text[:80]):
        return None
    rest = match["rest"].strip() if match is not None else ""
    if concluded and not _ONE.match(rest):  # reasons come first
        return f"{concluded[1]} {rest or text}"
    if match is None or match["number"]:
        return None
    return rest if match["sign"] or not rest or _ALONE.fullmatch(rest) else None


def starts_answer(text: str) -> bool:
    """Return whether a line gives or announces an answer."""
    return answer_after(text) is not None


def is_announcement(text: str) -> bool:
    """Return whether a line is a button such as "Show answer"."""
    return _BUTTON.fullmatch(text) is not None


def offers_answer(text: str) -> bool:
    """Return whether a line is a button that shows the answer."""
    return is_announcement(text) and "answer" in text.casefold()


def key_after(text: str) -> str | None:
    """Return the text after "Answer key" and similar; None if the line does not begin so."""
    match = _KEY.match(text)
    return match["rest"].strip() if match is not None else None


def explanation_after(text: str) -> str | None:
    """Return the text after "Explanation:" and similar; None if the line does not begin so."""
    match = _EXPLAINS.match(text)
    return text[match.end() :].strip() if match is not None else None


def answer_inside(text: str) -> int:
    """Return the position of "Ans:" and similar inside a text; −1 if there is none."""
    match = _INSIDE.search(text[-_LONGEST:])
    return -1 if match is None else max(0, len(text) - _LONGEST) + match.start()


_WORD = rf"(?:(?:{_QUESTION})\s?\.?\s?#?)?"
CODE = r"(?:(?:\d{1,3}-)?(?:[A-Z]\d|\d{1,3})[A-Z]\d{1,3}(?!\w))"
"""The code of a question in a pool: `T0A01`, `1-24D6`."""
NUMBER = rf"(?:{CODE}|\d{{1,4}})"
"""A question's number or code."""
_PAIR_SIGN = r"(?:\.{2,6}|::|[.:=)\]、：]|[-–—=→>»…]{1,2}|\bis\b)(?:\s?[-–—=→>:.]){0,2}"
_HEAD = re.compile(
    rf"(?i:{_WORD})[(\[]?(?P<number>{NUMBER})\s?(?P<sign>{_PAIR_SIGN}|(?=\s|\(|[A-Ha-h](?!\w)))\s?(?=\S)"
)
_INNER_HEAD = re.compile(rf"(?<![\w(\[#№])(?<!\d[.,]){_HEAD.pattern}")
_LABEL = r"(?:\d{1,2}|[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_BARE = re.compile(rf"(?i)[(\[]?(?:(?:the\s)?(?:{_OPTION}|answer)\s)?{_LABEL}[)\]]?\.?")
_FIRST = re.compile(
    rf"(?i)[(\[]?(?P<name>{_WORD}\d{{1,4}}|[A-Ha-hА-Е])[)\]]?\s?(?:{_PAIR_SIGN}|(?=\s?[(\[]))\s?"
    rf"[(\[]?(?:{_OPTION}\s)?{_LABEL}[)\].]?(?P<after>$|\s?[;,|/]\s?|\s)"
)


def pairs_in(text: str) -> list[tuple[str, str]]:
    """Return number and answer of at least two questions that a text counts one by one.

    A pair begins at the next number after a separator, or after white space if all pairs contain
    only labels. Other texts have no pairs.
    """
    text = text.strip().rstrip(".;, ")
    first = _HEAD.match(text)
    if first is None:
        return []
    heads = [first]
    for head in _INNER_HEAD.finditer(text, first.end()):
        number, last = head["number"], heads[-1]["number"]
        counts = not number.isdecimal() or (last.isdecimal() and int(number) == int(last) + 1)
        if counts and text[heads[-1].end() : head.start()].strip():
            heads.append(head)
    ends = [*(head.start() for head in heads[1:]), len(text)]
    rests = [
        re.sub(r"\s?(?:and|&)$", "", text[head.end() : end].strip(" \t\n;,|/·•")).strip(" ;,")
        for head, end in zip(heads, ends, strict=True)
    ]
    unsigned = not all(head["sign"] for head in heads)
    bare = all(map(_BARE.fullmatch, rests))
    if len(heads) < 2 or not all(rests) or (unsigned and not bare):
        return []
    return [(head["number"], rest) for head, rest in zip(heads, rests, strict=True)]


def speaks_of_questions(text: str) -> bool:
    """Return whether the text after "Answer:" pairs numbers or labels, as keys do.

    `1 – 3`, `Q1: b` and `A – 3; B – 1` (a matching exercise) do; `B. 3` and `B) text` do not.
    """
    text = text.strip(" .;")
    first = _FIRST.match(text)
    if first is None or pairs_in(text[:2_000]):
        return bool(pairs_in(text[:2_000]))
    if first["name"].isalpha() or first["after"].strip():
        other = _FIRST.match(text, first.end())
        return other is not None and other["name"].casefold() != first["name"].casefold()
    sign = re.match(r"[)\]]?\s?[^\s\w.)]", text[first.end("name") :])  # unlike "2. 3 tides a day"
    return sign is not None or text[first.end() : first.end() + 1] in {"", "("}


def parsed_answer(
    rest: str, labels: Sequence[str], texts: Sequence[str], *, loose: bool = False
) -> Parsed | None:
    """Parse the text after "Answer:"; return None for a guess, a question, or anything unclear.

    The readings in order: a label of the options, alone or with punctuation; the text of exactly
    one option. If `loose`, no keyword precedes the text, so a label must have its option's text.
    """
    whole, names = flat(rest), [label.casefold() for label in labels]
    if whole in texts and whole.casefold() not in names:  # `__init__` has no emphasis
        return Parsed(whole, "")
    whole = whole.strip("*_ ")
    exact = folded(whole) in map(folded, texts)
    unclear = not whole or whole.endswith(("?", "？")) or _GUESS.search(whole[:80])
    if unclear or (not exact and speaks_of_questions(whole)):
        return None
    one = _ONE.match(whole)
    by_label = _by_label(one, labels, texts, exact, loose) if one is not None else None
    return by_label or _by_text(whole, texts)


def _by_label(
    match: "re.Match[str]", labels: Sequence[str], texts: Sequence[str], exact: bool, loose: bool
) -> Parsed | None:
    names = {label.casefold() for label in labels if label}
    name, after = match["name"], match["after"].strip(" -–—:=>→»›|")
    known = name.casefold() in names
    if all(label.isdecimal() for label in names) and not exact:  # letters count the options
        place = "abcdefghijklmnopqrstuvwxyz"[: len(texts)].find(name.casefold())
        if names and match["open"] and not _begins(after, texts[place : place + 1]):
            place = -1  # "b) Paris" where a list without letters is meant
        known = known or place >= 0
        name = labels[place] or name if place >= 0 else name
    if not known or not after.strip("])}.*"):
        return Parsed(name, "") if known else None
    signed = match["close"].strip(" ,") or match["after"].lstrip()[:1] in "-–—(（:=→»›|>"
    begins = _begins(after, texts)
    if not signed and not _REASON.match(after) and (exact or not begins):
        return None
    if not begins and _DENIES.match(after):
        return None
    others = _same(after, texts) or _same(_LABELLED.sub("", after, count=1), texts)
    own = {name.casefold()} & {labels[n].casefold() for n in others}
    numbered = name.isdecimal() and match["name"].isdecimal()
    if (loose and numbered and not begins) or (names and others and not own):
        return None  # of another list, or the label of one option and the text of another
    return Parsed(name, _split(after, texts)[1])


def _same(text: str, texts: Sequence[str]) -> list[int]:
    lows = {folded(text), folded(text.strip(" ()[]"))}
    return [n for n, option in enumerate(texts) if folded(option) in lows]


def _begins(text: str, texts: Sequence[str]) -> bool:
    low = folded(text.strip(" -–—:.)"))
    return any(option and low.startswith(folded(option)) for option in texts)


def _split(text: str, texts: Sequence[str]) -> tuple[str, str]:
    """Return the option at the start of a text, "" without one, and the text after it."""
    whole = text.lstrip("\"'“‘* ")
    for option in sorted(texts, key=len, reverse=True):
        end = len(folded(option))
        after = whole[end:].lstrip("\"'”’*")
        ends = not after or after.startswith((*".;,:()–—[", " -", " –", " —", " (", " because"))
        if end and folded(whole).startswith(folded(option)) and ends:
            return whole[:end], after.strip(" .;:,)]–—-")
    return "", text


def _by_text(text: str, texts: Sequence[str]) -> Parsed | None:
    same = {texts[n] for n in _same(text, texts) if texts[n]}
    if same:  # unless options differ only in case
        return Parsed(same.pop(), "") if len(same) == 1 else None
    option, after = _split(text, texts)
    return Parsed(option, after) if len(option) > 1 else None
