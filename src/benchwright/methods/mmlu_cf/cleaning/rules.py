"""The cleaning rules in the order in which they run (MMLU-CF, section 3.2, step 2)."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from benchwright.methods.mmlu_cf.cleaning.answers import answer_format, answer_within_choices
from benchwright.methods.mmlu_cf.cleaning.labels import choice_order, label_set, labels
from benchwright.methods.mmlu_cf.cleaning.language import non_english
from benchwright.methods.mmlu_cf.cleaning.limits import (
    empty_choices,
    n_choices,
    too_long,
    unreadable,
)
from benchwright.methods.mmlu_cf.cleaning.numbering import (
    choice_numbering,
    question_numbering,
    roman_numerals,
)
from benchwright.methods.mmlu_cf.cleaning.rows import Outcome, Rows
from benchwright.methods.mmlu_cf.cleaning.wording import (
    lower_case_start,
    question_complete,
    short_question,
)
from benchwright.params.cleaning import CleaningParams, RuleName

Kind = Literal["rewrite", "reject"]


class Rule(NamedTuple):
    """A rule that looks at one row at a time.

    Attributes:
        name: as in `CleaningParams.off` and in the tables.
        kind: whether it rewrites rows or rejects them; no rule does both.
        apply: from n rows and the parameters to an outcome for the same n rows.
        in_paper: whether MMLU-CF names it; the others guard the rules behind them.
    """

    name: RuleName
    kind: Kind
    apply: Callable[[Rows, CleaningParams], Outcome]
    in_paper: bool = True


ROW_RULES = (
    Rule("too_long", "reject", too_long, in_paper=False),
    Rule("unreadable", "reject", unreadable, in_paper=False),
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
