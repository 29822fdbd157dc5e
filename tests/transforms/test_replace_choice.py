"""An option becomes "None of the other choices" in half of the items."""

from collections import Counter

import pytest
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.replace_choice import replace_choice

NONE = "None of the other choices"
CHOICES = ("p", "q", "r", "s")


def test_half_of_the_items_change_in_place_at_uniform_positions() -> None:
    items = [MultipleChoice(f"i/{n}", "Which?", CHOICES, n % 4) for n in range(20_000)]
    results = replace_choice(items, seed=3, copy=1)
    altered = [result for result in results if result.altered]
    assert abs(len(altered) - 10_000) < 4 * 5_000**0.5
    places = Counter(result.removed_index for result in altered)
    assert chisquare([places[place] for place in range(4)]).pvalue > 0.001
    for item, result in zip(items, results, strict=True):
        at = result.removed_index
        if result.altered:
            assert result.choices == (*CHOICES[:at], NONE, *CHOICES[at + 1 :])
            assert (result.answer, result.gold_removed) == (item.answer, at == item.answer)
        else:
            assert result == item.unaltered("not_drawn")


@pytest.mark.parametrize(("probability", "altered"), [(0.0, 0), (1.0, 500)])
def test_probability_is_the_parameter(probability: float, altered: int) -> None:
    items = [MultipleChoice(f"i/{n}", "Which?", CHOICES, 0) for n in range(500)]
    results = replace_choice(items, seed=3, copy=1, probability=probability)
    assert sum(result.altered for result in results) == altered


def test_items_that_would_become_incoherent_stay_unaltered() -> None:
    item = MultipleChoice("i", "Which?", ("p", "q", "r", "All of the above"), 3)
    (result,) = replace_choice([item], seed=3, copy=1, probability=1)
    assert result == item.unaltered("none_or_all_present")
