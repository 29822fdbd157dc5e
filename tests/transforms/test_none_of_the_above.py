"""WiCkeD's copies stay coherent and lose the gold option with probability 1/K."""

from collections import Counter

import pytest
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.none_of_the_above import add_none_of_the_above


@pytest.mark.parametrize("size", [2, 3, 10])
def test_each_option_is_replaced_equally_often_and_gold_with_it(size: int) -> None:
    choices = tuple(f"word {place}" for place in range(size))
    items = [MultipleChoice(f"i/{n}", "Which?", choices, n % size) for n in range(10_000)]
    results = add_none_of_the_above(items, seed=3, copy=1)
    for item, result in zip(items, results, strict=True):
        at = result.removed_index
        assert result.choices == (*choices[:at], *choices[at + 1 :], "None of the above")
        assert (result.altered, result.removed_choice) == (True, choices[at])
        assert result.gold_removed == (at == item.answer)
        right = result.choices[result.answer]
        assert right == ("None of the above" if result.gold_removed else choices[item.answer])
    removed = Counter(result.removed_index for result in results)
    assert chisquare([removed[place] for place in range(size)]).pvalue > 0.001
    gold = sum(result.gold_removed for result in results)
    assert abs(gold / 10_000 - 1 / size) < 4 * (1 / size * (1 - 1 / size) / 10_000) ** 0.5


def test_copies_of_ten_thousand_items_are_independent() -> None:
    items = [MultipleChoice(f"i/{n}", "Which?", ("p", "q", "r", "s"), 0) for n in range(10_000)]
    first, second = (add_none_of_the_above(items, seed=3, copy=copy) for copy in (1, 2))
    same = sum(a.removed_index == b.removed_index for a, b in zip(first, second, strict=True))
    assert 2_300 < same < 2_700  # 1 in 4 by chance, sd 43


@pytest.mark.parametrize(
    ("reason", "item"),
    [
        ("open_ended", MultipleChoice("i", "6 × 7?", (), -1)),
        ("answer_unknown", MultipleChoice("i", "Which?", ("p", "q"), -1)),
        ("too_few_options", MultipleChoice("i", "Which?", ("p",), 0)),
        ("single_best_answer", MultipleChoice("best", "Which is best?", ("p", "q"), 0)),
        ("several_right_options", MultipleChoice("i", "Which?", ("p", "q", "r"), 0, True)),
        ("none_or_all_present", MultipleChoice("i", "Which?", ("p", "q", "All of these"), 0)),
        ("none_or_all_present", MultipleChoice("i", "Which?", ("p", "neither of these", "q"), 0)),
        ("refers_to_options", MultipleChoice("i", "If option B holds?", ("p", "q"), 0)),
        ("equal_options", MultipleChoice("i", "Which?", ("p q", "r", "p  q"), 0)),
        ("", MultipleChoice("i", "Which genotype?", ("BB", "Bb", "bb"), 1)),
    ],
)
def test_items_that_would_become_incoherent_stay_unaltered(
    reason: str, item: MultipleChoice
) -> None:
    (result,) = add_none_of_the_above([item], seed=3, copy=1, single_best_answer={"best"})
    assert (result == item.unaltered(reason)) == bool(reason)
    assert result.reason == reason
