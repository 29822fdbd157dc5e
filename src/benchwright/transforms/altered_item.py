"""An item as the perturbations see it, and what one of them made of it."""

import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from benchwright.core.option_wording import kinds_of_options, refers_to_options


class MultipleChoice(NamedTuple):
    """What a perturbation needs of an item; tuples, so that no copy shares a list with its source.

    `answer` is the index of the right option, −1 where it is not known. `several_right` says that
    more than one option is right.
    """

    item_id: str
    question: str
    choices: tuple[str, ...]
    answer: int
    several_right: bool = False


class Altered(NamedTuple):
    """An item after one transform.

    Attributes:
        choices: K options.
        answer: index of the right one.
        altered: whether options or question differ from those before.
        reason: why they do not; "" where they do.
        removed_choice: text that is no longer an option, None where all still are.
        removed_index: its place before the transform, −1 where there is none.
        gold_removed: whether it was the right option.
        question: the new question, None where it is as before.
    """

    choices: tuple[str, ...]
    answer: int
    altered: bool
    reason: str
    removed_choice: str | None = None
    removed_index: int = -1
    gold_removed: bool = False
    question: str | None = None


def copied(item: MultipleChoice, reason: str) -> Altered:
    """The item as it was, with the reason."""
    return Altered(item.choices, item.answer, False, reason)


def slot(uniform: float, size: int) -> int:
    """One of `size` places, all alike, from a number in [0, 1)."""
    return min(int(uniform * size), size - 1)


def _has_equal_options(choices: tuple[str, ...]) -> bool:
    """Whether two options are the same text but for white space."""
    texts = {" ".join(unicodedata.normalize("NFC", text).split()) for text in choices}
    return len(texts) < len(choices)


def why_not_replaceable(item: MultipleChoice, single_best_answer: Collection[str]) -> str:
    """Why no option of the item can make way for a none-of-the-above option, or "".

    With a single best answer the second best is right once the best is gone; with equal options or
    several right ones a right one stays; an option beside none or all of the above, or one that
    names others, says something else when another goes (WiCkeD, section 3).

    Returns:
        `open_ended`, `answer_unknown`, `too_few_options` (fewer than 2), `single_best_answer`,
        `several_right_options`, `none_or_all_present`, `refers_to_options`, `equal_options`, or "";
        the first that holds.
    """
    kinds = kinds_of_options(item.question, item.choices)
    checks = {
        "open_ended": not item.choices,
        "answer_unknown": item.answer < 0,
        "too_few_options": len(item.choices) < 2,
        "single_best_answer": item.item_id in single_best_answer,
        "several_right_options": item.several_right,
        "none_or_all_present": "none_of_the_above" in kinds or "all_of_the_above" in kinds,
        "refers_to_options": refers_to_options(item.question, item.choices),
        "equal_options": _has_equal_options(item.choices),
    }
    return next((reason for reason, holds in checks.items() if holds), "")
