"""MMLU-CF, rule 3 (3.2, step 5): in half of the items "None of the other choices"."""

from collections.abc import Collection, Sequence

from benchwright.core.seeding import item_uniforms
from benchwright.transforms.altered_item import Altered, MultipleChoice, slot, why_not_replaceable


def replace_choice(
    items: Sequence[MultipleChoice],
    seed: int,
    copy: int,
    probability: float = 0.5,
    text: str = "None of the other choices",
    single_best_answer: Collection[str] = frozenset(),
) -> list[Altered]:
    """Replace, with `probability`, one uniformly drawn option of each item by `text`.

    The index of the answer never changes: if the gold option is replaced, `text` is right. Items
    that would become incoherent stay unaltered, with the reason (`why_not_replaceable`), as do
    items that are not chosen (`not_drawn`). The result depends on seed, copy and item id only.
    """
    ids = [item.item_id for item in items]
    coins = item_uniforms(seed, f"replace_choice/whether/{copy}", ids)
    places = item_uniforms(seed, f"replace_choice/which/{copy}", ids)
    results = []
    for item, coin, place in zip(items, coins, places, strict=True):
        reason = why_not_replaceable(item, single_best_answer)
        if not reason and coin >= probability:
            reason = "not_drawn"
        if reason:
            results.append(item.unaltered(reason))
            continue
        at = slot(float(place), len(item.choices))
        choices = (*item.choices[:at], text, *item.choices[at + 1 :])
        result = Altered(
            choices,
            item.answer,
            altered=True,
            reason="",
            removed_choice=item.choices[at],
            removed_index=at,
            gold_removed=at == item.answer,
        )
        results.append(result)
    return results
