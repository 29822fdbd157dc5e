"""Rules about what a row is made of: lengths, characters, number of choices."""

import pyarrow as pa
import pyarrow.compute as pc

from benchwright.methods.mmlu_cf.cleaning.rows import Outcome, Rows, truths
from benchwright.params.cleaning import CleaningParams

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
