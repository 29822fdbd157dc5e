"""Shuffled options keep their texts and the answer."""

from collections import Counter

import pytest
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.shuffle_choices import shuffle_choices


@pytest.mark.parametrize("last", [(), ("All of the above",), ("All of these", "none of these.")])
@pytest.mark.parametrize("answer", [-1, 1])
def test_answer_follows_its_option_and_all_orders_are_equally_likely(
    last: tuple[str, ...], answer: int
) -> None:
    choices = ("p", "q", "r", *last)
    items = [MultipleChoice(f"i/{n}", "Which?", choices, answer) for n in range(6_000)]
    results = shuffle_choices(items, seed=5, copy=1)
    for result in results:
        assert sorted(result.choices[:3]) == ["p", "q", "r"]
        assert result.choices[3:] == last
        assert result.answer == (-1 if answer < 0 else result.choices.index("q"))
        assert result.reason == ("" if result.altered else "same_order")
        assert result.altered == (result.choices != choices)
    orders = Counter(result.choices for result in results)
    assert len(orders) == 6
    assert chisquare(list(orders.values())).pvalue > 0.001


@pytest.mark.parametrize(
    "choices", [("p", "p", "q"), ("None of these", "q", "r")], ids=["equal", "none of these"]
)
def test_answer_follows_its_option_wherever_it_was(choices: tuple[str, ...]) -> None:
    items = [MultipleChoice(f"i/{n}", "?", choices, 0) for n in range(300)]
    places = Counter(result.answer for result in shuffle_choices(items, seed=1, copy=1))
    assert min(places[place] for place in range(3)) > 60


@pytest.mark.parametrize(
    ("reason", "choices"),
    [
        ("open_ended", ()),
        ("too_few_options", ("p", "All of the above", "None of the above")),
        ("refers_to_options", ("p", "q", "A and B only", "r")),
        ("none_or_all_not_last", ("p", "q", "All of the above", "r")),
    ],
)
def test_meaningful_orders_are_kept_with_the_reason(reason: str, choices: tuple[str, ...]) -> None:
    item = MultipleChoice("i", "Which?", choices, len(choices) - 1)
    assert shuffle_choices([item] * 8, seed=5, copy=1) == [item.unaltered(reason)] * 8
