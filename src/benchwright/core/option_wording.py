"""What an option says about the other options: none or all of them, or some by letter or position.

Altering the options is coherent only if no text depends on which options there are or where they
are (WiCkeD, section 3; MMLU-CF, section 3.2, step 5). The wordings are English. Ambiguous texts
count as dependent: an unaltered item costs less than an incoherent one.
"""

import re
import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

OptionKind = Literal["plain", "none_of_the_above", "all_of_the_above", "refers_to_options"]

_PLAIN: OptionKind = "plain"

_OPTION_WORDS = ("option", "choice", "answer", "alternative", "response")
_OPTION = "(?:" + "|".join(f"{word}s?" for word in _OPTION_WORDS) + ")"
_GIVEN = r"(?:above|below|given|listed|provided|offered|mentioned|stated|presented|here)"
_TRUE = r"(?:correct|right|true|valid|appropriate|applicable|acceptable|suitable)"
_FALSE = r"(?:false|wrong|incorrect|untrue|invalid)"
_ADJECTIVE = r"(?:other|remaining|above|given|listed|preceding|previous|following|foregoing|stated)"
# References to all other options; "these" needs no noun.
_OTHERS = (
    rf"(?:(?:the\s+)?(?:above|below|foregoing|aforementioned|preceding|others?\b(?=\s*$))"
    rf"|(?:the\s+|these\s+|those\s+)?(?:{_ADJECTIVE}\s+)?(?:{_OPTION}|statements)"
    rf"|these|those(?=\s*(?:$|[,;:(]|are\b|is\b|apply|applies)))\b"
)
_IS = r"(?:is|are|was|were|would\s+be|will\s+be|can\s+be)"
_NONE = re.compile(
    rf"(?:none|n(?:ei|i|e)ther|not\s+any|not\s+one)\s+(?:one\s+)?of\s+{_OTHERS}.*"
    rf"|(?:none|neither)(?:\s+of\s+(?:them|it))?(?:\s+{_IS}\s+{_TRUE}|\s+appl(?:y|ies))?"
    rf"|no(?:ne)?\s+(?:{_ADJECTIVE}\s+)?{_OPTION}(?:\s+{_GIVEN})?"
    rf"\s+(?:{_IS}\s+{_TRUE}|appl(?:y|ies)|fits?)"
    rf"|(?:there\s+is\s+)?no\s+(?:{_TRUE}\s+{_OPTION}|{_OPTION}\s+{_GIVEN}|other\s+option)"
    rf"(?:\s+(?:is\s+)?{_GIVEN})?"
    rf"|all\s+(?:of\s+)?{_OTHERS}(?:\s+{_GIVEN})?\s+{_IS}\s+{_FALSE}"
    rf"|(?:not|nothing)\s+(?:{_GIVEN}\s+|any\s+of\s+the\s+)?(?:above|listed\s+here)"
)
_ALL = re.compile(
    rf"(?:all|any|each|every\s+one|any\s+one)\s+(?:of\s+)?{_OTHERS}.*"
    rf"|all(?:\s+of\s+(?:them|it))?(?:\s+{_IS}\s+{_TRUE}|\s+apply)?"
    rf"|every\s+{_OPTION}(?:\s+{_GIVEN})?\s+{_IS}\s+{_TRUE}"
    r"|everything\s+(?:above|listed)"
    rf"|every\s+one\s+of\s+{_OTHERS}.*"
)
# A plain noun after "any", "each", "all" or "no" is not a reference: "all answers of students".
_PLAIN_ALL = re.compile(
    rf"(?:all|any|each)\s+(?:{_OPTION}|statements)\b(?!\s*(?:$|[,;:(]|{_GIVEN}|{_IS}\s+{_TRUE}))"
    rf"|(?:any|each)\s+(?:above|below|preceding|following|given|listed)\b"
)
_SENTENCE_NONE = re.compile(r"\b(?:none|neither|not\s+any)\s+of\s+(?:(?:the\s+)?above\b|these$)")
_SENTENCE_ALL = re.compile(
    r"\b(?:all|any|each)\s+(?:of\s+)?(?:the\s+)?above\b(?!\s+(?!are|is)[a-z])"
    rf"|\b(?:all|any)\s+of\s+these$|\ball\s+(?:of\s+)?the\s+\w+\s+{_GIVEN}\s+above$"
)

_COUNT = r"(?:one|two|three|four|1|2|3|4|both|either|some|most|several|more\s+than\s+one)"
_POSITION = re.compile(
    rf"(?:both|either)\.?"
    rf"|(?:both|either)(?:\s+of)?\s+{_OTHERS}.*"
    rf"|(?:all|any|each|the)(?:\s+of)?(?:\s+the)?\s+(?:other|preceding|previous|remaining)\s+{_OPTION}\b.*"
    rf"|(?:only\s+|any\s+)?{_COUNT}\s+of\s+(?:the\s+(?:other\s+)?{_OPTION}|these|those)(?:\s+{_GIVEN})?"
    rf"|(?:both\s+|only\s+)?the\s+(?:first|last|second)\s+(?:two|three|and\s+(?:second|third|last))"
    rf"(?:\s+{_OPTION}|\s+of\s+these|\s+only)?"
)
_SENTENCE_POSITION = re.compile(
    rf"\b(?:of\s+(?:the\s+)?above\b|(?:both|either)\s+of\s+these$|above\s+(?:{_OPTION}|two|three)\b"
    rf"|the\s+(?:preceding|previous)\s+{_OPTION}\b"
    rf"|the\s+(?:first|last)\s+(?:two|three|four)\s+{_OPTION}\b"
    r"|the\s+(?:second|third|fourth|fifth|last|preceding|previous)\s+(?:option|alternative)\b)"
)

