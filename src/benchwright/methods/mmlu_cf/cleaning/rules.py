"""The cleaning rules in their order, applied to rows (MMLU-CF, section 3.2, step 2)."""

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from benchwright.core.language import likely_languages
from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import (
    answer_format,
    answer_within_choices,
    choice_numbering,
    choice_order,
    label_letters,
    label_set,
    question_numbering,
    roman_numerals,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    CHANGES,
    CLEAN,
    REJECTED,
    CleanedBatch,
    Row,
)
from benchwright.params.mmlu_cf import CleaningParams, RuleName

# Control characters, the mark of bytes that were not UTF-8, private use, and what UTF-8 looks like
# when read as Latin-1 or Windows-1252.
_UNREADABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]|[\u00c3\u00c2][\xa0-\xbf]|\u00e2\u20ac|\u00ef\u00bb\u00bf"
)
_LONG_WORD = re.compile("[A-Za-z]{100}")
_MOST_CHARACTERS = {"question": 10_000, "passage": 50_000, "explanation": 50_000, "answer": 2_000}
_CHOICE_CHARACTERS = 2_000
_MOST_CHOICES = 26


def too_long(row: Row, _: CleaningParams) -> Row | str:
    """Reject texts that are too long for a question, which bounds the cost of the other rules."""
    for name, most in _MOST_CHARACTERS.items():
        if len(getattr(row, name) or "") > most:
            return f"{name} of more than {most:,} characters"
    if any(len(choice) > _CHOICE_CHARACTERS for choice in row.choices):
        return f"choice of more than {_CHOICE_CHARACTERS:,} characters"
    return row if len(row.choices) <= _MOST_CHOICES else f"more than {_MOST_CHOICES} choices"


def unreadable(row: Row, _: CleaningParams) -> Row | str:
    """Reject text that was decoded wrongly, has control characters, or a word of 100 letters."""
    if _UNREADABLE.search(row.question):
        return "undecodable character in the question"
    if _UNREADABLE.search(row.passage or ""):
        return "undecodable character in the passage"
    if any(map(_UNREADABLE.search, row.choices)):
        return "undecodable character in a choice"
    long = any(map(_LONG_WORD.search, (row.question, *row.choices)))
    return "a word of 100 letters" if long else row


def n_choices(row: Row, params: CleaningParams) -> Row | str:
    """Reject numbers of choices other than those of `n_choices` (default four)."""
    return row if len(row.choices) in params.n_choices else f"{len(row.choices)} choices"


def empty_choices(row: Row, _: CleaningParams) -> Row | str:
    """Reject a choice that is empty or white space."""
    return row if all(map(str.strip, row.choices)) else "empty choice"


_CUT_OFF = {
    "mark of truncation": re.compile(
        r"(?i)(?:\[\s*(?:\.\.\.|…|more|truncated|continued|cut)\s*\]"
        r"|\((?:\s*more|continued|cont'?d\.?|truncated)\s*\)"
        r"|(?:read|show|see|view|load)\s+more(?:\s*(?:\.\.\.|…|»|>+))?"
        r"|continue\s+reading|&hellip;|&#8230;)\s*$"
    ),
    "ends with half a word": re.compile(r"[^\W\d_]{2}-\s*$"),
    "ends with an opening bracket or quotation mark": re.compile(r"[(\[{“«]\s*$"),
    "starts with closing punctuation": re.compile(r"^\s*(?:[,;!?)\]}”»]|:\s)"),
}
_OPENING = re.compile(r"^[\s\"'‘“«(\[]+")
# "x", "pH", "mRNA", "p53", "f(x)", "para-xylene", "k-means": lower case belongs to the word.
_LOWER_WORD = re.compile(
    r"[b-z](?![^\W\d_]|['‘’])|a\s*[=<>+*/^()\[−]|[a-zß-öø-ÿ]+[A-ZÀ-ÖØ-Þ0-9_^]"
    r"|(?:para|ortho|meta|cis|trans|tert|sec|iso|[a-z])-[^\W\d_]"
)


def short_question(row: Row, _: CleaningParams) -> Row | str:
    """Reject a question of fewer than 10 characters."""
    return row if len(row.question.strip()) >= 10 else "fewer than 10 characters"


def question_complete(row: Row, _: CleaningParams) -> Row | str:
    """Reject a question that was cut off, as by `_CUT_OFF`, or has an open bracket.

    Accepted are stems that the choices complete ("The capital of France is", "According to Kant,",
    "…", " -"), half-open intervals, and lists such as "1) … 2) …".
    """
    for reason, pattern in _CUT_OFF.items():
        if pattern.search(row.question):
            return reason
    opened = sum(map(row.question.count, "([{"))
    closed = sum(map(row.question.count, ")]}"))
    return row if opened <= closed else "bracket that is not closed"


