"""Rules that give labels, numbering and answers one spelling."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import (
    LETTERS,
    ROMAN,
    Bools,
    Ints,
    Outcome,
    Rows,
    Text,
    indices,
    matches,
    named,
    places_in,
    truths,
    written_over,
)
from benchwright.params.mmlu_cf import CleaningParams

# The start of a sentence must follow the numbering, so that amounts and lists stay:
# "1.5 kg of", "2 + 2", "(a) is true if (b) is".
_START = r"(?:[\p{Lu}_$]|[\x{22}\x{27}\x{2018}\x{201C}\x{AB}\x{BF}]\p{L}|\(\p{Lu}[\p{Ll} ])"
_QUESTION = (
    r"^\s*(?:"
    r"(?:\(?[0-9]{1,3}[.):\]]|\[[0-9]{1,3}\])\s+"
    r"|\([a-hA-H]\)\s+"
    r"|#\s?[0-9]{1,4}[.):]?\s+"
    r"|(?:[Qq](?:ue)?s?|QUES|[Qq]uestion|QUESTION|[Nn]o|[Nn]r|[Pp]roblem|[Ii]tem|MCQ)\b\.?\s*"
    r"(?:[Nn]o\.?\s*)?#?\s?[0-9]{1,4}(?:\s+of\s+[0-9]{1,4})?\s*[.):\x{2013}\x{2014}-]+\s*"
    r"|[Qq][0-9]{1,4}\s*(?:[.):\x{2013}\x{2014}-]+\s*|\s)"
    r"|(?:[Qq]|[Qq]uestion|QUESTION)\s*[:.]\s+"
    r")+"
)
_PARTS = rf"(?s){_QUESTION}(?P<rest>{_START}.*)$"
_CHOICE = (
    r"(?s)^\s*[\[({]?(?P<label>LABEL)"
    r"(?:[\])}][.:]?\s*|[.:]\s+)(?P<rest>\S.*)$"
)


def question_numbering(rows: Rows, _: CleaningParams) -> Outcome:
    """Remove the number before a question: "12. ", "Q3) ", "Question 5:", "(a) "."""
    rest = pc.struct_field(pc.extract_regex(rows.question, _PARTS), "rest")
    return Outcome(replace(rows, question=pc.coalesce(rest, rows.question)))


def choice_numbering(rows: Rows, _: CleaningParams) -> Outcome:
    """Remove letters or numbers before the choices if all choices have them, in order.

    A single "1. ", or "1. 5 kg" among other amounts, is no numbering.
    """
    choices = _stripped(rows, rows.choices, "[A-Za-z]", LETTERS)
    return Outcome(
        replace(rows, choices=_stripped(rows, choices, "[0-9]{1,2}", [*map(str, range(1, 31))]))
    )


def roman_numerals(rows: Rows, _: CleaningParams) -> Outcome:
    """Remove Roman numerals before the choices if all choices have them, in order.

    Choices that refer to statements of the question by numeral ("I and III only") stay. The rule
    `labels` handles numerals that are labels.
    """
    return Outcome(replace(rows, choices=_stripped(rows, rows.choices, "[IVXivx]{1,6}", ROMAN)))


def _stripped(rows: Rows, choices: Text, label: str, series: Sequence[str]) -> Text:
    pattern = _CHOICE.replace("LABEL", label)
    # Few rows have numbering: the first choice of a row must match.
    some = rows.counts > 0
    hopeful = np.zeros(len(rows), np.bool_)
    hopeful[some] = matches(choices.take(pa.array(rows.offsets[:-1][some])), pattern)
    if not hopeful.any():
        return choices
    flat = hopeful[rows.parent]
    parts = pc.extract_regex(choices.filter(pa.array(flat)), pattern)
    expected = rows.expected(series).filter(pa.array(flat))
    fits = np.zeros(len(flat), np.bool_)
    fits[flat] = truths(pc.equal(pc.utf8_upper(pc.struct_field(parts, "label")), expected))
    numbered = (rows.all(fits) & hopeful)[rows.parent]
    kept = pc.struct_field(parts, "rest").filter(pa.array(numbered[flat]))
    return written_over(choices, numbered, kept)


_SERIES = {"letters": LETTERS, "numbers": tuple(map(str, range(1, 27))), "roman": ROMAN}
_NO_LETTER = r"^[\s\[({*]*([A-Za-z0-9]+)[\s\])}.:*]*$"


class Places(NamedTuple):
    """The positions that labels give to the choices of `n` rows with `m` choices."""

    place: Ints  # position from 0 by each label, −1 if it is in no series, shape (m,)
    series: NDArray[np.str_]  # of each row: "none", "letters", "numbers", "roman" or "", shape (n,)

    @property
    def numbered(self) -> Bools:
        """Whether the labels of each row are numbers or Roman numerals, shape (n,)."""
        return (self.series == "numbers") | (self.series == "roman")


def places(rows: Rows) -> Places:
    """Return the series of each row's labels; letters take precedence."""
    in_order = truths(pc.equal(rows.labels, rows.expected(LETTERS)))
    place = np.where(in_order, rows.slot, -1)
    series = np.where(rows.all(place >= 0), "letters", "").astype("<U7")
    if (series != "").all():
        return Places(place, series)
    rest = series[rows.parent] == ""
    some = rows.labels.filter(pa.array(rest))
    bare = pc.utf8_upper(pc.replace_substring_regex(some, _NO_LETTER, r"\1"))
    without = rows.all(~rest | truths(pc.equal(rows.labels, ""))) & (series == "")
    for name, alphabet in _SERIES.items():
        candidate = np.full(len(rest), -1)
        candidate[rest] = places_in(bare, alphabet)
        # k powers of two sum to 2^k − 1 only if they are all different.
        power = np.where(candidate >= 0, 1 << np.maximum(candidate, 0), 1 << 40)
        fits = (rows.sums(power) == (1 << rows.counts) - 1) & (series == "")
        series[fits] = name
        place = np.where(fits[rows.parent], candidate, place)
    series[without] = "none"
    return Places(np.where(without[rows.parent], rows.slot, place), series)


