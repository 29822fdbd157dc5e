"""Lines that give an answer: "Answer: B", "The correct option is (b)", and other forms."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from benchwright.methods.mmlu_cf.extraction.answer_words import words_for
from benchwright.methods.mmlu_cf.extraction.lines import flat

_WORD = (
    r"(?:(?:q|ques|question|problem|item|task|exercise|no|nr|frage|aufgabe|вопрос|задание|№|#)"
    r"\s?\.?\s?#?)?"
)
_LABEL = r"(?:\d{1,2}|[A-Ha-hА-Еа-е]|[ivxIVX]{1,4})"
_PAIR_SIGN = r"(?:\.{2,6}|::|[.:=)\]]|[-–—=→>»…]{1,2}|\bis\b)"
_OF = r"(?:(?:the\s)?(?:option|choice|answer|variant|letter|number|no\.?)\s)?"
_HEAD_PATTERN = (
    rf"{_WORD}[(\[]?(?P<number>\d{{1,4}})\s?(?P<sign>{_PAIR_SIGN}(?:\s?[-–—=→>:.]){{0,2}}|(?=\s|\())\s?"
    rf"(?=\S)"
)
_HEAD = re.compile(_HEAD_PATTERN, re.IGNORECASE)
_FIRST = re.compile(
    rf"(?i)[(\[]?(?P<name>{_WORD}\d{{1,4}}|[A-Ha-hА-Е])[)\]]?\s?(?P<sign>{_PAIR_SIGN}(?:\s?[-–—=→>:])?|(?=\s?[(\[]))\s?"
    rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\].]?(?P<after>$|\s?[;,|/]\s?|\s)"
)
_GAP = re.compile(r"(?:[;,|/·•\t\n]|\.|\band\b|&)\s*$", re.IGNORECASE)
_BARE = re.compile(rf"[(\[]?{_OF}(?P<label>{_LABEL})[)\]]?\.?", re.IGNORECASE)
_INNER_HEAD = re.compile(rf"(?<![\w(\[#№])(?<!\d[.,]){_HEAD_PATTERN}", re.IGNORECASE)
_LONGEST = 20_000


def pairs_in(text: str) -> list[tuple[int, str]]:
    """Return number and answer of at least two questions that a text counts one by one.

    A pair begins at the next number after a separator, or after white space if all pairs contain
    only labels. Other texts have no pairs.
    """
    text = text.strip().rstrip(".;, ")
    first = _HEAD.match(text) if len(text) <= _LONGEST else None
    if first is None:
        return []
    heads = [first]
    for head in _INNER_HEAD.finditer(text):
        next_ = head.start() >= first.end() and int(head["number"]) == int(heads[-1]["number"]) + 1
        if next_ and _may_follow(text, heads[-1], head):
            heads.append(head)
    if len(heads) < 2:
        return []
    ends = [*(head.start() for head in heads[1:]), len(text)]
    rests = [
        re.sub(r"\s?(?:and|&)$", "", text[head.end() : end].strip(" \t;,|/·•")).strip(" ;,")
        for head, end in zip(heads, ends, strict=True)
    ]
    unsigned = not all(head["sign"] for head in heads)
    if not all(rests) or (unsigned and not all(map(_BARE.fullmatch, rests))):
        return []
    return [(int(head["number"]), rest) for head, rest in zip(heads, rests, strict=True)]


def counted(text: str) -> tuple[int, str] | None:
    """Return the number at the start of a text and the sign after it; None if there is none."""
    head = _HEAD.match(text)
    return (int(head["number"]), head["sign"].strip()) if head and head["sign"] else None


def _may_follow(text: str, head: "re.Match[str]", following: "re.Match[str]") -> bool:
    """Return whether a pair may end before a number: it has text, and a gap follows it."""
    at = following.start()
    before = text[head.end() : at].strip()
    if not before:
        return False
    if _GAP.search(text[max(0, at - 8) : at]) is not None:
        return True
    same = following["sign"].strip() == head["sign"].strip()
    return bool(following["sign"]) and (same or _BARE.fullmatch(before) is not None)


def speaks_of_questions(text: str) -> bool:
    """Return whether the text after "Answer:" pairs numbers or labels, as keys do.

    `1 – 3`, `Q1: b` and `A – 3; B – 1` (a matching exercise) do; `B. 3` and `B) text` do not.
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


