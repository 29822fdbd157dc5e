"""Check by rules whether a rephrased question still asks the same.

Each check is a readable rule about English text. The checks also reject some correct wordings: an
item that keeps its wording costs less than one with a wrong answer. They cannot decide whether two
texts mean the same.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from benchwright.transforms import kept_text

QuestionForm = Literal["blank", "stem", "question", "statement"]

_BLANK = re.compile(r"_{2,}")
# "When", "where" and "if" open a question only before a question mark: "When water freezes, …".
_ASKS = re.compile(
    r"\bwhich\s+(?:one\s+)?of\s+(?:the\s+following|these|those)\b"
    r"|^\W*(?:(?:in|on|at|by|for|from|to|of|with|under|about|through|into)\s+)?"
    r"(?:what|which|who|whom|whose|why|how)\b"
    r"|^\W*(?:find|choose|select|identify|name|determine|calculate|compute|evaluate|solve"
    r"|simplify|state|give|tell|pick|mark|complete|consider|use|write|express|indicate)\b",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\b(?:an?|the|is|are|was|were|be|been|of|in|on|at|by|for|from|to|into|onto|with|through|as"
    r"|called|than|between|because|that|and|or|its|their|his|her)\W*$",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"\b(?:following|these|those|below|above|listed|given|options?|choices?|alternatives?"
    r"|answers?|statements?|among|here|which)\b",
    re.IGNORECASE,
)
_ARTICLES = {"a": "a", "an": "a", "the": "the"}
_LIST_MARK = re.compile(r"\s*(?:\(?(?:[ivx]{1,4}|[IVX]{1,4}|[a-zA-Z]|\d{1,2})[.):]\s)")
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
    Return the two parts, which together are `text`; the passage may be "". None if a long text of
    several lines cannot be split.
    """
    if passage_id:
        passage, mark, asked = text.rpartition("\n\n")
        if asked.strip():
            return Asked(passage + mark, asked)
    body = text.rstrip()
    lines, mark, last = body.rpartition("\n")
    if not mark or len(body) < _PASSAGE_LENGTH:
        return Asked("", text)
    if (
        len(lines) >= _PASSAGE_LENGTH
        and len(last) <= _ASKED_LENGTH
        and len(last.split()) >= 4
        and not _LIST_MARK.match(last)
        and (last.endswith("?") or (not last.endswith((".", "!", '"', "”", ";", ")"))))
    ):
        return Asked(lines + mark, text[len(lines) + 1 :])
    return None if len(body) > _LONG else Asked("", text)


def question_form(question: str) -> QuestionForm:
    """Return the form of a question, from the last sentence of its text.

    `blank`: a gap to fill; `question`: a question or request; `statement`: a complete sentence
    that is neither; `stem`: an unfinished sentence that an option completes.
    """
    if _BLANK.search(question):
        return "blank"
    text = question.strip()
    last = re.split(r"(?<=[.?!])\s+", text)[-1]
    if last.endswith("?"):
        return "question"
    if _UNFINISHED.search(last) and not last.endswith("."):
        return "stem"
    if _ASKS.search(last):
        return "question"
    return "statement" if text.endswith((".", "!")) and not text.endswith("...") else "stem"


def blanks(question: str) -> int:
    """Count the gaps of a question."""
    return len(_BLANK.findall(question))


def last_article(question: str) -> str:
    """Return `a`, `the`, or "" if the last word is no article; "an" is `a`."""
    tokens = re.findall(r"[\w’']+", question.casefold())
    return _ARTICLES.get(tokens[-1], "") if tokens else ""


def speaks_of_options(question: str) -> bool:
    """Return whether a question mentions options: "the following", "these", "which"."""
    return bool(_FOLLOWING.search(question))


_SHORTEST, _LONGEST = 0.5, 2.0  # words of the new wording per word of the old
_SLACK = 5  # words more that a short question may get, and half of them that it may lose
_CONTENT = 0.6  # words other than those of grammar, of questions that have more than a few
_COMMON = frozenset(
    re.findall(
        r"\S+",
        """that this with from than then they their them there these those have been were will would
    more most less some such only also very into over under when where which what does both each
    many much make made makes being about after before other because between""",
    )
)


