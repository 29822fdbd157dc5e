"""WiCkeD's copies stay coherent and lose the gold option with probability 1/K."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.none_of_the_above import add_none_of_the_above

NOTA = "None of the above"
words = st.text(st.characters(categories=["L", "N"]), min_size=3, max_size=8)


@st.composite
def plain(draw: st.DrawFn) -> MultipleChoice:
    choices = draw(
        st.lists(words.map(lambda word: f"the {word} thing"), min_size=2, max_size=10, unique=True)
    )
    return MultipleChoice(
        draw(words), "Which is it?", tuple(choices), draw(st.integers(0, len(choices) - 1))
    )


@given(st.lists(plain(), min_size=1, max_size=20), st.integers(0, 2**32), st.integers(1, 9))
def test_gold_option_is_present_if_and_only_if_it_is_the_answer(
    items: list[MultipleChoice], seed: int, copy: int
) -> None:
    for item, result in zip(items, add_none_of_the_above(items, seed=seed, copy=copy), strict=True):
        gold = item.choices[item.answer]
        assert result.altered
        assert result.choices[-1] == NOTA
        assert result.choices.count(NOTA) == 1
        assert len(result.choices) == len(item.choices)
        assert set(item.choices) - set(result.choices) == {result.removed_choice}
        assert item.choices[result.removed_index] == result.removed_choice
        # The others keep their order.
        assert list(result.choices[:-1]) == [
            text for text in item.choices if text != result.removed_choice
        ]
        assert result.choices[result.answer] == (NOTA if result.gold_removed else gold)
        assert result.gold_removed == (gold not in result.choices)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 10])
def test_all_options_are_replaced_equally_often(size: int) -> None:
    choices = tuple(f"word {place}" for place in range(size))
    items = [MultipleChoice(f"i/{n}", "Which?", choices, n % size) for n in range(10_000)]
    results = add_none_of_the_above(items, seed=3, copy=1)
    removed = Counter(result.removed_index for result in results)
    assert chisquare([removed[place] for place in range(size)]).pvalue > 0.001
    gold = sum(result.gold_removed for result in results)
    assert abs(gold / 10_000 - 1 / size) < 4 * (1 / size * (1 - 1 / size) / 10_000) ** 0.5


def test_five_copies_of_ten_thousand_items_are_independent() -> None:
    items = [MultipleChoice(f"i/{n}", "Which?", ("p", "q", "r", "s"), 0) for n in range(10_000)]
    perturbed_items = [
        [result.removed_index for result in add_none_of_the_above(items, seed=3, copy=copy)]
        for copy in range(1, 6)
    ]
    for first in range(5):
        for second in range(first):
            same = sum(
                a == b for a, b in zip(perturbed_items[first], perturbed_items[second], strict=True)
            )
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
        ("refers_to_options", MultipleChoice("i", "Which?", ("p", "q", "both A and B"), 0)),
        ("refers_to_options", MultipleChoice("i", "If option B holds?", ("p", "q"), 0)),
        ("equal_options", MultipleChoice("i", "Which?", ("p q", "r", "p  q"), 0)),
    ],
)
def test_items_that_would_become_incoherent_stay_unaltered(
    reason: str, item: MultipleChoice
) -> None:
    for copy in range(1, 6):
        (result,) = add_none_of_the_above([item], seed=3, copy=copy, single_best_answer={"best"})
        assert (result.choices, result.answer) == (item.choices, item.answer)
        assert (result.altered, result.reason) == (False, reason)
        assert (result.removed_choice, result.removed_index, result.gold_removed) == (
            None,
            -1,
            False,
        )


def test_options_that_differ_by_case_are_distinct() -> None:
    item = MultipleChoice("i", "Which genotype?", ("BB", "Bb", "bb"), 1)
    assert add_none_of_the_above([item], seed=3, copy=1)[0].altered
