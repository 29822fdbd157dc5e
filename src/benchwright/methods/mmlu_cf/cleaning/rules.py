"""The cleaning rules in the order in which they run (MMLU-CF, section 3.2, step 2)."""

from collections.abc import Callable
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import (
    answer_format,
    answer_within_choices,
    choice_numbering,
    choice_order,
    label_set,
    labels,
    question_numbering,
    roman_numerals,
)
from benchwright.methods.mmlu_cf.cleaning.rows import Bools, Outcome, Rows, Text, truths
from benchwright.params.mmlu_cf import CleaningParams, RuleName

# Control characters, the mark of bytes that were not UTF-8, private use, and what UTF-8 looks like
# when read as Latin-1 or Windows-1252.
_UNREADABLE = (
    "[\\x{00}-\\x{08}\\x{0B}\\x{0C}\\x{0E}-\\x{1F}\\x{7F}-\\x{9F}\\x{FFFD}\\x{E000}-\\x{F8FF}]"
    "|[\u00c3\u00c2][\\x{A0}-\\x{BF}]|\u00e2\u20ac|\u00ef\u00bb\u00bf"
)
_LONG_WORD = "[A-Za-z]{100}"


def too_long(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects what no question is as long as; it bounds the cost of all other rules.

    Not in the paper. `limits` gives the numbers, in characters.
    """
    limits = params.limits
    reasons = [
        (
            truths(pc.greater(pc.utf8_length(texts), most)),
            f"{name} of more than {most:,} characters",
        )
        for name, texts, most in (
            ("question", rows.question, limits.question),
            ("passage", rows.passage, limits.passage),
            ("explanation", rows.explanation, limits.explanation),
            ("answer", rows.answer, limits.answer),
        )
    ]
    long_choice = truths(pc.greater(pc.utf8_length(rows.choices), limits.choice))
    reasons.append((rows.any(long_choice), f"choice of more than {limits.choice:,} characters"))
    reasons.append((rows.counts > limits.choices, f"more than {limits.choices} choices"))
    return Outcome(rows, tuple(reasons))


def unreadable(rows: Rows, _: CleaningParams) -> Outcome:
    """Rejects text that was decoded wrongly, holds control characters, or is one endless word.

    Not in the paper: NUL and other control characters, U+FFFD, private-use characters, UTF-8 read
    as a one-byte encoding ("caf\u00c3\u00a9"), a word of 100 letters.
    """
    reasons = []
    for name, texts in (("question", rows.question), ("passage", rows.passage)):
        reasons.append((_matches(texts, _UNREADABLE), f"undecodable character in the {name}"))
    reasons.append(
        (rows.any(_matches(rows.choices, _UNREADABLE)), "undecodable character in a choice")
    )
    reasons.append((_matches(rows.question, _LONG_WORD), "a word of 100 letters"))
    reasons.append((rows.any(_matches(rows.choices, _LONG_WORD)), "a word of 100 letters"))
    return Outcome(rows, tuple(reasons))


def n_choices(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects another number of choices than four, or than those of `n_choices`."""
    wrong = ~pc.is_in(pa.array(rows.counts), pa.array(params.n_choices, pa.int64())).to_numpy(
        zero_copy_only=False
    )
    return Outcome(
        rows,
        tuple((wrong & (rows.counts == n), f"{n} choices") for n in sorted({*rows.counts[wrong]})),
    )


def empty_choices(rows: Rows, _: CleaningParams) -> Outcome:
    """Rejects a choice without content: white space or nothing."""
    return Outcome(
        rows, ((rows.any(~truths(pc.match_substring_regex(rows.choices, r"\S"))), "empty choice"),)
    )


def _matches(texts: pa.Array, pattern: str) -> pa.Array:
    return truths(pc.match_substring_regex(texts, pattern))


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


# Words that are common in English and are not words of other languages in Latin script.
_ENGLISH = (
    r"(?i)\b(?:the|which|what|with|that|from|this|following|would|does|when|where|their|and|"
    r"these|there|because|should|between|they|his|who|how|why|you)\b"
)
_LETTERS_PER_ENGLISH_WORD = 90
# Greek letters pass as symbols; three in a row make a Greek word.
_FOREIGN = r"[^\P{L}\p{Latin}\p{Greek}\p{Common}]|\p{Greek}{3,}"


def non_english(rows: Rows, params: CleaningParams) -> Outcome:
    """Rejects questions in another script or language.

    By script: more than a fifth (`language.foreign_letters`) of the letters of question and
    choices are of another script than Latin; single Greek letters, symbols, units and diacritics
    pass. By language: a question of at least 25 letters (`language.letters`) with hardly an English
    function word, for which the identifier (py3langid: multinomial naive Bayes over byte n-grams,
    97 languages, its model packaged with it) gives another language a probability of at least 0.9
    (`language.probability`); or one of any length that opens with an inverted mark, as Spanish
    does, and has no English function word. Thin evidence does not reject.
    """
    script = _other_script(rows, params.language.foreign_letters)
    return Outcome(
        rows,
        (
            (script, "letters of another script"),
            (_other_language(rows, script, params), "another language"),
        ),
    )


def _other_script(rows: Rows, most: float) -> Bools:
    result = np.zeros(len(rows), np.bool_)
    strange = truths(pc.match_substring_regex(rows.question, _FOREIGN))
    strange |= rows.any(truths(pc.match_substring_regex(rows.choices, _FOREIGN)))
    if not strange.any():
        return result
    some = rows.where(strange)
    letters, foreign = (
        _count(some.question, pattern) + some.sums(_count(some.choices, pattern))
        for pattern in (r"\p{L}", r"[^\P{L}\p{Latin}\p{Common}]")
    )
    result[strange] = foreign > most * letters
    return result


def _other_language(rows: Rows, known: Bools, params: CleaningParams) -> Bools:
    language = params.language
    length = pc.utf8_length(rows.question).to_numpy(zero_copy_only=False)
    english = _count(rows.question, _ENGLISH)
    inverted = truths(pc.match_substring_regex(rows.question, r"^\W*[¿¡]")) & (english == 0)
    unsure = ~known & ~inverted & (length >= language.letters)
    unsure &= english * _LETTERS_PER_ENGLISH_WORD < length
    if unsure.any():
        some = rows.question.filter(pa.array(unsure))
        # Thousands of signs that are not letters say nothing about a language.
        words = pc.replace_substring_regex(some, r"\$[^$]*\$|\\[A-Za-z]+|[^\p{L}\x{27}]+", " ")
        enough = _count(words, r"\p{L}") >= language.letters
        unsure[unsure] = enough
        texts = words.filter(pa.array(enough)).to_pylist()
        unsure[unsure] = [
            name != "en" and probability >= language.probability
            for name, probability in map(_identifier().classify, texts)
        ]
    return unsure | (inverted & ~known)


def _count(texts: Text, pattern: str) -> Any:
    return pc.count_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class Rule(NamedTuple):
    """A rule that looks at one row at a time.

    Attributes:
        name: as in `CleaningParams.off` and in the tables.
        kind: whether it rewrites rows or rejects them; no rule does both.
        apply: from n rows and the parameters to an outcome for the same n rows.
    """

    name: RuleName
    kind: Literal["rewrite", "reject"]
    apply: Callable[[Rows, CleaningParams], Outcome]


ROW_RULES = (
    # These two are not in the paper: they guard the rules behind them.
    Rule("too_long", "reject", too_long),
    Rule("unreadable", "reject", unreadable),
    Rule("n_choices", "reject", n_choices),
    Rule("empty_choices", "reject", empty_choices),
    Rule("label_set", "reject", label_set),
    Rule("labels", "rewrite", labels),
    Rule("short_question", "reject", short_question),
    Rule("answer_format", "rewrite", answer_format),
    Rule("question_numbering", "rewrite", question_numbering),
    Rule("choice_numbering", "rewrite", choice_numbering),
    Rule("choice_order", "rewrite", choice_order),
    Rule("question_complete", "reject", question_complete),
    Rule("answer_within_choices", "reject", answer_within_choices),
    Rule("roman_numerals", "rewrite", roman_numerals),
    Rule("lower_case_start", "reject", lower_case_start),
    Rule("non_english", "reject", non_english),
)
WHOLE_RULES: tuple[RuleName, ...] = ("exact_duplicate", "near_duplicate")
"""The rules that look at all rows at once; both reject."""