_CORRECT = words_for("correct")
_NOUN = (
    r"(?:(?:answer|ans|sol)\s?(?:key|choice|option|letter)?s?|(?:option|choice|alternative)s?|key"
    rf"|solutions?|{words_for('answers')}|{words_for('answer')})(?:\s(?:{_CORRECT}))?"
)
_RIGHT = (
    r"(?:(?:correct|right|best|true|model|official|verified|final|expected|suggested"
    rf"|{_CORRECT})\s){{1,2}}"
)
_ADJECTIVE = rf"(?:correct|right|{_CORRECT})"
_LEAD = (
    r"(?:(?:correct|right|yes|well done)!\s)?"
    r"[\[({<*✓✔✅→=>»:•\-–\s]{0,6}(?:(?:so|thus|hence|therefore),?\s)?(?:the\s|die\s|la\s|el\s)?"
)
_TO = r"(?:\s?(?:to|of|for)\s(?:this\s|the\s)?(?:question|problem|q|item|no\.?)?\s?#?\d{0,4})?"
_IS = r"(?:is|are|was|would be|ist|lautet|es|est|è|é)"
_ANSWER = re.compile(
    rf"(?is){_LEAD}(?:(?P<right>{_RIGHT})?{_NOUN}{_TO}|(?P<only>{_ADJECTIVE}))"
    rf"(?P<sep>\s?[\])]?\s?(?:{_IS}\s?[:=]?|::|=>|[:=：]\s?[-–—]?|[-–—→>»|]{{1,2}}|\.(?=\s|[(\[]|[A-Za-z]\b)))?"
    r"(?P<rest>\s.*|[(\[*\"“'].*|)$"
)
_INSIDE = re.compile(
    r"(?i)(?<=[\s.;,\])])[\[({<*✓✔→\-–]{0,3}\s?(?:the\s)?(?:(?:correct|right)\s)?"
    rf"(?:answers?|ans|{words_for('answer')}|key|correct(?:\soption)?|answer\skey"
    r"|correct\schoice|sol)\s?\.?(?:\s(?:is|ist|es))?\s?(?:[:=：]|[-–—]\s"
    r"|(?<=\.)\s?(?=[(\[]?[A-Ga-g][)\]]?$))"
)
_EXPLAINS = re.compile(
    r"(?i)[\[({*•\-–\s]{0,4}(?:answer\s)?(?:explanations?|explained|rationale|reason(?:ing)?|why\??"
    r"|solution"
    rf"|feedback|because|hint|{words_for('explanation')}"
    r"|justification|comment|note|detailed solution|more info|discussion)"
    r"\s?\)?(?:[:：]|\s[-–—]\s|\.(?=\s)|$)\s?"
)
_KEY = re.compile(
    r"(?is)[\[({*#•\-–\s]{0,4}(?:the\s)?(?:(?:correct|right|true|verified|expected|model|official|scoring|suggested|quiz|test|exam"
    r"|marking|final|practice|sample|multiple[- ]choice|mcq)\s){0,2}"
    rf"(?:answers?(?:\s?[-&]?\s?(?:keys?|sheet|list|grid))?|keys?|solutions?|{words_for('answers')}"
    r"|answers and explanations?|answers & explanations?|answer explanations?"
    r"|solutions and explanations?|explanations)"
    r"(?:\s(?:to|for|of|and|with|section|part|set|zu)\b[^:\n]{0,60})?"
    r"(?:\s?[(\[][^()\[\]]{0,60}[)\]])?(?:\s?[\])])?(?:\s?[:：.]|\s[-–—]|(?=$)|(?=\t)"
    r"|(?=\s\d{1,3}\s?[-–]\s?\d))\s?(?P<rest>.*)$"
)
_SIGN = re.compile(r"(?:[✓✔✅→⇒➜☑]|=>|->|>>)\s?(?P<rest>[(\[]?[A-Ha-h][)\].]?)")
_NUMBER_OF = re.compile(
    r"(?is)[\[(*•\s]{0,3}(?:(?:correct|right)\s)?(?:answer|ans|solution|sol)s?\.?\s?(?:(?:to|for|of)\s)?"
    r"(?:the\s)?(?:question|problem|q|no|nr|#)?\.?\s?#?(?P<number>\d{1,4})\s?"
    r"(?:[:.)=]|[–—-](?!\s?\d)|is\b)\s?[-–—]?\s?(?P<rest>\S.*)$"
)
_GUESS = re.compile(
    r"(?i)\b(?:i think|i guess|i believe|i(?:'|’)d say|i would say|guess(?:ed|ing)?|not sure"
    r"|maybe|perhaps|imo"
    r"|probably|my answer|your answer|you answered|you chose|you selected|votes?|most people)\b"
)
_BUTTON = re.compile(
    r"(?i)[▶►▼▾➤>\[\s+]{0,3}(?:(?:show|view|reveal|see|check|hide|display|toggle|click|tap|open|submit|get)\b"
    r"[^.:?]{0,40}|next|previous|submit|check|reset|vote|discuss|report|skip"
    r"|\d+ points?|points: \d+)[\]\s.…:]{0,3}"
)
_PIECE = r"[\[({]?(?:option\s|choice\s)?(?:[A-Za-zА-Ка-кⒶ-ⓩ①-⑩]|[0-9]{1,2}|[ivxIVX]{1,4})[.)\]}]?"
_SEVERAL = re.compile(
    rf"(?is)(?:both\s)?(?P<all>{_PIECE}(?:\s?(?:,|&|and|und|or|y|et|и|\+|/|;)\s?(?:and\s)?{_PIECE}){{1,6}})"
    r"(?P<rest>\.?$|[.:]\s.*|\s[-–(].*)"
)
_ONE = re.compile(
    r"(?s)(?i:(?:the\s)?(?:(?:correct|right)\s)?(?:option|choice|answer|letter|number|alternative|opción|is|no\.?|#)\s?[:.]?\s){0,2}"
    r"(?P<open>[\[({<\"“'‘*]{0,2})\s?(?P<name>[A-Za-zА-Ка-кΑ-Θα-θⒶ-ⓩ①-⑩]|[0-9]{1,2}|[ivxIVX]{1,4})\s?"
    r"(?P<close>[\])}>\"”'’*]{0,2}[.:),;]?[\])]?)(?P<after>\s.*|[-–—(].*|$)"
)
_LABELLED = re.compile(r"[(\[]?(?:[A-Ha-hА-Еа-е]|\d{1,2}|[ivxIVX]{1,4})[)\].:]?\s(?:[-–—:=]\s)?")
_SHORT = 120


