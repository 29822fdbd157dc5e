"""An item before and after a transform."""

from collections.abc import Collection
from typing import NamedTuple

from benchwright.core.option_wording import kinds_of_options, refers_to_options
from benchwright.core.text_folding import normal_text


class MultipleChoice(NamedTuple):
    """An item before a transform.

    `answer` is the index of the gold option, −1 if unknown. `several_right` is true if more than
    one option is right.
    """

    item_id: str
    question: str
    choices: tuple[str, ...]
    answer: int
    several_right: bool = False

    def unaltered(self, reason: str) -> "Altered":
        """Return the result of a transform that does not apply, with the reason."""
        return Altered(self.choices, self.answer, False, reason)


class Altered(NamedTuple):
    """An item after one transform."""

    choices: tuple[str, ...]
    answer: int
    altered: bool  # whether options or question differ from before
    reason: str  # why not; "" if altered
    removed_choice: str | None = None
    removed_index: int = -1  # place of `removed_choice` before the transform
    gold_removed: bool = False  # whether it was the gold option
    question: str | None = None  # the new question, None if it is the same


def slot(uniform: float, size: int) -> int:
    """Return one of `size` equally likely positions, from a number in [0, 1)."""
    return min(int(uniform * size), size - 1)


def why_not_replaceable(item: MultipleChoice, single_best_answer: Collection[str]) -> str:
    """Return why no option of the item can be replaced by none of the above, or "".

    In a single-best-answer item, the second best option is right without the best. With equal
    options or several right ones, a right one remains. Options such as "all of the above", or ones
    that refer to other options, change their meaning when another is removed (WiCkeD, section 3).
    """
    kinds = kinds_of_options(item.choices)
    texts = set(map(normal_text, item.choices))
    checks = {
        "open_ended": not item.choices,
        "answer_unknown": item.answer < 0,
        "too_few_options": len(item.choices) < 2,
        "single_best_answer": item.item_id in single_best_answer,
        "several_right_options": item.several_right,
        "none_or_all_present": "none_of_the_above" in kinds or "all_of_the_above" in kinds,
        "refers_to_options": refers_to_options(item.question, item.choices),
        "equal_options": len(texts) < len(item.choices),
    }
    return next((reason for reason, holds in checks.items() if holds), "")