_LETTER = r"\(?\b[a-j]\b\s*[.)]?"
_BRACKETED = r"\([a-j]\)"
_JOIN = r"(?:\s*,?\s*(?:and|or|nor\.?|&|but\s+not)\s*|\s*[,/]\s*|\s+)"
_LETTERS = rf"{_LETTER}(?:{_JOIN}{_LETTER})+"
_WORD_JOIN = re.compile(r"\b(?:and|or|nor|not|both|neither|either|only)\b|&")
_QUANTIFIER = r"(?:(?:both|either|n(?:ei|i|e)ther|all\s+of|any\s+of|none\s+of|only|all)\s+)?"
_END = (
    rf"(?:\s*(?:only|alone|above|together|combined)|,?\s*(?:but\s+)?not\s+(?:both|{_LETTER})"
    rf"|\s+(?:both\s+)?{_IS}\s+(?:both\s+)?(?:{_TRUE}|{_FALSE})(?:\s*[,;:.(].*)?|\s*[;:(].*)?"
)
_LETTER_LIST = re.compile(rf"{_QUANTIFIER}(?:{_OPTION}\s+)?(?P<letters>{_LETTERS}){_END}")
_BRACKETED_LIST = re.compile(
    rf"{_QUANTIFIER}(?:{_OPTION}\s+)?(?P<letters>{_BRACKETED}(?:{_JOIN}{_BRACKETED})+).*"
)
_ONE_LETTER = re.compile(
    rf"(?:only\s+(?:{_OPTION}\s+)?(?P<a>{_LETTER})"
    rf"|(?:{_OPTION}\s+)?(?P<b>{_LETTER})\s*(?:only|alone)"
    rf"|{_OPTION}\s+(?P<c>{_LETTER})(?:\s+{_IS}\s+(?:{_TRUE}|{_FALSE}))?)"
)
# In running text the letter must be a capital, or "choose an answer a" would name one.
_NAMED_OPTION = re.compile(
    rf"\b(?i:{_OPTION})\s+(?P<letters>\(?[A-J]\b\)?(?:\s*(?:,|and|or|&|nor)\s*\(?[A-J]\b\)?)*)"
    r"(?!\s+[a-z]+(?:ed|ing)\b)(?![\w'’])"
)
_NAMED_PLACE = re.compile(
    r"\bthe\s+(?:(?:first|last)\s+(?:two|three|four)\s+(?:options|choices|answers|alternatives)"
    r"|(?:second|third|fourth|fifth|last|preceding|previous)\s+(?:option|alternative))\b",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"(?:both|either|neither)\s+\(?([1-9])\)?\s*(?:and|or|nor|&)\s*\(?([1-9])\)?(?:\s+only)?"
)
_ROMAN = frozenset("iv")
_AN_AMOUNT = re.compile(
    r"(?:\d|one\b|two\b|three\b|four\b|five\b|i{1,3}\s+only|i\s+and\s+ii\b|only\s+i\b)"
)
_HOW_MANY = re.compile(r"\bhow\s+(?:many|much)\b|\bnumber\s+of\b", re.IGNORECASE)
_PLACE_WORD = re.compile(
    r"\b(?:above|below|preceding|previous|foregoing|aforementioned|following)\b"
)


def _folded(text: str) -> str:
    """Normalise case and white space, and strip quotation marks and the final full stop."""
    flat = " ".join(unicodedata.normalize("NFC", text).casefold().replace("’", "'").split())
    return flat.strip("\"'“”*_[] ").rstrip(".!: ")


def _letters(named: str) -> frozenset[str]:
    """Return the letters in a list; (i) and (v) number statements in the question."""
    letters = frozenset(re.findall(r"\b[a-j]\b", named))
    return frozenset() if letters <= _ROMAN else letters


def _named_letters(folded: str) -> frozenset[str]:
    for pattern in (_BRACKETED_LIST, _LETTER_LIST):
        match = pattern.fullmatch(folded)
        if match and (pattern is _BRACKETED_LIST or _WORD_JOIN.search(folded)):
            return _letters(match["letters"])
    match = _ONE_LETTER.fullmatch(folded)
    return _letters(match["a"] or match["b"] or match["c"]) if match else frozenset()


def _letters_in_prose(text: str) -> frozenset[str]:
    lower = text.casefold()
    if not any(word in lower for word in _OPTION_WORDS):  # 20 times as fast as the pattern
        return frozenset()
    return _letters(" ".join(match["letters"].casefold() for match in _NAMED_OPTION.finditer(text)))


