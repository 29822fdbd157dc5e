"""Rules that take away numbering: before the question, before the choices."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.rows import (
    ROMAN,
    Outcome,
    Rows,
    Text,
    truths,
    written_over,
)
from benchwright.params.cleaning import CleaningParams

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
