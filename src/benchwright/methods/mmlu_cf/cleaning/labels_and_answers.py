"""Rules about labels, numbering and answers: one spelling for all."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.rows import (
    LETTERS,
    ROMAN,
    Bools,
    Outcome,
    Rows,
    Text,
    indices,
    truths,
    written_over,
)
from benchwright.params.mmlu_cf import CleaningParams

# After the numbering must come what starts a sentence, so that amounts and lists stay:
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
    """Takes away the number before a question: "12. ", "Q3) ", "Question 5:", "(a) "."""
    rest = pc.struct_field(pc.extract_regex(rows.question, _PARTS), "rest")
    return Outcome(rows.rewritten(question=pc.coalesce(rest, rows.question)))


def choice_numbering(rows: Rows, _: CleaningParams) -> Outcome:
    """Takes away letters or numbers before the choices, where all have them, in order.

    One "1. " alone, or "1. 5 kg" among other amounts, is no numbering.
    """
    choices = _stripped(rows, rows.choices, "[A-Za-z]", rows.letters)
    number = pa.array([str(slot + 1) for slot in range(30)], pa.large_string())
    numbers = number.take(pa.array(np.minimum(rows.slot, 29)))
    return Outcome(rows.rewritten(choices=_stripped(rows, choices, "[0-9]{1,2}", numbers)))


def roman_numerals(rows: Rows, _: CleaningParams) -> Outcome:
    """Takes away Roman numerals before the choices, where all have them, in order.

    Choices that name statements of the question by them ("I and III only") stay. Numerals that are
    the labels themselves were mapped by the rule `labels`.
    """
    numerals = pa.array([*ROMAN, ""], pa.large_string()).take(pa.array(np.minimum(rows.slot, 26)))
    return Outcome(rows.rewritten(choices=_stripped(rows, rows.choices, "[IVXivx]{1,6}", numerals)))


def _stripped(rows: Rows, choices: Text, label: str, expected: Text) -> Text:
    pattern = _CHOICE.replace("LABEL", label)
    # Few rows have any: the first choice tells.
    first = rows.offsets[:-1][rows.counts > 0]
    hopeful = np.zeros(len(rows), np.bool_)
    hopeful[rows.counts > 0] = truths(
        pc.match_substring_regex(choices.take(pa.array(first)), pattern)
    )
    if not hopeful.any():
        return choices
    flat = hopeful[rows.parent]
    parts = pc.extract_regex(choices.filter(pa.array(flat)), pattern)
    fits = np.zeros(len(flat), np.bool_)
    fits[flat] = truths(
        pc.equal(pc.utf8_upper(pc.struct_field(parts, "label")), expected.filter(pa.array(flat)))
    )
    numbered = (rows.all(fits) & hopeful)[rows.parent]
    kept = pc.struct_field(parts, "rest").filter(pa.array(numbered[flat]))
    return written_over(choices, numbered, kept)


_SERIES = {"letters": LETTERS, "numbers": tuple(map(str, range(1, 27))), "roman": ROMAN}
_NO_LETTER = r"^[\s\[({*]*([A-Za-z0-9]+)[\s\])}.:*]*$"


class Places(NamedTuple):
    """Where the labels of `n` rows with `m` choices say that their choices stand.

    Attributes:
        place: position from 0 by each label, −1 where it is in no series, shape (m,).
        series: of each row: "none", "letters", "numbers", "roman" or "", shape (n,).
    """

    place: NDArray[np.int64]
    series: NDArray[np.str_]


def places(rows: Rows) -> Places:
    """The series of each row's labels (letters are preferred where two fit)."""
    place = np.where(truths(pc.equal(rows.labels, rows.letters)), rows.slot, -1)
    series = np.where(rows.all(place >= 0), "letters", "").astype("<U7")
    if (series != "").all():
        return Places(place, series)
    rest = series[rows.parent] == ""
    some = rows.labels.filter(pa.array(rest))
    bare = pc.utf8_upper(pc.replace_substring_regex(some, _NO_LETTER, r"\1"))
    without = rows.all(~rest | truths(pc.equal(rows.labels, ""))) & (series == "")
    for name, alphabet in _SERIES.items():
        found = np.full(len(rest), -1)
        found[rest] = pc.fill_null(
            pc.index_in(bare, pa.array(alphabet, pa.large_string())), -1
        ).to_numpy(zero_copy_only=False)
        # k powers of two sum to 2^k − 1 only if they are all different.
        power = np.where(found >= 0, 1 << np.maximum(found, 0), 1 << 40)
        fits = (rows.sums(power) == (1 << rows.counts) - 1) & (series == "")
        series[fits] = name
        place = np.where(fits[rows.parent], found, place)
    series[without] = "none"
    return Places(np.where(without[rows.parent], rows.slot, place), series)


