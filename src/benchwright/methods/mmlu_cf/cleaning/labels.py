"""Rules about the labels of the choices: which they are, upper case, order.

A row's labels are a series: letters, numbers or Roman numerals from the first to the last, in any
order and case, with or without brackets; or there are none, and the choices stand in order.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.answer_wording import (
    matching_choice,
    named_label,
    without_lead,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    LETTERS,
    ROMAN,
    Bools,
    Outcome,
    Rows,
    Text,
    truths,
    written_over,
)
from benchwright.params.cleaning import CleaningParams

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