class Parsed(NamedTuple):
    """An answer as the page gives it, and its explanation."""

    answer: str
    explanation: str


def folded(text: str) -> str:
    """Fold case, white space, quotes and a final full stop for comparison."""
    return flat(text).strip(" .;:,\"'“”‘’*").casefold()


@lru_cache(maxsize=1_000)  # a line is looked at from the questions above and below it
def answer_after(text: str) -> str | None:
    """Return the text after "Answer:" and similar; None if the line does not begin so."""
    if len(text) > 4_000 or _GUESS.search(text[:80]) or _NUMBER_OF.match(text) is not None:
        return None
    match = _SIGN.fullmatch(text)
    if match is not None:
        return match["rest"]
    match = _ANSWER.match(text)
    if match is None:
        return None
    rest = match["rest"].strip()
    if match["sep"] or not rest:
        return rest
    bare = _ONE.fullmatch(rest)  # "Answer B", "Correct answer (c)"
    return rest if bare is not None and not bare["after"].strip(" ]).") else None


def numbered_answer(text: str) -> tuple[int, str] | None:
    """Return number and answer of "Answer to question 3: B" and similar."""
    match = _NUMBER_OF.match(text) if len(text) <= 4_000 else None
    return (int(match["number"]), match["rest"].strip()) if match is not None else None


def starts_answer(text: str) -> bool:
    """Return whether a line gives or announces an answer."""
    return answer_after(text) is not None


def is_announcement(text: str) -> bool:
    """Return whether a line is a button such as "Show answer"."""
    return len(text) < 60 and _BUTTON.fullmatch(text) is not None


def offers_answer(text: str) -> bool:
    """Return whether a line is a button that shows the answer."""
    return is_announcement(text) and "answer" in text.casefold()


def key_after(text: str) -> str | None:
    """Return the text after "Answer key" and similar; None if the line does not begin so."""
    if len(text) > 20_000 or _GUESS.search(text[:80]):
        return None
    match = _KEY.match(text)
    return match["rest"].strip() if match is not None else None


def explanation_after(text: str) -> str | None:
    """Return the text after "Explanation:" and similar; None if the line does not begin so."""
    match = _EXPLAINS.match(text)
    return text[match.end() :].strip() if match is not None else None


def answer_inside(text: str) -> int:
    """Return the position of "Ans:" and similar inside a text; −1 if there is none."""
    match = _INSIDE.search(text[-4_000:])
    return -1 if match is None else max(0, len(text) - 4_000) + match.start()


def parsed_answer(
    rest: str, labels: Sequence[str], texts: Sequence[str], *, loose: bool = False
) -> Parsed | None:
    """Parse the text after "Answer:"; return None for a guess, a question, or anything unclear.

    The readings in order: a label of the options, alone or with punctuation; the text of exactly
    one option; several labels; a label that no option has, which cleaning rejects. If `loose`, no
    keyword precedes the text, so it must name options.
    """
    rest = flat(rest).strip()
    names = [label.casefold() for label in labels]
    literal = rest in texts and rest.casefold() not in names  # `__init__` has no emphasis
    inner = rest if literal else rest.strip("*_ ")
    if inner.endswith("]") and "[" not in inner:
        inner = inner[:-1].rstrip()
    if not inner or inner.endswith("?") or _GUESS.search(inner[:80]):
        return None
    exact = literal or _exact(inner, texts)
    if not exact and speaks_of_questions(inner) and not _quotes(inner, labels, texts):
        return None
    # "B", "(b)", "C.", and with text behind
    match = _ONE.match(inner) if not literal else None
    if match is not None:
        parsed = _by_label(match, labels, texts, inner)
        after = match["after"].strip(" -–—:.)")
        # A label followed by a text that is no option belongs to another list.
        other = parsed and parsed.explanation and not _begins_with_option(after, texts)
        if parsed is not None and not (loose and other):
            return parsed
    several = _SEVERAL.fullmatch(inner)
    if several is not None and not exact:
        return Parsed(several["all"].rstrip("]"), several["rest"].strip(" .:"))
    by_text = _by_text(inner, texts)
    if by_text is not None or loose or match is None or match["name"].casefold() in names:
        return by_text
    return _unknown_label(match, inner)