class Wording(NamedTuple):
    """A question before and after.

    `answer` is the index of the gold option, −1 if unknown; `answer_text` is the gold answer of a
    question without options.
    """

    before: str
    after: str
    choices: Sequence[str] = ()
    answer: int = -1
    answer_text: str = ""


def keeps_numbers(wording: Wording) -> bool:
    """Return whether numbers and units are the same, each as often, in digits or in words."""
    return kept_text.numbers(wording.before) == kept_text.numbers(wording.after)


def keeps_names(wording: Wording) -> bool:
    """Return whether names, quotations, formulas and code stay, and no new ones appear.

    A name is a capitalised word inside a sentence. The first word may be a name too, so replacing
    it with another new word fails.
    """
    before, after = wording.before, wording.after
    old, new = kept_text.words(before), kept_text.words(after)
    if not kept_text.names(before) <= new or not kept_text.names(after) <= old:
        return False
    opening, other = kept_text.opening_word(before), kept_text.opening_word(after)
    if opening and other and opening not in new and other not in old:
        return False
    for text, counterpart in ((before, after), (after, before)):
        flat = kept_text.folded(counterpart)
        if any(kept_text.folded(quoted) not in flat for quoted in kept_text.quotations(text)):
            return False
    return _formulas(before) == _formulas(after)


def _formulas(text: str) -> Counter[str]:
    """Count the formulas; a symbol or an abbreviation counts once, since "it" may replace it."""
    pieces = kept_text.formulas(text)
    return Counter(piece for piece in pieces if not piece.isalnum()) | Counter(set(pieces))


def keeps_negations(wording: Wording) -> bool:
    """Return whether both texts have the same negations and no word became its opposite."""
    texts = (wording.before, wording.after)
    return kept_text.same_negation(*texts) and not kept_text.has_opposite(*texts)


def fits_options(wording: Wording) -> bool:
    """Return whether the options still answer the question, and it does not reveal which.

    A question stays a question, an unfinished sentence stays one with the same final article, if
    any, and gaps stay. "Which of the following" still mentions options. The question must not gain
    the text of an option, or a word that only the gold option has.
    """
    before, after = wording.before, wording.after
    form = question_form(before)
    fits = not wording.choices or (
        blanks(before) == blanks(after)
        and (form != "stem" or last_article(before) == last_article(after))
        and (speaks_of_options(after) or not speaks_of_options(before))
    )
    return fits and form == question_form(after) and not _gives_away(wording)


def _gives_away(wording: Wording) -> bool:
    old, new = f" {_plain(wording.before)} ", f" {_plain(wording.after)} "
    answers = [*wording.choices] or [wording.answer_text]
    if any(f" {text} " in new and f" {text} " not in old for text in map(_plain, answers) if text):
        return True
    contents = [
        {_stem(word) for word in _plain(text).split() if len(word) >= 4} - _COMMON
        for text in wording.choices
    ]
    right = contents.pop(wording.answer) if wording.answer >= 0 and contents else set()
    known = set(map(_stem, old.split())).union(*contents)
    return bool((right - known) & set(map(_stem, new.split())))


def keeps_length(wording: Wording) -> bool:
    """Return whether there are half to twice as many words, or a few more in a short question.

    With more than four content words, at least 60% as many must remain, which detects omitted
    conditions.
    """
    before, after = len(wording.before.split()), len(wording.after.split())
    old, new = (
        len(kept_text.content_words(wording.before)),
        len(kept_text.content_words(wording.after)),
    )
    return _SHORTEST * before - _SLACK / 2 <= after <= _LONGEST * before + _SLACK and (
        old < _SLACK or new >= _CONTENT * old
    )


def is_changed(wording: Wording) -> bool:
    """Return whether the words differ, apart from case, punctuation and articles."""
    old, new = (
        [word for word in _plain(text).split() if word not in _ARTICLES]
        for text in (wording.before, wording.after)
    )
    return old != new


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
    """Return words and digits only, in lower case."""
    return " ".join(re.findall(r"\w+(?:'\w+)?", kept_text.folded(text)))


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