def label_set(rows: Rows, _: CleaningParams) -> Outcome:
    """Rejects labels that are not A–D (or A to the number of choices) and cannot be mapped to them.

    Mapped are lower-case letters, numbers and Roman numerals from one, and no labels at all. An
    answer that names one choice by such a number and another by its text is ambiguous.
    """
    found = places(rows)
    unknown = found.series == ""
    misfit = rows.any(truths(pc.equal(rows.labels, "?"))) & unknown
    numbered = (found.series == "numbers") | (found.series == "roman")
    ambiguous = np.zeros(len(rows), np.bool_)
    if numbered.any():
        by_label, by_text = _by_label(rows, found), matching_choice(rows, rows.answer)
        ambiguous = numbered & (by_label >= 0) & (by_text >= 0)
        ambiguous &= _text_place(rows, found, by_text) != by_label
    return Outcome(
        rows,
        (
            (misfit, "labels and choices differ in number"),
            (unknown & ~misfit, "labels are not A, B, C, …"),
            (ambiguous, "answer is a label and the text of another choice"),
        ),
    )


def labels(rows: Rows, _: CleaningParams) -> Outcome:
    """Writes labels as upper-case letters and the answer, if it names a label, likewise."""
    found = places(rows)
    known = found.series != ""
    new = pa.array([*LETTERS, ""], pa.large_string()).take(pa.array(found.place))
    labelled = pc.if_else(pa.array(known[rows.parent]), new, rows.labels)
    numbered = (found.series == "numbers") | (found.series == "roman")
    answer = rows.answer
    if numbered.any():
        place = np.where(numbered, _by_label(rows, found), -1)
        answer = written_over(answer, place >= 0, _letters(place[place >= 0]))
    return Outcome(rows.rewritten(labels=labelled, answer=answer))


def choice_order(rows: Rows, _: CleaningParams) -> Outcome:
    """Puts the choices in the order of their labels."""
    found = places(rows)
    order = np.lexsort((found.place, rows.parent))
    disordered = (found.series != "") & rows.any(order != np.arange(len(order)))
    if not disordered.any():
        return Outcome(rows)
    order = np.where(disordered[rows.parent], order, np.arange(len(order)))
    new = pa.array(order)
    return Outcome(rows.rewritten(choices=rows.choices.take(new), labels=rows.labels.take(new)))


def _letters(place: NDArray[np.int64]) -> Text:
    return pa.array(LETTERS, pa.large_string()).take(pa.array(place))


