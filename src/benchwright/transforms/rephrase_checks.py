"""Check by rules whether a rephrased question still asks the same.

Each check is a readable rule about English text. The checks also reject some correct wordings: an
item that keeps its wording costs less than one with a wrong answer. They cannot decide whether two
texts mean the same.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from benchwright.transforms import kept_text

QuestionForm = Literal["blank", "stem", "question", "statement"]

_BLANK = re.compile(r"_{2,}")
# "When", "where" and "if" open a question only before a question mark: "When water freezes, …".
_ASKS = re.compile(
    r"\bwhich (?:one )?of (?:the following|these|those)\b"
    r"|^\W*(?:(?:in|on|at|by|for|from|to|of|with|under) )?(?:what|which|who|whom|whose|why|how)\b"
    r"|^\W*(?:find|choose|select|identify|name|determine|calculate|compute|evaluate|solve|give)\b",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:an?|the|is|are|was|were|of|in|on|at|by|for|from|to|with|as|called|than|that)\W*$",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"\b(?:following|these|those|below|above|listed|given|options?|choices?|alternatives?"
    r"|answers?|statements?|among|here|which)\b",
    re.IGNORECASE,
)
_LAST_ARTICLE = re.compile(r"\b(?:(a)n?|(the))\W*$", re.IGNORECASE)
_ARTICLES = {"a", "an", "the"}
_PASSAGE_LENGTH = 200  # characters before the last line that make it a passage
_ASKED_LENGTH = 500
_LONG = 600  # characters of a text of several lines that is not split


class Asked(NamedTuple):
    """A question in two parts: the passage, which stays, and the question to rephrase."""

    passage: str
    question: str


def part_passage(text: str, passage_id: str | None = None) -> Asked | None:
    """Split a text into the passage and the question after it.

    A known passage (`passage_id`) ends before the last empty line. Otherwise the last line is the
    question if at least 200 characters come before it and it asks something, or is unfinished.
    The passage may be "". None if a long text of several lines cannot be split.
    """
    if passage_id:
        passage, mark, asked = text.rpartition("\n\n")
        if asked.strip():
            return Asked(passage + mark, asked)
    body = text.rstrip()
    passage, mark, last = body.rpartition("\n")
    asks = len(last.split()) >= 4 and not last.endswith((".", "!", '"', "”", ";", ")"))
    if mark and len(passage) >= _PASSAGE_LENGTH and len(last) <= _ASKED_LENGTH and asks:
        return Asked(passage + mark, text[len(passage) + 1 :])
    if mark and len(body) > _LONG:
        return None
    return Asked("", text)


def question_form(question: str) -> QuestionForm:
    """Return the form of a question, from the last sentence of its text.

    `blank`: a gap to fill; `question`: a question or request; `statement`: a complete sentence
    that is neither; `stem`: an unfinished sentence that an option completes.
    """
    if _BLANK.search(question):
        return "blank"
    last = re.split(r"(?<=[.?!])\s+", question.strip())[-1]
    if last.endswith("?"):
        return "question"
    if _UNFINISHED.search(last) and not last.endswith("."):
        return "stem"
    if _ASKS.search(last):
        return "question"
    if last.endswith((".", "!")) and not last.endswith("..."):
        return "statement"
    return "stem"


_SHORTEST, _LONGEST = 0.5, 2.0  # words of the new wording per word of the old
_SLACK = 5  # words more that a short question may get, and half of them that it may lose
_CONTENT = 0.6  # words other than those of grammar, of questions that have more than a few


class Wording(NamedTuple):
    """A question before and after."""

    before: str
    after: str
    choices: Sequence[str] = ()
    answer: int = -1  # index of the gold option, −1 if unknown
    answer_text: str = ""  # of a question without options


def keeps_numbers(wording: Wording) -> bool:
    """Return whether numbers are the same, each as often, in digits or in words, and units stay."""
    if kept_text.numbers(wording.before) != kept_text.numbers(wording.after):
        return False
    old = kept_text.units(wording.before)
    new = kept_text.units(wording.after)
    return all(old[number] == new[number] for number in old.keys() & new.keys())


def keeps_names(wording: Wording) -> bool:
    """Return whether names, quotations, formulas and code stay, and no new ones appear.

    The first word may be a name too, so replacing it with another new word fails.
    """
    before = wording.before
    after = wording.after
    old = kept_text.words(before)
    new = kept_text.words(after)
    opening = kept_text.opening_word(before)
    other = kept_text.opening_word(after)
    if opening and other and opening not in new and other not in old:
        return False
    return (
        kept_text.names(before) <= new
        and kept_text.names(after) <= old
        and _quotes_all(before, after)
        and _quotes_all(after, before)
        and kept_text.formulas(before) == kept_text.formulas(after)
    )


def _quotes_all(text: str, other: str) -> bool:
    """Return whether all quotations in a text are in the other one."""
    inside = kept_text.folded(other)
    return all(kept_text.folded(quoted) in inside for quoted in kept_text.quotations(text))


def keeps_negations(wording: Wording) -> bool:
    """Return whether both texts have the same negations and no word became its opposite."""
    before = wording.before
    after = wording.after
    return kept_text.same_negation(before, after) and not kept_text.has_opposite(before, after)


def fits_options(wording: Wording) -> bool:
    """Return whether the options still answer the question, and it does not reveal which.

    A question stays a question, an unfinished sentence stays one with the same final article, if
    any, and gaps stay. "Which of the following" still mentions options. The question must not gain
    the text of an option, or a word that only the gold option has.
    """
    before = wording.before
    after = wording.after
    form = question_form(before)
    if form != question_form(after):
        return False
    if wording.choices:
        if len(_BLANK.findall(before)) != len(_BLANK.findall(after)):
            return False
        if form == "stem" and _last_article(before) != _last_article(after):
            return False
        if _FOLLOWING.search(before) and not _FOLLOWING.search(after):
            return False
    return not _gives_away(wording)


def _last_article(question: str) -> tuple[str, ...]:
    last = _LAST_ARTICLE.search(question.casefold())
    return last.groups("") if last else ()


def _gives_away(wording: Wording) -> bool:
    old = f" {_plain(wording.before)} "
    new = f" {_plain(wording.after)} "
    for answer in wording.choices or [wording.answer_text]:
        text = _plain(answer)
        if text and f" {text} " in new and f" {text} " not in old:
            return True
    if wording.answer < 0 or not wording.choices:
        return False
    others = list(map(_content_stems, wording.choices))
    right = others.pop(wording.answer)
    known = set(map(_stem, old.split())).union(*others)
    return not (right - known).isdisjoint(map(_stem, new.split()))


def _content_stems(text: str) -> set[str]:
    return {_stem(word) for word in kept_text.content_words(text) if len(word) >= 4}


def keeps_length(wording: Wording) -> bool:
    """Return whether there are half to twice as many words, or a few more in a short question.

    With more than four content words, at least 60% as many must remain.
    """
    before = len(wording.before.split())
    after = len(wording.after.split())
    if not _SHORTEST * before - _SLACK / 2 <= after <= _LONGEST * before + _SLACK:
        return False
    old = len(kept_text.content_words(wording.before))
    new = len(kept_text.content_words(wording.after))
    return old < _SLACK or new >= _CONTENT * old


def is_changed(wording: Wording) -> bool:
    """Return whether the words differ, apart from case, punctuation and articles."""
    return _without_articles(wording.before) != _without_articles(wording.after)


def _without_articles(text: str) -> list[str]:
    return [word for word in _plain(text).split() if word not in _ARTICLES]


CHECKS: dict[str, Callable[[Wording], bool]] = {
    "unchanged": is_changed,
    "numbers": keeps_numbers,
    "names": keeps_names,
    "negations": keeps_negations,
    "options": fits_options,
    "length": keeps_length,
}
"""The checks by the names under which failures are recorded, in order."""


def failed_checks(wording: Wording) -> list[str]:
    """Return the names of the checks that a wording fails, in the order of `CHECKS`."""
    return [name for name, passes in CHECKS.items() if not passes(wording)]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+(?:'\w+)?", kept_text.folded(text)))


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(?:ing|ies|ed|es|ly|s|e)$", "", word)
