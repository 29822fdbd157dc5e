"""MMLU-CF (3.2, step 5), rule 2: the options in another order, all of the above still last."""

from collections.abc import Sequence

from benchwright.core.option_wording import kinds_of_options, names_a_place, refers_to_options
from benchwright.core.seeding import item_uniforms
from benchwright.transforms.altered_item import Altered, MultipleChoice

KEEPS_LAST = ("none_of_the_above", "all_of_the_above")


def shuffle_choices(items: Sequence[MultipleChoice], seed: int, copy: int) -> list[Altered]:
    """Put the options of each item in a uniformly drawn order; the answer follows its option.

    None- and all-of-the-above options at the end, in any wording, stay last. An item stays
    unaltered, with the reason, if its options have no other order, if a text refers to options by
    letter or position, if "all of the above" comes before other options, or if the random order is
    the original one. The result depends on seed, copy and item id only.
    """
    ids = [item.item_id for item in items]
    most = max((len(item.choices) for item in items), default=0)
    # Sorting K independent numbers gives every one of the K! orders the same chance.
    keys = [
        item_uniforms(seed, f"shuffle_choices/{copy}/{place}", ids).tolist()
        for place in range(most)
    ]
    return [
        _shuffled(item, [keys[place][row] for place in range(len(item.choices))])
        for row, item in enumerate(items)
    ]


def _shuffled(item: MultipleChoice, keys: list[float]) -> Altered:
    if not item.choices:
        return item.unaltered("open_ended")
    if refers_to_options(item.question, item.choices):
        return item.unaltered("refers_to_options")
    kinds = kinds_of_options(item.choices)
    movable = len(kinds)
    while movable and kinds[movable - 1] in KEEPS_LAST:
        movable -= 1
    if movable < 2:
        return item.unaltered("too_few_options")
    if any(
        kind in KEEPS_LAST and names_a_place(text)
        for kind, text in zip(kinds[:movable], item.choices[:movable], strict=True)
    ):
        return item.unaltered("none_or_all_not_last")
    order = [*sorted(range(movable), key=keys.__getitem__), *range(movable, len(kinds))]
    if order == list(range(len(kinds))):
        return item.unaltered("same_order")
    answer = order.index(item.answer) if item.answer >= 0 else -1
    return Altered(tuple(item.choices[place] for place in order), answer, True, "")
