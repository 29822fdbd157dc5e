"""The cleaning rules in their order, applied to batches (MMLU-CF, section 3.2, step 2)."""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import (
    answer_format,
    answer_positions,
    answer_within_choices,
    choice_numbering,
    choice_order,
    label_set,
    labels,
    question_numbering,
    roman_numerals,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    CHANGES,
    CLEAN,
    FUNNEL,
    TEXT,
    Bools,
    Cleaned,
    Ints,
    Outcome,
    Rows,
    Text,
    matches,
    named,
    rejected_rows,
    truths,
)
from benchwright.params.mmlu_cf import CleaningParams, RuleName

# Control characters, the mark of bytes that were not UTF-8, private use, and what UTF-8 looks like
# when read as Latin-1 or Windows-1252.
_UNREADABLE = (
    "[\\x{00}-\\x{08}\\x{0B}\\x{0C}\\x{0E}-\\x{1F}\\x{7F}-\\x{9F}\\x{FFFD}\\x{E000}-\\x{F8FF}]"
    "|[\u00c3\u00c2][\\x{A0}-\\x{BF}]|\u00e2\u20ac|\u00ef\u00bb\u00bf"
)
_LONG_WORD = "[A-Za-z]{100}"
_MOST_CHARACTERS = {"question": 10_000, "passage": 50_000, "explanation": 50_000, "answer": 2_000}
_CHOICE_CHARACTERS = 2_000
_MOST_CHOICES = 26