def _text_place(rows: Rows, found: Places, slot: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place by its label of the choice at a position of each row; −1 where there is none."""
    there: Bools = slot >= 0
    result = np.full(len(rows), -1)
    result[there] = found.place[rows.offsets[:-1][there] + slot[there]]
    return result


def _by_label(rows: Rows, found: Places) -> NDArray[np.int64]:
    """Place of the label that the answer names, −1 where it names none of the row's series."""
    token = pc.utf8_upper(named_label(without_lead(rows.answer)))
    result = np.full(len(rows), -1)
    for name in ("numbers", "roman"):
        at = pc.fill_null(pc.index_in(token, pa.array(_SERIES[name], pa.large_string())), -1)
        value = at.to_numpy(zero_copy_only=False)
        result = np.where((found.series == name) & (value < rows.counts), value, result)
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
    """The texts without differences of case, white space and a full stop at the end."""
    low = pc.utf8_lower(texts)
    odd = truths(pc.match_substring_regex(low, r"^\s|\s\s|[\t\n\r]|[\s.]$"))
    if not odd.any():
        return low
    some = low.filter(pa.array(odd))
    some = pc.replace_substring_regex(some, r"\s+", " ")
    some = pc.replace_substring_regex(some, r"^ +|[ .]+$", "")
    return pc.replace_with_mask(low, pa.array(odd), some)


def without_lead(answers: Text) -> Text:
    """The answers without "The answer is", "Ans:" and the like."""
    return pc.replace_substring_regex(answers, _LEAD, "", max_replacements=1)


def named_label(answers: Text) -> Text:
    """The label that each answer starts with or consists of, null where it does not."""
    bare = pc.struct_field(pc.extract_regex(answers, _BARE), "label")
    return pc.coalesce(bare, pc.struct_field(pc.extract_regex(answers, _WITH_TEXT), "label"))


def bare_label(answers: Text) -> Text:
    """The label that each answer consists of, null where it does not."""
    return pc.struct_field(pc.extract_regex(answers, _BARE), "label")


def label_and_text(answers: Text) -> tuple[Text, Text]:
    """Label and text of answers such as "B. Paris", null elsewhere."""
    both = pc.extract_regex(answers, _WITH_TEXT)
    return pc.struct_field(both, "label"), pc.struct_field(both, "text")


def matching_choice(rows: Rows, texts: Text) -> NDArray[np.int64]:
    """Position of the only choice that says the same as the text of its row.

    Shape (n,); −1 where no choice does or several do. Case counts where choices differ by it alone.
    """
    position = np.full(len(rows), -1)
    for form in (pc.utf8_trim_whitespace, folded):
        wanted = form(texts).take(pa.array(rows.parent))
        same = truths(pc.equal(form(rows.choices), wanted))
        once = (rows.sums(same) == 1) & (position < 0)
        position = np.where(once, rows.sums(np.where(same, rows.slot, 0)), position)
    return position


def answer_positions(rows: Rows) -> NDArray[np.int64]:
    """Position of the choice whose label is the answer; −1 where there is none, shape (n,)."""
    wanted = rows.answer.take(pa.array(rows.parent))
    same = truths(pc.equal(rows.labels, wanted))
    once = rows.sums(same) == 1
    return np.where(once, rows.sums(np.where(same, rows.slot, 0)), -1)


def answer_format(rows: Rows, params: CleaningParams) -> Outcome:
    """Writes the answer as the label of a choice.

    Read are labels in any case and brackets ("b", "(B)", "B."), after "The correct answer is" and
    its like, with the text of the option or a remark behind ("B. Paris"), and the text of exactly
    one option. An answer whose label and text disagree stays, and is rejected later.
    """
    odd = answer_positions(rows) < 0
    odd &= truths(pc.is_valid(rows.answer))
    if not odd.any():
        return Outcome(rows)
    some = rows.where(odd)
    label = pa.array(LETTERS, pa.large_string()).take(indices(_meant(some, params)))
    new = pc.coalesce(label, some.answer)
    return Outcome(rows.rewritten(answer=pc.replace_with_mask(rows.answer, pa.array(odd), new)))


def _meant(rows: Rows, params: CleaningParams) -> NDArray[np.int64]:
    """Index in the alphabet of the label that each answer means, or −1."""
    core = without_lead(rows.answer)
    behind, text = label_and_text(core)
    whole = _labelled(rows, matching_choice(rows, rows.answer))
    by_text = np.full(len(rows), -1)
    # An option's text may stand without the numbering that it has among the choices.
    plain = roman_numerals(choice_numbering(rows, params).rows, params).rows
    for form in (rows, plain):
        for candidate in (rows.answer, core, text):
            by_text = np.where(by_text < 0, matching_choice(form, candidate), by_text)
    inner = _labelled(rows, by_text)
    alone, leading = _index(bare_label(core)), _index(behind)
    there, named = _index(rows.labels), np.where(alone >= 0, alone, leading)
    named = np.where(rows.any((there >= 0) & (there == named[rows.parent])), named, -1)
    # A label by itself is a label; otherwise the text decides, and must not contradict a label.
    agreed = np.where((inner >= 0) & (named >= 0) & (inner != named), -1, np.maximum(inner, named))
    return np.where((alone >= 0) & (named >= 0), named, np.where(whole >= 0, whole, agreed))


def answer_within_choices(rows: Rows, _: CleaningParams) -> Outcome:
    """Rejects an answer that is missing, is no choice, or is two choices with the same text."""
    missing: Bools = ~truths(pc.match_substring_regex(rows.answer, r"\S"))
    position = answer_positions(rows)
    at = np.where(position >= 0, rows.offsets[:-1] + position, -1)
    text = pc.utf8_trim_whitespace(rows.choices)  # "Bb" is not "BB"
    wanted = text.take(indices(at))
    same = truths(pc.equal(text, wanted.take(pa.array(rows.parent))))
    return Outcome(
        rows,
        (
            (missing, "no answer"),
            (position < 0, "answer is none of the choices"),
            (rows.sums(same) > 1, "answer stands among the choices twice"),
        ),
    )


def _index(labels: Text) -> NDArray[np.int64]:
    at = pc.index_in(pc.utf8_upper(labels), pa.array(LETTERS, pa.large_string()))
    found: NDArray[np.int64] = pc.fill_null(at, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _labelled(rows: Rows, position: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index in the alphabet of the label at a position of each row, or −1."""
    found = np.full(len(rows), -1)
    there = position >= 0
    found[there] = _index(rows.labels)[rows.offsets[:-1][there] + position[there]]
    return found