def _unknown_label(match: "re.Match[str]", whole: str) -> Parsed | None:
    name, after = match["name"], match["after"].strip()
    if not after.strip(" ])."):
        return Parsed(name, "")
    labelled = match["close"].strip() and len(name) < 3 and len(whole) <= _SHORT
    return Parsed(name, after) if labelled else None


def _quotes(text: str, labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a text is an option with its label as in the list: `2) 4`."""
    match = _ONE.match(text)
    after = folded(match["after"].strip(" -–—:.()=→>»|")) if match is not None else ""
    return match is not None and any(
        label.casefold() == match["name"].casefold() and folded(option) == after != ""
        for label, option in zip(labels, texts, strict=False)
    )


def _by_label(
    match: "re.Match[str]", labels: Sequence[str], texts: Sequence[str], whole: str
) -> Parsed | None:
    names = {label.casefold() for label in labels if label}
    name, after = match["name"], match["after"].strip()
    known = name.casefold() in names
    if all(label.isdecimal() for label in names):  # letters count the options
        place = ord(name.casefold()) - 97 if name.isalpha() and len(name) == 1 else -1
        lettered = 0 <= place < len(texts) and not _exact(whole, texts)
        if names:  # "b) Paris" where a list without letters is meant
            lettered = lettered and _begins_with_option(
                after.strip("-–—) "), texts[place : place + 1]
            )
            name = labels[place] if lettered else name
        known = known or lettered
    if not known:
        return None
    after = after.lstrip("-–—:=>→»›| ").strip()
    if not after.strip("])}.*"):
        return Parsed(name, "")
    punctuated = bool(match["close"].strip(" ,")) or match["after"].lstrip()[:1] in "-–—(:=→»›|>"
    argued = punctuated or re.match(r"(?:because|since|as|is|was)\b", after)
    if not argued and (_exact(whole, texts) or not _begins_with_option(after, texts)):
        return None
    if names and _contradicts(name, after, labels, texts):
        return None
    return Parsed(name, _without_option(after, texts))


def _contradicts(name: str, after: str, labels: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a label is followed by the text of other options only."""
    lows = {folded(after), folded(_LABELLED.sub("", after, count=1).strip(" ()[].;,"))}
    same = [label for label, text in zip(labels, texts, strict=False) if folded(text) in lows]
    return bool(same) and name.casefold() not in map(str.casefold, same)


def _exact(text: str, texts: Sequence[str]) -> bool:
    return folded(text) in map(folded, texts)


def _begins_with_option(text: str, texts: Sequence[str]) -> bool:
    low = folded(text)
    return any(option and low.startswith(folded(option)) for option in texts)


def _without_option(text: str, texts: Sequence[str]) -> str:
    """Return the text after a label without the option's text, if it is repeated there."""
    text = flat(text)
    for option in sorted(texts, key=len, reverse=True):
        low = flat(option).casefold().rstrip(".")
        if low and text.casefold().startswith(low):
            rest = text[len(low) :]
            if not rest.strip(" .)]") or rest.lstrip(" ")[:1] in ".;:,()–—-[":
                return rest.strip(" .;:)]–—-")
    unopened = text.endswith(("]", ")")) and "(" not in text and "[" not in text
    return text[:-1] if unopened else text


def _by_text(text: str, texts: Sequence[str]) -> Parsed | None:
    low = folded(text)
    same = {flat(option) for option in texts if option and folded(option) == low}
    if same:
        if len(same) > 1 and flat(text) not in same:
            return None  # options that differ only in case
        return Parsed(next(iter(same)) if len(same) == 1 else flat(text), "")
    options = [option for option in texts if len(option) > 1 and low.startswith(folded(option))]
    for option in sorted(options, key=len, reverse=True):
        end = len(folded(option))
        if low[end:].startswith((*".;,:(–—[", " -", " –", " —", " (", " because")):
            whole = flat(text).lstrip("\"'“‘* ")
            return Parsed(whole[:end], whole[end:].strip(" .;:,)]–—-\"'”’"))
    return None
