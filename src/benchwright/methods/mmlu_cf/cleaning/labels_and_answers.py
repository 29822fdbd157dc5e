"""Rules that give labels, numbering and answers one spelling."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from benchwright.methods.mmlu_cf.cleaning.rows import LETTERS, Row
from benchwright.params.mmlu_cf import CleaningParams

UPPER = "A-ZÀ-ÖØ-ÞĀ-ĮŁŚŞŠŻŽΑ-ΩЀ-Я"
LOWER = "a-zß-öø-ÿα-ωа-џ"
_ROMAN = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII"
ROMAN = (*_ROMAN.split(), "XXIV", "XXV", "XXVI")
# The start of a sentence must follow the numbering, so that amounts and lists stay:
# "1.5 kg of", "2 + 2", "(a) is true if (b) is".
_START = rf"(?=[{UPPER}_$]|[\"'‘“«¿][^\W\d_]|\([{UPPER}][{LOWER} ])"
_NUMBERED = re.compile(
    r"\s*(?:"
    r"(?:\(?[0-9]{1,3}[.):\]]|\[[0-9]{1,3}\])\s+"
    r"|\([a-hA-H]\)\s+"
    r"|#\s?[0-9]{1,4}[.):]?\s+"
    r"|(?:[Qq](?:ue)?s?|QUES|[Qq]uestion|QUESTION|[Nn]o|[Nn]r|[Pp]roblem|[Ii]tem|MCQ)\b\.?\s*"
    r"(?:[Nn]o\.?\s*)?#?\s?[0-9]{1,4}(?:\s+of\s+[0-9]{1,4})?\s*[.):–—-]+\s*"
    r"|[Qq][0-9]{1,4}\s*(?:[.):–—-]+\s*|\s)"
    r"|(?:[Qq]|[Qq]uestion|QUESTION)\s*[:.]\s+"
    rf")+{_START}"
)
_LETTER = "[A-Za-z]"
_NUMBER = "[0-9]{1,2}"
_NUMERAL = "[IVXivx]{1,6}"
_SERIES = {"letters": LETTERS, "numbers": tuple(map(str, range(1, 31))), "roman": ROMAN}


def question_numbering(row: Row, _: CleaningParams) -> Row:
    """Remove the number before a question: "12. ", "Q3) ", "Question 5:", "(a) "."""
    number = _NUMBERED.match(row.question)
    return replace(row, question=row.question[number.end() :]) if number else row


def choice_numbering(row: Row, _: CleaningParams) -> Row:
    """Remove letters or numbers before the choices if all choices have them, in order."""
    choices = _without_labels(row.choices, _LETTER, LETTERS)
    choices = _without_labels(choices, _NUMBER, _SERIES["numbers"])
    return row if choices is row.choices else replace(row, choices=choices)


def roman_numerals(row: Row, _: CleaningParams) -> Row:
    """Remove Roman numerals before the choices if all have them, in order: not "I and III only"."""
    choices = _without_labels(row.choices, _NUMERAL, ROMAN)
    return row if choices is row.choices else replace(row, choices=choices)


def _without_labels(choices: tuple[str, ...], label: str, series: Sequence[str]) -> tuple[str, ...]:
    pattern = rf"\s*[\[({{]?({label})(?:[\])}}][.:]?\s*|[.:]\s+)(\S.*)$"
    rest = []
    for choice, expected in zip(choices, series, strict=False):
        found = re.match(pattern, choice, re.DOTALL)
        if found is None or found[1].upper() != expected:
            return choices
        rest.append(found[2])
    return tuple(rest) if len(rest) == len(choices) else choices


class Labels(NamedTuple):
    """A row's labels as a series, and the position from 0 that each gives to its choice."""

    series: str  # "letters", "numbers", "roman", "none" without labels, "" if they are no series
    places: tuple[int, ...]

    @property
    def numbered(self) -> bool:
        """Whether the labels are numbers or Roman numerals."""
        return self.series in {"numbers", "roman"}


def read_labels(row: Row) -> Labels:
    """Return the series of a row's labels; letters take precedence."""
    slots = tuple(range(len(row.labels)))
    if row.labels == LETTERS[: len(slots)]:
        return Labels("letters", slots)
    if not any(row.labels):
        return Labels("none", slots)
    bare = [re.sub(r"^[\s\[({*]*([A-Za-z0-9]+)[\s\])}.:*]*$", r"\1", text) for text in row.labels]
    for name, series in _SERIES.items():
        places = tuple(_place(label, series) for label in bare)
        if sorted(places) == [*slots]:
            return Labels(name, places)
    return Labels("", ())


def _place(label: str | None, series: Sequence[str]) -> int:
    upper = (label or "").upper()
    return series.index(upper) if upper in series else -1


def label_set(row: Row, _: CleaningParams) -> Row | str:
    """Reject labels that are not A–D (or A to the number of choices) and cannot be mapped to them.

    Lower-case letters, numbers and Roman numerals from one are mapped, and so are missing labels.
    An answer that names one choice by number and another by its text is ambiguous.
    """
    labels = read_labels(row)
    if "?" in row.labels and not labels.series:
        return "labels and choices differ in number"
    if not labels.series:
        return "labels are not A, B, C, …"
    if labels.numbered:
        by_label = _by_label(row, labels)
        by_text = matching_choice(row.choices, row.answer)
        if by_label >= 0 and by_text >= 0 and labels.places[by_text] != by_label:
            return "answer is a label and the text of another choice"
    return row


