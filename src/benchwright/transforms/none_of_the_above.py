"""WiCkeD: "None of the above", in last place, replaces one option.

Elhady, A., Agirre, E., Artetxe, M. (2025). WiCkeD: A Simple Method to Make Multiple Choice
Benchmarks More Challenging. Section 3.
"""

from collections.abc import Collection, Sequence

from benchwright.core.seeding import item_uniforms
from benchwright.transforms.altered_item import Altered, MultipleChoice, slot, why_not_replaceable


def add_none_of_the_above(
    items: Sequence[MultipleChoice],
    seed: int,
    copy: int,
    text: str = "None of the above",
    single_best_answer: Collection[str] = frozenset(),
) -> list[Altered]:
    """Replace one uniformly drawn option of each item by `text`, which comes last.

    The gold option is replaced with probability exactly 1/K, and `text` is then right. The number
    of options stays K. Items that would become incoherent stay unaltered, with the reason
    (`why_not_replaceable`). The result depends on seed, copy and item id only.
    """
    uniforms = item_uniforms(seed, f"wicked/{copy}", [item.item_id for item in items])
    return [
        _without(item, float(uniform), text, single_best_answer)
        for item, uniform in zip(items, uniforms, strict=True)
    ]


def _without(
    item: MultipleChoice, uniform: float, text: str, single_best_answer: Collection[str]
) -> Altered:
    reason = why_not_replaceable(item, single_best_answer)
    if reason:
        return item.unaltered(reason)
    removed = slot(uniform, len(item.choices))
    left = item.choices[:removed] + item.choices[removed + 1 :]
    answer = item.answer
    if removed == item.answer:
        answer = len(left)
    elif removed < item.answer:
        answer -= 1
    return Altered(
        (*left, text),
        answer,
        altered=True,
        reason="",
        removed_choice=item.choices[removed],
        removed_index=removed,
        gold_removed=removed == item.answer,
    )
