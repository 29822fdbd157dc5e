r"""Written answers in plain spelling, and the statements in them.

A statement is a cue ("the answer is", "Answer:", "\boxed{", "####") followed by an answer. All is
linear in the length of the text: repetitions in the patterns are bounded.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from benchwright.core.text_folding import folded, single_spaced

_CHARACTERS = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # full-width forms
    **dict.fromkeys(map(ord, "’‘"), "'"),
    **dict.fromkeys(map(ord, "“”"), '"'),
    **dict.fromkeys(map(ord, "\u00a0\u2009\u202f\u3000\t\r"), " "),
    ord("−"): "-",
}
_LATEX = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:text|textbf|mathrm|mathbf) ?\{([^{}]{0,200})\}", r"\1"),
        (r"\\[dt]?frac ?\{ ?(-?\d{1,30}) ?\}\{ ?(\d{1,30}) ?\}", r"\1/\2"),
        (r"\{,\}", ","),
        (r"\\([$%])", r"\1"),
        (r"\\[,;:!()\[\] ]", " "),
        (r"\\(?:times|cdot)(?![a-z])", "×"),
    )
)
_SPACES = re.compile(" {2,}")
_MARKS = "*_`\"' "
_CUE = re.compile(
    r"\\f?box(?:ed)? ?\{(?P<boxed>[^{}]{0,200}(?:\{[^{}]{0,100}\}[^{}]{0,100}){0,3})\}"
    r"|(?:^|\n)####(?P<hash>[^\n#]{1,400})$"
    r"|(?<![A-Za-z])(?:answer|(?:correct|right|best|appropriate|likely|final)"
    r" (?:option|choice|statement))s?\b"
    r"(?P<between>[^\n.:;?!=]{0,60}?)"
    r"(?P<sign>[ *_]{0,3}[:=]|\n|\b(?:is|are|be)\b)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;](?=[\s*_\"')\]]|$)|\n")
# Two lines of an options list: "A. …" and under it "B. …".
_LIST = re.compile(r"^[ \t]*\(?A[.):][ \t]*([^\n]*)\n[ \t]*\(?B[.):][ \t]*[^\n]*$", re.MULTILINE)

_QUESTION = re.compile(r"\n[ #*]{0,6}(?:question|q) ?\d{0,4} ?:", re.IGNORECASE)

UNSTATED = re.compile(
    r"\b(?:if|whether|why|not|never|wrong|incorrect|other|another|each|could|might|may|cannot)\b"
    r"|n't\b",
    re.IGNORECASE,
)
"""Words of a sentence whose answer is denied, supposed or doubted."""

DENIAL = re.compile(r"(?:not|never|none|neither|no|cannot|unclear|unknown)\b", re.IGNORECASE)
"""The beginning of a statement that names no answer."""

WINDOW = 400
"""Characters after a cue that may hold an answer, beyond the longest option."""


class ReadAs(StrEnum):
    """How an answer was read."""

    STATED = "stated"  # a sentence names it
    BOXED = "boxed"
    HASH_MARKS = "hash_marks"  # after "####"
    LETTER = "bare_letter"  # the first or last line is the letter, perhaps with the option's words
    OPTION_TEXT = "option_text"  # the option's words instead of its letter
    WHOLE_TEXT = "whole_text"  # the text is the answer
    LAST_NUMBER = "last_number"  # nothing is stated: the last number
    SEVERAL = "several"  # more than one is named
    NOTHING = "none"


class Answer(NamedTuple):
    """An answer that was read: the option's index, a number or words; None without a single one."""

    value: int | str | None
    how: ReadAs


class Statement(NamedTuple):
    """A place of a text that states an answer; None for `SEVERAL` and `NOTHING`."""

    at: int
    end: int
    value: int | str | None
    how: ReadAs = ReadAs.STATED


class Found(NamedTuple):
    """An answer at the start of some text, `length` characters long."""

    value: int | str | None
    length: int
    how: ReadAs = ReadAs.STATED


Reader = Callable[[str, ReadAs], Found | None]
"""Reads the answer at the start of what follows a cue (`STATED`, `BOXED` or `HASH_MARKS`); returns
None if there is neither an answer nor a denial."""


def plain(text: str) -> str:
    """Return the text in the plainest spelling, with single spaces and none around lines."""
    text = text.translate(_CHARACTERS)
    if "\\" in text:
        for pattern, replacement in _LATEX:
            text = pattern.sub(replacement, text)
    return _SPACES.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n").strip()


def unmarked(text: str) -> str:
    """Remove emphasis, quotes and dollar signs around a text, and the full stop after it."""
    text = text.strip(_MARKS)
    if len(text) > 2 and text[0] == text[-1] == "$":
        text = text[1:-1]
    return text.removesuffix(".").strip(_MARKS)


def same_words(text: str) -> str:
    """Return the words of a text without differences of case, white space and emphasis."""
    return unmarked(single_spaced(plain(text))).casefold()


def statements(text: str, read: Reader, window: int = WINDOW) -> Iterator[Statement]:
    """Yield the stated answers: in sentences, under headings, in boxes, after `####`."""
    for cue in _CUE.finditer(text):
        kind = cue.lastgroup
        if kind == "sign":
            if not UNSTATED.search(sentence_before(text, cue.start()) + cue["between"]):
                yield from _stated(text, cue.end(), read, window)
            continue
        how = ReadAs.BOXED if kind == "boxed" else ReadAs.HASH_MARKS
        found = read(cue[kind or 0].strip(), how)
        if found is not None:
            how = how if found.how is ReadAs.STATED else found.how
            yield Statement(cue.start(), cue.end(), found.value, how)


def _stated(text: str, at: int, read: Reader, window: int) -> Iterator[Statement]:
    content = text[at : at + window]
    rest = content.lstrip(" \n:,*_\"'`>")
    found = read(rest, ReadAs.STATED)
    if found is not None:
        end = at + len(content) - len(rest) + found.length
        if not text[end : end + 12].lstrip("*_\"'`$)]} ").startswith("?"):
            yield Statement(at, end, found.value, found.how)


def sentence_before(text: str, at: int) -> str:
    """Return the sentence before a place, at most 80 characters of it."""
    near = text[max(0, at - 80) : at]
    ends = [match.end() for match in _SENTENCE_END.finditer(near)]
    return near[ends[-1] :] if ends else near


def sentence_end(text: str, at: int = 0) -> int:
    """Return the place after which a sentence ends; not at a decimal point."""
    end = _SENTENCE_END.search(text, at)
    return end.start() if end else len(text)


def before_next_question(text: str, options: Sequence[str]) -> str:
    """Return the text before a question that the model made up.

    A model without instructions continues the pattern of its demonstrations. Such a question has a
    heading, or a list of options after its paragraph. A list that repeats the item's first option,
    with or without a comment, is the item's own.
    """
    heading = _QUESTION.search(text)
    if heading and text[: heading.start()].strip():
        text = text[: heading.start()]
    first_option = folded(options[0]) if options else ""
    for seen in _LIST.finditer(text) if options else ():
        if first_option and folded(seen[1]).startswith(first_option):
            continue
        before = text[: seen.start()].rstrip()
        paragraph = before.rfind("\n\n")
        return before[: paragraph if paragraph >= 0 else max(0, before.rfind("\n"))]
    return text