def too_long(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject texts that are too long for a question, which bounds the cost of the other rules.

    Not in the paper. The limits are in characters.
    """

    def longer(texts: Text, most: int) -> Bools:
        return truths(pc.greater(pc.utf8_length(texts), most))

    reasons = []
    for name, most in _MOST_CHARACTERS.items():
        long = longer(getattr(rows, name), most)
        reasons.append((long, f"{name} of more than {most:,} characters"))
    long_choice = rows.any(longer(rows.choices, _CHOICE_CHARACTERS))
    reasons.append((long_choice, f"choice of more than {_CHOICE_CHARACTERS:,} characters"))
    reasons.append((rows.counts > _MOST_CHOICES, f"more than {_MOST_CHOICES} choices"))
    return Outcome(rows, tuple(reasons))


def unreadable(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject text that was decoded wrongly, contains control characters, or is one endless word.

    Not in the paper: NUL and other control characters, U+FFFD, private-use characters, UTF-8 read
    as a one-byte encoding ("caf\u00c3\u00a9"), a word of 100 letters.
    """
    return Outcome(
        rows,
        (
            (matches(rows.question, _UNREADABLE), "undecodable character in the question"),
            (matches(rows.passage, _UNREADABLE), "undecodable character in the passage"),
            (rows.any(matches(rows.choices, _UNREADABLE)), "undecodable character in a choice"),
            (matches(rows.question, _LONG_WORD), "a word of 100 letters"),
            (rows.any(matches(rows.choices, _LONG_WORD)), "a word of 100 letters"),
        ),
    )


def n_choices(rows: Rows, params: CleaningParams) -> Outcome:
    """Reject numbers of choices other than those of `n_choices` (default four)."""
    wrong = ~np.isin(rows.counts, params.n_choices)
    return Outcome(
        rows,
        tuple((wrong & (rows.counts == n), f"{n} choices") for n in sorted({*rows.counts[wrong]})),
    )


def empty_choices(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject a choice that is empty or white space."""
    return Outcome(rows, ((rows.any(~matches(rows.choices, r"\S")), "empty choice"),))


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


def short_question(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject a question of fewer than 10 characters."""
    length = pc.utf8_length(pc.utf8_trim_whitespace(rows.question))
    return Outcome(rows, ((truths(pc.less(length, 10)), "fewer than 10 characters"),))


def question_complete(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject a question that was cut off.

    Such a question ends with a mark of truncation ("[...]", "read more"), half a word ("elec-") or
    with an opening bracket or quotation mark; begins with closing punctuation; or opens more
    brackets than it closes. Accepted are stems that the choices complete ("The capital of France
    is", "According to Kant,", "…", " -"), half-open intervals, and lists such as "1) … 2) …".
    """
    question = rows.question
    opened = pc.count_substring_regex(question, r"[(\[{]")
    closed = pc.count_substring_regex(question, r"[)\]}]")
    return Outcome(
        rows,
        (
            (matches(question, _CUT), "mark of truncation"),
            (matches(question, _CUT_WORD), "ends with half a word"),
            (matches(question, _OPEN_END), "ends with an opening bracket or quotation mark"),
            (matches(question, _LATE_START), "starts with closing punctuation"),
            (truths(pc.greater(opened, closed)), "bracket that is not closed"),
        ),
    )


def lower_case_start(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject a question whose first letter is lower-case.

    Words with a fixed lower-case spelling ("pH", "mRNA", "x") pass, and so do questions that start
    with a digit, a blank or a symbol.
    """
    lower = matches(rows.question, _LOWER)
    lower[lower] = ~matches(rows.question.filter(pa.array(lower)), _LOWER_WORD)
    return Outcome(rows, ((lower, "lower-case first letter"),))


# Words that are common in English and are not words of other languages in Latin script.
_ENGLISH = (
    r"(?i)\b(?:the|which|what|with|that|from|this|following|would|does|when|where|their|and|"
    r"these|there|because|should|between|they|his|who|how|why|you)\b"
)
_LETTERS_PER_ENGLISH_WORD = 90
_FOREIGN_SHARE = 0.2  # of the letters
_LETTERS = 25  # fewer say nothing about the language
_PROBABILITY = 0.9  # of another language
# Greek letters pass as symbols; three in a row make a Greek word.
_FOREIGN = r"[^\P{L}\p{Latin}\p{Greek}\p{Common}]|\p{Greek}{3,}"


def non_english(rows: Rows, _: CleaningParams) -> Outcome:
    """Reject questions in another script or language.

    - Script: more than a fifth of the letters of question and choices
      are not Latin. Single Greek letters, symbols, units and diacritics pass.
    - Language: the question has at least 25 letters and hardly an English
      function word, and py3langid (naive Bayes over byte n-grams, 97 languages) gives another
      language a probability of at least 0.9. Or the question has any
      length, no English function word, and opens with an inverted mark, as in Spanish.
    """
    script = _other_script(rows)
    return Outcome(
        rows,
        (
            (script, "letters of another script"),
            (_other_language(rows, script), "another language"),
        ),
    )


def _other_script(rows: Rows) -> Bools:
    strange = matches(rows.question, _FOREIGN) | rows.any(matches(rows.choices, _FOREIGN))
    if strange.any():
        some = rows.where(strange)
        letters, foreign = (
            _count(some.question, pattern) + some.sums(_count(some.choices, pattern))
            for pattern in (r"\p{L}", r"[^\P{L}\p{Latin}\p{Common}]")
        )
        strange[strange] = foreign > _FOREIGN_SHARE * letters
    return strange


def _other_language(rows: Rows, rejected: Bools) -> Bools:
    length = pc.utf8_length(rows.question).to_numpy(zero_copy_only=False)
    english = _count(rows.question, _ENGLISH)
    inverted = matches(rows.question, r"^\W*[¿¡]") & (english == 0)
    unsure = ~rejected & ~inverted & (length >= _LETTERS)
    unsure &= english * _LETTERS_PER_ENGLISH_WORD < length
    if unsure.any():
        some = rows.question.filter(pa.array(unsure))
        # Symbols and formulas say nothing about the language.
        words = pc.replace_substring_regex(some, r"\$[^$]*\$|\\[A-Za-z]+|[^\p{L}\x{27}]+", " ")
        enough = _count(words, r"\p{L}") >= _LETTERS
        unsure[unsure] = enough
        texts = words.filter(pa.array(enough)).to_pylist()
        unsure[unsure] = [
            name != "en" and probability >= _PROBABILITY
            for name, probability in map(_identifier().classify, texts)
        ]
    return unsure | (inverted & ~rejected)


def _count(texts: Text, pattern: str) -> Any:
    return pc.count_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


class Rule(NamedTuple):
    """A rule for single rows, which either rewrites or rejects rows."""

    name: RuleName
    kind: Literal["rewrite", "reject"]
    apply: Callable[[Rows, CleaningParams], Outcome]


ROW_RULES = (
    # The first two are not in the paper. They protect the other rules.
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
"""The rules that compare rows; both reject."""

_PASSES = 5


def clean_batch(table: pa.Table, params: CleaningParams) -> Cleaned:
    """Apply the rules for single rows (MMLU-CF, section 3.2, step 2).

    The result for a row does not depend on the other rows of the batch. Rewritten rows pass through
    all rules again until nothing changes, so that cleaning clean rows changes nothing. A row that
    still changes after five passes is rejected by the last rule that changed it.

    Raises:
        InputError: item_id, question, choices or answer is missing among the raw items.
    """
    batch = _Batch(table)
    active = Rows.of(table)
    for _ in range(_PASSES):
        active = batch.one_pass(active, params)
        if not len(active):
            break
    last = len(ROW_RULES) - 1 - np.argmax(batch.changed[::-1, active.index], axis=0)
    batch.reject(active.index, last, "still changing after five passes")
    return batch.result(params)


class _Batch:
    """The results for a batch so far; rules are positions in `ROW_RULES`."""

    def __init__(self, table: pa.Table) -> None:
        n = table.num_rows
        self.table = table
        self.rejected_by = np.full(n, -1)
        self.changed = np.zeros((len(ROW_RULES), n), np.bool_)
        self.details: list[str] = []
        self.detail = np.full(n, -1)
        self.settled: list[Rows] = []
        self.changes: list[pa.Table] = []
        self.changed_rows: list[Ints] = []

    def one_pass(self, rows: Rows, params: CleaningParams) -> Rows:
        """Apply all rules and return the rows that changed; the others are settled."""
        changed_now = np.zeros(self.table.num_rows, np.bool_)
        for place, rule in enumerate(ROW_RULES):
            if not len(rows):
                break
            if rule.name in params.off:
                continue
            outcome = rule.apply(rows, params)
            if outcome.rows is not rows:
                changed_now |= self._record(rows, outcome.rows, place)
                rows = outcome.rows
            keep = np.ones(len(rows), np.bool_)
            for mask, detail in outcome.reasons:
                self.reject(rows.index[mask & keep], place, detail)
                keep &= ~mask
            rows = rows.where(keep)
        again = changed_now[rows.index]
        self.settled.append(rows.where(~again))
        return rows.where(again)

    def reject(self, index: Ints, rule: int | Ints, detail: str) -> None:
        """Record which rule rejects some rows of the batch, and why."""
        self.rejected_by[index] = rule
        self.detail[index] = len(self.details)
        self.details.append(detail)

    def _record(self, before: Rows, after: Rows, rule: int) -> Bools:
        """Record the changes of a rule and return which rows of the batch changed."""
        ids = self.table.column("item_id").cast(TEXT)
        changed = np.zeros(self.table.num_rows, np.bool_)
        for name in ("question", "answer", "choices", "labels"):
            old, new = getattr(before, name), getattr(after, name)
            differ = truths(pc.not_equal(old, new)) if old is not new else np.zeros(0, np.bool_)
            if not differ.any():
                continue
            rows, columns = np.flatnonzero(differ), _repeated(name, int(differ.sum()))
            if name in {"choices", "labels"}:
                rows, slots = before.parent[differ], before.slot[differ]
                columns = named([f"{name}[{slot}]" for slot in range(slots.max() + 1)], slots)
            index = before.index[rows]
            changed[index] = True
            self.changed_rows.append(index)
            which = pa.array(differ)
            texts = [old.filter(which), new.filter(which)]
            names = _repeated(ROW_RULES[rule].name, len(index))
            self.changes.append(
                pa.table([ids.take(pa.array(index)), names, columns, *texts], schema=CHANGES)
            )
        self.changed[rule] |= changed
        return changed

    def result(self, params: CleaningParams) -> Cleaned:
        places = np.flatnonzero(self.rejected_by >= 0)
        rejected_by = self.rejected_by[places]
        settled = [rows for rows in self.settled if len(rows)]
        clean = pa.concat_tables([CLEAN.empty_table(), *map(self._clean, settled)])
        if len(settled) > 1:
            clean = clean.take(np.argsort(np.concatenate([rows.index for rows in settled])))
        changes = pa.concat_tables([CHANGES.empty_table(), *self.changes])
        if self.changes:
            changes = changes.take(np.argsort(np.concatenate(self.changed_rows), kind="stable"))
        rejected = np.bincount(rejected_by, minlength=len(ROW_RULES))
        rules = named([rule.name for rule in ROW_RULES], rejected_by)
        details = named(self.details, self.detail[places])
        return Cleaned(
            clean,
            rejected_rows(self.table, places, rules, details),
            changes,
            funnel(self.table.num_rows, self.changed.sum(axis=1), rejected, params),
        )

    def _clean(self, rows: Rows) -> pa.Table:
        columns = {
            "question": rows.question,
            "choices": pa.LargeListArray.from_arrays(pa.array(rows.offsets), rows.choices),
            "answer": pa.array(answer_positions(rows)),
            "explanation": rows.explanation,
            "passage": rows.passage,
            "field_confidence": pa.nulls(len(rows), pa.float64()),
        }
        for name in ("item_id", "doc_id", "url", "domain", "field"):
            columns[name] = pa.nulls(len(rows), TEXT)
            if name in self.table.column_names and name != "field":
                columns[name] = self.table.column(name).cast(TEXT).take(pa.array(rows.index))
        return pa.table([columns[name] for name in CLEAN.names], schema=CLEAN)


def funnel(
    n_rows: int, changed: NDArray[np.int64], rejected: NDArray[np.int64], params: CleaningParams
) -> pa.Table:
    """Return the `CleaningFunnel` of the rules that are not off.

    `changed` and `rejected` are numbers of rows of each rule, for ROW_RULES or for all rules.
    """
    rules = [*((rule.name, rule.kind) for rule in ROW_RULES)]
    rules += [(name, "reject") for name in WHOLE_RULES]
    left = pairwise((n_rows - np.cumsum([0, *rejected])).tolist())
    counts = zip(rules, left, changed.tolist(), rejected.tolist(), strict=False)
    rows = [
        dict(zip(FUNNEL.names, (place, name, kind, before, rewritten, out, after), strict=True))
        for place, ((name, kind), (before, after), rewritten, out) in enumerate(counts, 1)
        if name not in params.off
    ]
    return pa.Table.from_pylist(rows, schema=FUNNEL)


def _repeated(text: str, n: int) -> Text:
    return pa.repeat(pa.scalar(text, TEXT), n)
