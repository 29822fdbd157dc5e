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

from benchwright.core.text_folding import single_spaced

OptionKind = Literal["plain", "none_of_the_above", "all_of_the_above", "refers_to_options"]

_PLAIN: OptionKind = "plain"
_OPTION_WORDS = ("option", "choice", "answer", "alternative", "response")
_OPTION = "(?:" + "|".join(f"{word}s?" for word in _OPTION_WORDS) + ")"
_TRUE = r"(?:correct|right|true|appl(?:y|ies))"
_SAID = rf"(?: (?:above|below|given|listed))?(?:$|[,;:.(-]| - | (?:is|are|was|were|{_TRUE})\b).*"
_OF_OTHERS = (
    rf"(?: of (?:the )?(?:above|below|others?|(?:other |two )?(?:{_OPTION}|statements))\b.*"
    rf"| of (?:these(?! \w+ed\b)|those(?= (?:is|are)\b|[,;:(]|$))\b.*"
    rf"| the (?:above|below)\b.*|(?: correct)? (?:{_OPTION}|statements){_SAID})"
)
_ALONE = rf"(?: of them)?(?: (?:is|are) {_TRUE})?"
# The amount decides the kind: none, all, or some of the others.
_REFERENCES: dict[OptionKind, re.Pattern[str]] = {
    "none_of_the_above": re.compile(
        rf"no(?:ne)?(?: correct {_OPTION}| {_OPTION}(?= ){_SAID})"
        rf"|(?:none|neither|nither|not any)(?:{_OF_OTHERS}|{_ALONE})"
        rf"|all {_OPTION} are (?:false|wrong|incorrect)"
    ),
    "all_of_the_above": re.compile(rf"all(?:{_OF_OTHERS}|{_ALONE})|(?:any|each|every){_OF_OTHERS}"),
    "refers_to_options": re.compile(
        rf"(?:both|either)(?:{_OF_OTHERS}|{_ALONE})"
        rf"|(?:only |any )?(?:one|two|three|[123]){_OF_OTHERS}"
        rf"|the (?:first|last) (?:two|three)(?: {_OPTION})?(?: only)?"
    ),
}
# At the end of a sentence, or before a verb: "It could be any of the above."
_WITHIN: dict[OptionKind, re.Pattern[str]] = {
    "none_of_the_above": re.compile(r"\b(?:none|neither) of (?:the )?above\b"),
    "all_of_the_above": re.compile(r"\b(?:all|any) (?:of )?(?:the )?(?:\w+ listed )?above$"),
    "refers_to_options": re.compile(r"\bof (?:the )?above\b|\b(?:both|either) of these$"),
}
_LETTER = r"(?:\([a-j]\)|\b[a-j]\b)\.?"
_JOIN = r"(?:,? ?(?:and|or|nor\.?|&|but not) |, ?| )"
_TWO_LETTERS = re.compile(
    rf"(?:(?:both|either|neither|nether|all of|only) )?(?:{_OPTION} )?"
    rf"(?P<letters>{_LETTER}(?:{_JOIN}{_LETTER})+)"
    rf"(?: (?:only|above|both|(?:is|are) {_TRUE})\b.*|(?<=\)) .*|[;:(].*)?"
)
_ONE_LETTER = re.compile(
    rf"(?:(?:only |the same as )?{_OPTION} |only )(?P<a>{_LETTER})(?: only)?|(?P<b>{_LETTER}) only"
)
# In running text the letter must be a capital, or "choose an answer a" would name one.
_NAMED_OPTION = re.compile(
    rf"\b(?i:{_OPTION}) (?P<letters>\(?[A-J]\b\)?(?: ?(?:,|and|or|&|nor) ?\(?[A-J]\b\)?)*)"
    r"(?! [a-z]+(?:ed|ing)\b)(?![\w'’])"
)
_NAMED_PLACE = re.compile(
    r"\bthe (?:(?:first|last) (?:two|three|four) (?:options|choices|answers|alternatives)"
    r"|(?:second|third|fourth|last|previous) (?:option|alternative))\b",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    r"\([A-J]\)"  # "The answer is (C)."
    rf"|\b(?i:{_OPTION}) (?:is |are )?(?:[B-J]\b|A\b(?! [a-z]))"
    r"|\b[A-J] (?:is|are) (?:the )?(?i:correct|right|wrong|incorrect|false|true|best)\b"
    r"|^\s*[A-J][).:]\s|\b[Aa]nswer ?[:=] ?[A-J]\b"
)
_ROMAN = frozenset("iv")
_AMOUNT = re.compile(r"\d|(?:one|two|three|four|five)\b|i{1,3} only|only i\b|i and ii\b")
_PLACE_WORD = re.compile(r"\b(?:above|below|previous|following)\b")


