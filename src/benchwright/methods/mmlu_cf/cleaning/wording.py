"""Rules about the question as a sentence."""

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.rows import Outcome, Rows, truths
from benchwright.params.cleaning import CleaningParams

_CUT = (
    r"(?i)(?:\[\s*(?:\.\.\.|\x{2026}|more|truncated|continued|cut)\s*\]"
    r"|\((?:\s*more|continued|cont\x{27}?d\.?|truncated)\s*\)"
    r"|(?:read|show|see|view|load)\s+more(?:\s*(?:\.\.\.|\x{2026}|\x{BB}|>+))?"
    r"|continue\s+reading|&hellip;|&#8230;)\s*$"
)
_CUT_WORD = r"\p{L}{2}-\s*$"
_OPEN_END = r"[(\[{\x{201C}\x{AB}]\s*$"
_LATE_START = r"^\s*(?:[,;!?)\]}\x{201D}\x{BB}]|:\s)"
_LOWER = r"^[\s\x{22}\x{27}\x{2018}\x{201C}\x{AB}(\[]*\p{Ll}"
# "x", "pH", "mRNA", "p53", "f(x)", "para-xylene", "k-means": lower case belongs to the word.
_LOWER_WORD = (
    r"^[\s\x{22}\x{27}\x{2018}\x{201C}\x{AB}(\[]*"
    r"(?:[b-z](?:[^\p{L}\x{27}\x{2018}\x{2019}]|$)|a\s*[=<>+*/^()\[\x{2212}]|\p{Ll}+[\p{Lu}0-9_^]"
    r"|(?:para|ortho|meta|cis|trans|tert|sec|iso|[a-z])-\p{L})"
)


def short_question(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects a question of fewer than 10 characters (`question_characters`)."""
    least = params.question_characters
    length = pc.utf8_length(pc.utf8_trim_whitespace(rows.question))
    return Outcome(rows, ((truths(pc.less(length, least)), f"fewer than {least} characters"),))


def question_complete(rows: Rows, _: CleaningParams) -> Outcome:
    """Rejects a question that was cut off.

    A question counts as cut off that ends with a mark of truncation ("[...]", "read more"), with
    half a word ("elec-") or an opening bracket or quotation mark, that begins with punctuation
    which closes something, or that opens more brackets than it closes. Stems that the choices
    complete ("The capital of France is", "According to Kant,", "…", " -") are complete, and so are
    half-open intervals and lists such as "1) … 2) …".
    """
    question = rows.question
    opened = pc.count_substring_regex(question, r"[(\[{]")
    closed = pc.count_substring_regex(question, r"[)\]}]")
    return Outcome(
        rows,
        (
            (truths(pc.match_substring_regex(question, _CUT)), "mark of truncation"),
            (truths(pc.match_substring_regex(question, _CUT_WORD)), "ends with half a word"),
            (truths(pc.match_substring_regex(question, _OPEN_END)), "ends with an opening"),
            (truths(pc.match_substring_regex(question, _LATE_START)), "starts in the middle"),
            (truths(pc.greater(opened, closed)), "bracket that is not closed"),
        ),
    )


def lower_case_start(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects a question whose first letter is lower-case.

    Spared are words that are written so ("pH", "mRNA", "x"), unless `strict_lower_case`. A question
    that starts with a digit, a blank or a symbol passes.
    """
    lower = truths(pc.match_substring_regex(rows.question, _LOWER))
    if not params.strict_lower_case and lower.any():
        some = rows.question.filter(pa.array(lower))
        lower[lower] = ~truths(pc.match_substring_regex(some, _LOWER_WORD))
    return Outcome(rows, ((lower, "lower-case first letter"),))
