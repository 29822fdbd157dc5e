"""Rules about the answer: one spelling for all, and that it is one of the choices."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.answer_wording import (
    bare_label,
    label_and_text,
    matching_choice,
    without_lead,
)
from benchwright.methods.mmlu_cf.cleaning.numbering import choice_numbering, roman_numerals
from benchwright.methods.mmlu_cf.cleaning.rows import (
    LETTERS,
    Bools,
    Outcome,
    Rows,
    Text,
    indices,
    truths,
)
from benchwright.params.cleaning import CleaningParams


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
    there = (_index(rows.labels) >= 0) & (rows.slot >= 0)
    named = np.where(alone >= 0, alone, leading)
    named = np.where(_has_label(rows, named, there), named, -1)
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


def _has_label(rows: Rows, wanted: NDArray[np.int64], there: Bools) -> Bools:
    return rows.any(there & (_index(rows.labels) == wanted[rows.parent]))
