"""What a question is made of: the passage before it, its form, and how it speaks of its options."""

import re
from typing import Literal, NamedTuple

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
_LONG = 600  # characters of lines that cannot be told apart


class Asked(NamedTuple):
    """A question in two parts: what stays, and what is asked."""

    passage: str
    question: str


def part_passage(text: str, passage_id: str | None = None) -> Asked | None:
    """Part the passage from the question after it.

    A passage given as such (`passage_id`) ends before the last empty line. Otherwise the last
    line is the question if at least 200 characters come before it and it asks something, or is
    left unfinished.

    Returns:
        The two parts, which joined are `text`; the passage is "" in a question without one. None
        where a long text of several lines cannot be parted.
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
    """What a question is as a sentence, from the last sentence of its text.

    Returns:
        `blank` with a gap to be filled; `question` where something is asked or told to be done;
        `statement` where a whole sentence does neither; `stem` where an option ends the sentence.
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
    """How many gaps a question has."""
    return len(_BLANK.findall(question))


def last_article(question: str) -> str:
    """`a`, `the`, or "" where the last word is no article; "an" is `a`."""
    words = re.findall(r"[\w’']+", question.casefold())
    return _ARTICLES.get(words[-1], "") if words else ""


def speaks_of_options(question: str) -> bool:
    """Whether a question says that there are options: "the following", "these", "which"."""
    return bool(_FOLLOWING.search(question))