def lower_case_start(row: Row, _: CleaningParams) -> Row | str:
    """Reject a question that starts with a lower-case letter, unless as in "pH", "mRNA", "x"."""
    start = _OPENING.sub("", row.question)
    lower = start[:1].islower() and not _LOWER_WORD.match(start)
    return "lower-case first letter" if lower else row


_FOREIGN_SHARE = 0.2  # of the letters
_PROBABILITY = 0.9  # of another language


def non_english(row: Row, _: CleaningParams) -> Row | str:
    """Reject questions in another script or language.

    - Script: more than a fifth of the letters of question and choices
      are not Latin. Single Greek letters, symbols, units and diacritics pass.
    - Language: `likely_languages` of the question has another one with at least 0.9.
    """
    if _in_other_script("".join((row.question, *row.choices))):
        return "letters of another script"
    likely = likely_languages(row.question)
    other = any(share >= _PROBABILITY for code, share in likely.items() if code != "en")
    return "another language" if other else row


def _in_other_script(text: str) -> bool:
    if text.isascii():
        return False
    letters = [char for char in unicodedata.normalize("NFKC", text) if char.isalpha()]
    scripts = [unicodedata.name(char, "").partition(" ")[0] for char in letters]
    foreign = [script for script in scripts if script not in {"LATIN", "MODIFIER"}]
    # Greek letters pass as symbols; three in a row make a Greek word.
    if not {*foreign} - {"GREEK"} and not re.search("[\u0370-\u03ff\u1f00-\u1fff]{3}", text):
        return False
    return len(foreign) > _FOREIGN_SHARE * len(letters)


class Rule(NamedTuple):
    """A rule for single rows, which returns the row, rewritten or not, or why it rejects it."""

    name: RuleName
    kind: Literal["rewrite", "reject"]
    apply: Callable[[Row, CleaningParams], Row | str]


ROW_RULES = (
    # The first two are not in the paper. They protect the other rules.
    Rule("too_long", "reject", too_long),
    Rule("unreadable", "reject", unreadable),
    Rule("n_choices", "reject", n_choices),
    Rule("empty_choices", "reject", empty_choices),
    Rule("label_set", "reject", label_set),
    Rule("labels", "rewrite", label_letters),
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
_PASSES = 5


class Outcome(NamedTuple):
    """A row after the rules, its changes in order, and the rule that rejects it and why, if any."""

    row: Row
    changes: list[tuple[str, str, str, str]]  # rule, column, text before and after
    rejected: tuple[str, str] | None = None


def clean_row(row: Row, rules: Sequence[Rule], params: CleaningParams) -> Outcome:
    """Apply rules in order, again and again until nothing changes.

    So cleaning a clean row changes nothing. A row that still changes after five passes is rejected
    by the last rule that changed it.
    """
    changes: list[tuple[str, str, str, str]] = []
    for _ in range(_PASSES):
        before = len(changes)
        for rule in rules:
            new = rule.apply(row, params)
            if isinstance(new, str):
                return Outcome(row, changes, (rule.name, new))
            if new is not row:
                changes += [(rule.name, *change) for change in row.differences(new)]
                row = new
        if len(changes) == before:
            return Outcome(row, changes)
    return Outcome(row, changes, (changes[-1][0], "still changing after five passes"))


def clean_batch(table: pa.Table, params: CleaningParams) -> CleanedBatch:
    """Apply the rules for single rows (MMLU-CF, section 3.2, step 2).

    The result for a row does not depend on the other rows of the batch.
    """
    rules = [rule for rule in ROW_RULES if rule.name not in params.off]
    clean: list[dict[str, Any]] = []
    rejected: list[dict[str, Any]] = []
    changes: list[dict[str, Any]] = []
    for record in table.to_pylist():
        item_id = str(record["item_id"])
        row, changed, why = clean_row(Row.of(record), rules, params)
        for rule, column, before, after in changed:
            cells = {"rule": rule, "column": column, "before": before, "after": after}
            changes.append({"item_id": item_id} | cells)
        if why:
            rule, detail = why
            rejected.append({"item_id": item_id, "rule": rule, "detail": detail})
            continue
        kept = {name: record.get(name) for name in ("doc_id", "url", "domain")}
        texts = {name: getattr(row, name) for name in ("question", "passage", "explanation")}
        answered = {"choices": row.choices, "answer": row.position}
        clean.append({"item_id": item_id} | kept | texts | answered)
    return CleanedBatch(
        rows=pa.Table.from_pylist(clean, CLEAN),
        rejected=pa.Table.from_pylist(rejected, REJECTED),
        changes=pa.Table.from_pylist(changes, CHANGES),
    )