def label_letters(row: Row, _: CleaningParams) -> Row:
    """Write labels, and answers that name a label, as upper-case letters."""
    labels = read_labels(row)
    if not labels.series or row.labels == LETTERS[: len(row.labels)]:
        return row
    place = _by_label(row, labels) if labels.numbered else -1
    answer = LETTERS[place] if place >= 0 else row.answer
    letters = tuple(LETTERS[at] if at < len(LETTERS) else "" for at in labels.places)
    return replace(row, labels=letters, answer=answer)


def choice_order(row: Row, _: CleaningParams) -> Row:
    """Sort the choices by their labels."""
    places = read_labels(row).places
    order = sorted(range(len(places)), key=places.__getitem__)
    if order == [*range(len(row.choices))] or not places:
        return row
    choices = tuple(row.choices[at] for at in order)
    return replace(row, choices=choices, labels=tuple(row.labels[at] for at in order))


def _by_label(row: Row, labels: Labels) -> int:
    """Return the position of the label that the answer names; −1 if it is not in the series."""
    named, _ = _label_and_text(_LEAD.sub("", row.answer or "", count=1))
    place = _place(named, _SERIES[labels.series])
    return place if place < len(row.choices) else -1


# "The correct answer is (B)", "Ans: B", "Correct option – B", "**Answer:** B"
_LEAD = re.compile(
    r"^[\s*_#]*(?:(?:the|so|thus|hence|therefore)\b[\s,]*)*(?:(?:correct|right|best|true)\s+)?"
    r"(?:answers?|ans|options?|choices?|key|solution|correct)\b(?:\s+(?:key|choice|option|letter))?"
    r"[\s*_]*(?:(?:is|are)\b|[:.=–—-])*[\s*_:]*"
    r"(?:(?:option|choice|answer|letter)\s+)?",
    re.IGNORECASE,
)
_LABEL = rf"[\s\[({{*_]*({_LETTER}|{_NUMBER}|{_NUMERAL})"
# "B", "(b).", "IV"; not "B. Paris".
_BARE = re.compile(rf"{_LABEL}[\s\])}}.:,;*_]*$")
# "B. Paris", "(b) Paris", "2) Paris"; not "Paris".
_WITH_TEXT = re.compile(rf"{_LABEL}(?:[\])}}][.:]?|[.:]\s|\s[–—-]\s)\s*(\S.*)$", re.DOTALL)


def fold(text: str) -> str:
    """Fold case, white space and a final full stop."""
    return " ".join(text.lower().split()).rstrip(" .")


def _label_and_text(answer: str) -> tuple[str | None, str | None]:
    """Return the label and the text of an answer such as "B. Paris" or "(B)"."""
    if bare := _BARE.match(answer):
        return bare[1], None
    both = _WITH_TEXT.match(answer)
    return both.group(1, 2) if both else (None, None)  # type: ignore[return-value]


def matching_choice(choices: Sequence[str], text: str | None) -> int:
    """Return the position of the only choice that equals a text; −1 if none or several do.

    Case counts only if choices differ in nothing else.
    """
    if text is None:
        return -1
    for form in (str.strip, fold):
        same = [at for at, choice in enumerate(choices) if form(choice) == form(text)]
        if len(same) == 1:
            return same[0]
    return -1


def answer_format(row: Row, _: CleaningParams) -> Row:
    """Write the answer as the label of a choice.

    Accepted are labels in any case and brackets, after "The correct answer is" and similar, with
    the option's text or a remark behind them, and the text of exactly one option. An answer whose
    label and text disagree stays and is rejected later.
    """
    if row.answer is None or row.position >= 0:
        return row
    meant = _meant(row)
    return replace(row, answer=LETTERS[meant]) if meant >= 0 else row


def _meant(row: Row) -> int:
    """Return the index in the alphabet of the label that the answer means, or −1."""
    core = _LEAD.sub("", row.answer or "", count=1)
    named, text = _label_and_text(core)
    letters = [_place(label, LETTERS) for label in row.labels]
    label = _place(named, LETTERS)
    if label in letters and not text:
        return label
    by_text = (matching_choice(row.choices, words) for words in (row.answer, core, text))
    inner = next((letters[at] for at in by_text if at >= 0), -1)
    # The text must not contradict the label.
    return max(inner, label) if min(inner, label) < 0 or inner == label else -1


def answer_within_choices(row: Row, _: CleaningParams) -> Row | str:
    """Reject an answer that is missing or no choice, and choices of which two are equal."""
    if not (row.answer or "").strip():
        return "no answer"
    if row.position < 0:
        return "answer is none of the choices"
    texts = [choice.strip() for choice in row.choices]  # "Bb" is not "BB"
    return row if len({*texts}) == len(texts) else "two choices are equal"
