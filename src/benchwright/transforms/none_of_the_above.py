"""WiCkeD: one option makes way for a last one that says "None of the above".

Elhady, A., Agirre, E., Artetxe, M. (2025). WiCkeD: A Simple Method to Make Multiple Choice
Benchmarks More Challenging. Section 3.
"""

from collections.abc import Collection, Sequence

from benchwright.core.seeding import item_uniforms
from benchwright.transforms.altered_item import (
    Altered,
    MultipleChoice,
    copied,
    slot,
    why_not_replaceable,
)


def add_none_of_the_above(
    items: Sequence[MultipleChoice],
    *,
    seed: int,
    draw: int,
    text: str = "None of the above",
    single_best_answer: Collection[str] = frozenset(),
) -> list[Altered]:
    """Each item without one of its K options, drawn uniformly, and with `text` as the last.

    The right option goes with probability exactly 1/K, and `text` is then right. K stays. Items
    that this would make incoherent are copied with their reason (`why_not_replaceable`).
    What becomes of an item depends on seed, draw and its id, not on the other items.
    """
    uniforms = item_uniforms(seed, f"wicked/{draw}", [item.item_id for item in items])
    return [
        _without(item, float(uniform), text, single_best_answer)
        for item, uniform in zip(items, uniforms, strict=True)
    ]


def _without(
    item: MultipleChoice, uniform: float, text: str, single_best_answer: Collection[str]
) -> Altered:
    reason = why_not_replaceable(item, single_best_answer)
    if reason:
        return copied(item, reason)
    removed = slot(uniform, len(item.choices))
    left = item.choices[:removed] + item.choices[removed + 1 :]
    gold_removed = removed == item.answer
    answer = len(left) if gold_removed else item.answer - (removed < item.answer)
    return Altered((*left, text), answer, True, "", item.choices[removed], removed, gold_removed)
