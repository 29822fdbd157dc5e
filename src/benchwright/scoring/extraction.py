r"""Read the answer off what a model wrote: an option's letter, or a final answer.

The last explicit statement counts: "The answer is (B).", "\boxed{B}", "#### 42", "B. Paris". Where
a text names two answers, denies the one it named, takes it back, or breaks off in the middle of
it, nothing is read: missing readings are counted, wrong ones would pass for wrong answers.
"""

from collections.abc import Sequence

from benchwright.scoring.answer_statements import (
    WINDOW,
    Extraction,
    after_thoughts,
    decide,
    plain,
    statements,
)
from benchwright.scoring.final_answers import (
    canonical_number,
    last_number,
    read_number,
    read_words,
    whole_words,
)
from benchwright.scoring.option_labels import OptionLabels


def extract_letter(text: str, choices: Sequence[str], finished: bool = True) -> Extraction[int]:
    """The option that a text chooses, as its index.

    Args:
        text: what the model wrote.
        choices: texts of the options as shown, 2–26, labelled A, B, ….
        finished: False where the text was cut off; then what touches its end is not read.
    """
    shown = after_thoughts(plain(text), finished)
    if shown is None:
        return Extraction(None, "none")
    options = OptionLabels(choices)
    alone = options.text_alone(shown) if finished else None
    if alone is not None:
        return alone
    events = [
        *options.bare_lines(shown, finished),
        *options.remarks(shown),
        *statements(shown, options.read, options.window),
    ]
    return decide(shown, events, finished) or options.bare_text(shown, finished)


def extract_final_answer(text: str, finished: bool = True, numeric: bool = True) -> Extraction[str]:
    """The final answer to an open-ended question.

    Args:
        text: what the model wrote.
        finished: False where the text was cut off; then what touches its end is not read, nor is
            the last number or the whole text.
        numeric: the answer is a number, given as `canonical_number` writes it; else it is the
            words stated, as they stand.
    """
    shown = after_thoughts(plain(text), finished)
    if shown is None:
        return Extraction(None, "none")
    events = list(statements(shown, read_number if numeric else read_words, WINDOW))
    if not numeric:  # other headings begin with "####" too
        events = [e for e in events if e.reading.rule != "hash_marks" or e.end == len(shown)]
    decided = decide(shown, events, finished)
    if decided is not None or not finished:
        return decided or Extraction(None, "none")
    whole = canonical_number(shown) if numeric else whole_words(shown)
    if whole is not None:
        return Extraction(whole, "whole_text")
    last = last_number(shown) if numeric else None
    return Extraction(last, "none" if last is None else "last_number")
