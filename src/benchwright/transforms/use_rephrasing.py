"""MMLU-CF, rule 1, as a transform: each question in the wording that was found for it before.

Zhao, Q. et al. (2024). MMLU-CF: A Contamination-free Multi-task Language Understanding Benchmark.
Section 3.4, rule 1.
"""

from collections.abc import Mapping, Sequence

from benchwright.transforms.altered_item import Altered, MultipleChoice, copied

Rephrased = Mapping[tuple[str, str], str | None]
"""The new question by role and item id; None where none of its wordings passed."""


def use_rephrasing(
    items: Sequence[MultipleChoice], role: str, rephrasings: Rephrased
) -> list[Altered]:
    """Each item with its new question and its own options, alike in every draw.

    Copied are items that nobody asked for (`not_asked`) and those of which no wording passed the
    checks (`no_rephrasing_passed`).

    Args:
        items: N items in any order.
        role: `item` or `demonstration`.
        rephrasings: the new questions.

    Returns:
        N results in the order of `items`.
    """
    results = []
    for item in items:
        key = (role, item.item_id)
        question = rephrasings.get(key)
        if question is None:
            reason = "no_rephrasing_passed" if key in rephrasings else "not_asked"
            results.append(copied(item, reason))
        else:
            results.append(Altered(item.choices, item.answer, True, "", question=question))
    return results