def _folded(text: str) -> str:
    flat = single_spaced(unicodedata.normalize("NFC", text).casefold())
    return flat.strip("\"'“”*_[] ").rstrip(".!: ")


def _letters(named: str) -> frozenset[str]:
    """Return the letters in a list; (i) and (v) number statements in the question."""
    letters = frozenset(re.findall(r"\b[a-j]\b", named))
    return frozenset() if letters <= _ROMAN else letters


def _named_letters(text: str, folded: str) -> frozenset[str]:
    several = _TWO_LETTERS.fullmatch(folded)
    if several and re.search(r"and|or|&|not|both|neither|\(", folded):
        return _letters(several["letters"])
    one = _ONE_LETTER.fullmatch(folded)
    return _letters(one["a"] or one["b"]) if one else _letters_in_prose(text)


def _letters_in_prose(text: str) -> frozenset[str]:
    lower = text.casefold()
    if not any(word in lower for word in _OPTION_WORDS):  # 20 times as fast as the pattern
        return frozenset()
    return _letters(" ".join(match["letters"].casefold() for match in _NAMED_OPTION.finditer(text)))


@lru_cache(maxsize=1 << 16)  # options such as "True" recur in items and draws
def _by_itself(text: str) -> tuple[OptionKind, frozenset[str], str]:
    """Return the kind of an option, the letters that it names, and the text folded."""
    folded = _folded(text)
    letters = _named_letters(text, folded)
    if letters:
        return "refers_to_options", letters, folded
    for kind, pattern in _REFERENCES.items():
        if pattern.fullmatch(folded):
            return kind, letters, folded
    kinds = (kind for kind, pattern in _WITHIN.items() if pattern.search(folded))
    return next(kinds, _PLAIN), letters, folded


def kind_of_option(text: str) -> OptionKind:
    """Classify an option by its own text; `kinds_of_options` also uses the other options.

    `refers_to_options` is a text that names some of the others by letter (A–J) or position.
    """
    return _by_itself(text)[0]


# Draws and checks of one item ask again; the texts of a million items would be a gigabyte.
@lru_cache(maxsize=1 << 15)
def _kinds(choices: tuple[str, ...]) -> tuple[OptionKind, ...]:
    labels = frozenset(string.ascii_lowercase[: len(choices)])
    by_themselves = [_by_itself(text) for text in choices]
    if all(letters for _, letters, _ in by_themselves):  # no other option is left to name
        return (_PLAIN,) * len(choices)
    an_amount = any(_AMOUNT.match(folded) for *_, folded in by_themselves)
    return tuple(
        _PLAIN if not letters <= labels or (folded == "none" and an_amount) else kind
        for kind, letters, folded in by_themselves
    )


def kinds_of_options(choices: Sequence[str]) -> tuple[OptionKind, ...]:
    """Classify each option, given the other options.

    A letter beyond the last option, and letters if every option is a list of them, refer to the
    question. "None" among numbers or numbered statements is an amount.
    """
    return _kinds(tuple(choices))


def refers_to_options(question: str, choices: Sequence[str]) -> bool:
    """Return whether the stem or an option names options by letter or position."""
    letters = _letters_in_prose(question)
    if letters and letters <= frozenset(string.ascii_lowercase[: len(choices)]):
        return True
    by_place = _NAMED_PLACE.search(question) is not None
    return by_place or "refers_to_options" in kinds_of_options(choices)


def option_wordings(question: str, choices: Sequence[str]) -> tuple[OptionKind, ...]:
    """Return the kinds of an item's options and stem, each once, sorted."""
    kinds = {*kinds_of_options(choices)} - {_PLAIN}
    if refers_to_options(question, choices):
        kinds.add("refers_to_options")
    return tuple(sorted(kinds))


def names_a_place(option: str) -> bool:
    """Return whether a none- or all-of-the-above option depends on its position ("above")."""
    return bool(_PLACE_WORD.search(_folded(option)))


def mentions_options(explanation: str) -> bool:
    """Return whether an explanation names options by letter or position and fits one order only."""
    return bool(_MENTIONED.search(explanation) or _NAMED_PLACE.search(explanation))
