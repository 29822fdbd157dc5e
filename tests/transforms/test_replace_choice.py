"""An option becomes "None of the other choices" in half of the items."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.replace_choice import replace_choice

NONE = "None of the other choices"


def items(count: int, size: int = 4) -> list[MultipleChoice]:
    choices = tuple(f"word {place}" for place in range(size))
    return [MultipleChoice(f"i/{n}", "Which?", choices, n % size) for n in range(count)]


@given(st.integers(2, 10), st.integers(0, 2**32), st.integers(1, 9))
def test_one_option_is_replaced_in_place(size: int, seed: int, copy: int) -> None:
    for item, result in zip(
        items(20, size), replace_choice(items(20, size), seed=seed, copy=copy), strict=True
    ):
        assert result.answer == item.answer
        changed = [p for p in range(size) if item.choices[p] != result.choices[p]]
        assert changed == ([result.removed_index] if result.altered else [])
        assert result.choices.count(NONE) == len(changed)
        assert result.gold_removed == (item.answer in changed)
        assert (result.choices[result.answer] == NONE) == result.gold_removed
        assert result.reason == ("" if result.altered else "not_drawn")


def test_half_of_the_items_change_at_uniform_positions() -> None:
    results = replace_choice(items(20_000), seed=3, copy=1)
    altered = [result for result in results if result.altered]
    assert abs(len(altered) - 10_000) < 4 * 5_000**0.5
    places = Counter(result.removed_index for result in altered)
    assert chisquare([places[place] for place in range(4)]).pvalue > 0.001
    gold = sum(result.gold_removed for result in altered) / len(altered)
    assert abs(gold - 0.25) < 4 * (0.25 * 0.75 / len(altered)) ** 0.5


@pytest.mark.parametrize(("probability", "altered"), [(0.0, 0), (1.0, 500)])
def test_probability_is_the_parameter(probability: float, altered: int) -> None:
    results = replace_choice(items(500), seed=3, copy=1, probability=probability)
    assert sum(result.altered for result in results) == altered


def test_items_that_would_become_incoherent_stay_unaltered() -> None:
    item = MultipleChoice("i", "Which?", ("p", "q", "r", "All of the above"), 3)
    (result,) = replace_choice([item], seed=3, copy=1, probability=1)
    assert (result.choices, result.answer) == (item.choices, 3)
    assert result.reason == "none_or_all_present"