@lru_cache(maxsize=1 << 16)  # options such as "True" recur in items and draws
def _by_itself(text: str) -> tuple[OptionKind, frozenset[str], str]:
    """Return the kind of an option, the letters that it names, and the text folded."""
    folded = _folded(text)
    letters = _named_letters(folded) or _letters_in_prose(text)
    kind = _PLAIN
    if _NONE.fullmatch(folded) or _SENTENCE_NONE.search(folded):
        kind, letters = "none_of_the_above", frozenset()
    elif letters:
        kind = "refers_to_options"
    elif _SENTENCE_ALL.search(folded) or (_ALL.fullmatch(folded) and not _PLAIN_ALL.match(folded)):
        kind = "all_of_the_above"
    elif _POSITION.fullmatch(folded) or _SENTENCE_POSITION.search(folded):
        kind = "refers_to_options"
    return kind, letters, folded


def kind_of_option(text: str) -> OptionKind:
    """Classify an option by its own text.

    Returns:
        `none_of_the_above` or `all_of_the_above` in any usual wording; `refers_to_options` for a
        text that names some of the others ("Both A and C", "Both", "the first two options"); else
        `plain`. Letters are A–J; `kinds_of_options` also uses the other options and the question.
    """
    return _by_itself(text)[0]


# Draws and checks of one item ask again; the texts of a million items would be a gigabyte.
@lru_cache(maxsize=1 << 15)
def _kinds(question: str, choices: tuple[str, ...]) -> tuple[OptionKind, ...]:
    labels = frozenset(string.ascii_lowercase[: len(choices)])
    kinds: list[OptionKind] = []
    lists = 0
    by_themselves = [_by_itself(text) for text in choices]
    for kind, letters, _ in by_themselves:
        lists += bool(letters)
        no_such_option = bool(letters) and not letters <= labels
        kinds.append(_PLAIN if no_such_option else kind)
    if lists == len(choices):  # no other option is left to name
        return (_PLAIN,) * len(choices)
    for index, (_, _, folded) in enumerate(by_themselves):
        if folded == "none" and _counts(question, choices):
            kinds[index] = _PLAIN
        numbers = _NUMBERS.fullmatch(folded)
        if numbers and _numbers_are_places(numbers.groups(), question, choices):
            kinds[index] = "refers_to_options"
    return tuple(kinds)


def _counts(question: str, choices: tuple[str, ...]) -> bool:
    """Return whether "None" is a number here, or says that no numbered statement holds."""
    return bool(_HOW_MANY.search(question)) or any(
        _AN_AMOUNT.match(_folded(text)) for text in choices
    )


def _numbers_are_places(numbers: tuple[str, ...], question: str, choices: tuple[str, ...]) -> bool:
    """Return whether "both 2 and 3" can only mean the second and the third option."""
    elsewhere = " ".join(
        (question, *(text for text in choices if not _NUMBERS.search(_folded(text))))
    )
    return all(
        int(number) <= len(choices) and not re.search(rf"\b{number}\b", elsewhere)
        for number in numbers
    )


def kinds_of_options(question: str, choices: Sequence[str]) -> tuple[OptionKind, ...]:
    """Classify each option, given the question and the other options.

    A letter beyond the last option, and letters if every option is a list of them, refer to the
    question. "None" among numbers or numbered statements is an amount.
    """
    return _kinds(question, tuple(choices))


def refers_to_options(question: str, choices: Sequence[str]) -> bool:
    """Return whether the stem or an option names options by letter or position."""
    letters = _letters_in_prose(question)
    if letters and letters <= frozenset(string.ascii_lowercase[: len(choices)]):
        return True
    by_place = _NAMED_PLACE.search(question) is not None
    return by_place or "refers_to_options" in kinds_of_options(question, choices)


def option_wordings(question: str, choices: Sequence[str]) -> tuple[OptionKind, ...]:
    """Return the kinds of an item's options and stem, each once, sorted."""
    kinds = {*kinds_of_options(question, choices)} - {_PLAIN}
    if refers_to_options(question, choices):
        kinds.add("refers_to_options")
    return tuple(sorted(kinds))


def names_a_place(option: str) -> bool:
    """Return whether a none- or all-of-the-above option depends on its position ("above")."""
    return bool(_PLACE_WORD.search(_folded(option)))


_MENTIONED = re.compile(
    r"\([A-J]\)"  # "The answer is (C)."
    rf"|\b(?i:{_OPTION})\s+(?:is\s+|are\s+|to\s+)?(?:[B-J]\b|A\b(?!\s+[a-z]))"
    r"|\b[A-J]\s+(?:is|are)\s+(?:the\s+)?(?i:correct|right|wrong|incorrect|false|true|best)\b"
    r"|^\s*[A-J][).:]\s"
    r"|\b[Aa]nswer\s*[:=]\s*[A-J]\b"
)


def mentions_options(explanation: str) -> bool:
    """Return whether an explanation names options by letter or position and fits one order only."""
    return bool(_MENTIONED.search(explanation) or _NAMED_PLACE.search(explanation))