def label_set(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject labels that are not A–D (or A to the number of choices) and cannot be mapped to them.

    Lower-case letters, numbers and Roman numerals from one are mapped, and so are missing labels.
    An answer that names one choice by number and another by its text is ambiguous.
    """
    labelled = places(rows)
    unknown = labelled.series == ""
    misfit = rows.any(truths(pc.equal(rows.labels, "?"))) & unknown
    ambiguous = labelled.numbered
    if ambiguous.any():
        by_label, by_text = _by_label(rows, labelled), matching_choice(rows, rows.answer)
        ambiguous &= (by_label >= 0) & (by_text >= 0)
        ambiguous &= _at_slot(rows, labelled.place, by_text) != by_label
    return Outcome(
        rows,
        (
            (misfit, "labels and choices differ in number"),
            (unknown & ~misfit, "labels are not A, B, C, …"),
            (ambiguous, "answer is a label and the text of another choice"),
        ),
    )


def labels(rows: Rows, _: CleaningParams) -> Outcome:
    """Write labels, and answers that name a label, as upper-case letters."""
    labelled = places(rows)
    known = pa.array((labelled.series != "")[rows.parent])
    new = pc.if_else(known, named((*LETTERS, ""), labelled.place), rows.labels)
    answer = rows.answer
    if labelled.numbered.any():
        place = np.where(labelled.numbered, _by_label(rows, labelled), -1)
        answer = written_over(answer, place >= 0, named(LETTERS, place[place >= 0]))
    return Outcome(replace(rows, labels=new, answer=answer))


def choice_order(rows: Rows, _: CleaningParams) -> Outcome:
    """Sort the choices by their labels."""
    labelled = places(rows)
    order, current = np.lexsort((labelled.place, rows.parent)), np.arange(len(rows.parent))
    disordered = (labelled.series != "") & rows.any(order != current)
    if not disordered.any():
        return Outcome(rows)
    new = pa.array(np.where(disordered[rows.parent], order, current))
    return Outcome(replace(rows, choices=rows.choices.take(new), labels=rows.labels.take(new)))


def _at_slot(rows: Rows, values: Ints, slot: Ints) -> Ints:
    """Return the value (m,) of the choice at a position of each row; −1 at negative positions."""
    there: Bools = slot >= 0
    result = np.full(len(rows), -1)
    result[there] = values[rows.offsets[:-1][there] + slot[there]]
    return result


def _by_label(rows: Rows, labelled: Places) -> Ints:
    """Return the position of the label that the answer names; −1 if it is not in the series."""
    bare, leading, _ = _label_and_text(without_lead(rows.answer))
    label = pc.utf8_upper(pc.coalesce(bare, leading))
    result = np.full(len(rows), -1)
    for name in ("numbers", "roman"):
        place = places_in(label, _SERIES[name])
        result = np.where((labelled.series == name) & (place < rows.counts), place, result)
    return result


# "The correct answer is (B)", "Ans: B", "Correct option – B", "**Answer:** B"
_LEAD = (
    r"(?i)^[\s*_#]*(?:(?:the|so|thus|hence|therefore)\b[\s,]*)*(?:(?:correct|right|best|true)\s+)?"
    r"(?:answers?|ans|options?|choices?|key|solution|correct)\b(?:\s+(?:key|choice|option|letter))?"
    r"[\s*_]*(?:(?:is|are)\b|[:.=\x{2013}\x{2014}-])*[\s*_:]*"
    r"(?:(?:option|choice|answer|letter)\s+)?"
)
_BARE = r"^[\s\[({*_]*(?P<label>[A-Za-z]|[0-9]{1,2}|[IVXivx]{1,6})[\s\])}.:,;*_]*$"
_WITH_TEXT = (
    r"(?s)^[\s\[({*_]*(?P<label>[A-Za-z]|[0-9]{1,2}|[IVXivx]{1,6})"
    r"(?:[\])}][.:]?|[.:](?:\s)|\s[\x{2013}\x{2014}-]\s)\s*(?P<text>\S.*)$"
)


def folded(texts: Text) -> Text:
    """Fold case, white space and a final full stop."""
    low = pc.utf8_lower(texts)
    odd = matches(low, r"^\s|\s\s|[\t\n\r]|[\s.]$")
    some = low.filter(pa.array(odd))
    some = pc.replace_substring_regex(some, r"\s+", " ")
    return written_over(low, odd, pc.replace_substring_regex(some, r"^ +|[ .]+$", ""))


def without_lead(answers: Text) -> Text:
    """Remove "The answer is", "Ans:" and similar from the answers."""
    return pc.replace_substring_regex(answers, _LEAD, "", max_replacements=1)


def _label_and_text(answers: Text) -> tuple[Text, Text, Text]:
    """Return bare labels, and label and text of answers such as "B. Paris"; null elsewhere."""
    both = pc.extract_regex(answers, _WITH_TEXT)
    return (
        pc.struct_field(pc.extract_regex(answers, _BARE), "label"),
        pc.struct_field(both, "label"),
        pc.struct_field(both, "text"),
    )


def matching_choice(rows: Rows, texts: Text) -> Ints:
    """Return the position of the only choice equal to the text of its row, shape (n,).

    It is −1 if no choice or several choices are equal. Case counts only if choices differ in
    nothing else.
    """
    position = np.full(len(rows), -1)
    for form in (pc.utf8_trim_whitespace, folded):
        only = _only_equal(rows, form(rows.choices), form(texts))
        position = np.where(position < 0, only, position)
    return position


def answer_positions(rows: Rows) -> Ints:
    """Return the position of the choice whose label is the answer, shape (n,); −1 if none is."""
    return _only_equal(rows, rows.labels, rows.answer)


def _only_equal(rows: Rows, values: Text, wanted: Text) -> Ints:
    same = truths(pc.equal(values, wanted.take(pa.array(rows.parent))))
    return np.where(rows.sums(same) == 1, rows.sums(np.where(same, rows.slot, 0)), -1)


def answer_format(rows: Rows, params: CleaningParams) -> Outcome:
    """Write the answer as the label of a choice.

    Accepted are labels in any case and brackets ("b", "(B)", "B."), after "The correct answer is"
    and similar, followed by the text of the option or a remark ("B. Paris"), and the text of
    exactly one option. An answer whose label and text disagree stays and is rejected later.
    """
    odd = (answer_positions(rows) < 0) & truths(pc.is_valid(rows.answer))
    if not odd.any():
        return Outcome(rows)
    some = rows.where(odd)
    new = pc.coalesce(named(LETTERS, _meant(some, params)), some.answer)
    return Outcome(replace(rows, answer=written_over(rows.answer, odd, new)))


def _meant(rows: Rows, params: CleaningParams) -> Ints:
    """Return the index in the alphabet of the label that each answer means, or −1."""
    core = without_lead(rows.answer)
    bare, leading, text = _label_and_text(core)
    letters = _index(rows.labels)
    whole = _at_slot(rows, letters, matching_choice(rows, rows.answer))
    by_text = np.full(len(rows), -1)
    # The answer may repeat an option without its numbering.
    plain = roman_numerals(choice_numbering(rows, params).rows, params).rows
    for form in (rows, plain):
        for candidate in (rows.answer, core, text):
            by_text = np.where(by_text < 0, matching_choice(form, candidate), by_text)
    inner = _at_slot(rows, letters, by_text)
    alone = _index(bare)
    label = np.where(alone >= 0, alone, _index(leading))
    label = np.where(rows.any((letters >= 0) & (letters == label[rows.parent])), label, -1)
    # A label by itself is a label; otherwise the text decides and must not contradict a label.
    agreed = np.where((inner >= 0) & (label >= 0) & (inner != label), -1, np.maximum(inner, label))
    return np.where((alone >= 0) & (label >= 0), label, np.where(whole >= 0, whole, agreed))


def answer_within_choices(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject an answer that is missing, that is no choice, or whose text two choices share."""
    position = answer_positions(rows)
    place = np.where(position >= 0, rows.offsets[:-1] + position, -1)
    text = pc.utf8_trim_whitespace(rows.choices)  # "Bb" is not "BB"
    same = truths(pc.equal(text, text.take(indices(place)).take(pa.array(rows.parent))))
    return Outcome(
        rows,
        (
            (~matches(rows.answer, r"\S"), "no answer"),
            (position < 0, "answer is none of the choices"),
            (rows.sums(same) > 1, "two choices have the text of the answer"),
        ),
    )


def _index(labels: Text) -> Ints:
    return places_in(pc.utf8_upper(labels), LETTERS)
