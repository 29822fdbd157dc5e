"""Shuffled options keep their texts and the answer."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.shuffle_choices import shuffle_choices

options = st.lists(
    st.sampled_from(["sun", "moon", "mars", "venus", "None of these", "Pluto", "Io"]), max_size=9
)


@given(options, st.sampled_from(["", "All of the above", "none of these."]), st.data())
def test_answer_follows_its_option_and_last_options_stay_last(
    choices: list[str], last: str, data: st.DataObject
) -> None:
    choices = [*choices, last] if last else choices
    answer = data.draw(st.integers(-1, len(choices) - 1))
    item = MultipleChoice("i", "Which?", tuple(choices), answer)
    (result,) = shuffle_choices([item], seed=data.draw(st.integers(0, 99)), copy=1)
    assert Counter(result.choices) == Counter(choices)
    if answer >= 0:
        assert result.choices[result.answer] == choices[answer]
    else:
        assert result.answer == -1
    if last:
        assert result.choices[-1] == last
    assert result.altered == (not result.reason)
    assert (result.removed_choice, result.gold_removed) == (None, False)


def test_answer_follows_its_option_among_equal_options() -> None:
    places = Counter(
        shuffle_choices([MultipleChoice(f"i/{n}", "?", ("p", "p", "q"), 0)], seed=1, copy=1)[
            0
        ].answer
        for n in range(300)
    )
    assert min(places[place] for place in range(3)) > 60


def test_all_orders_are_equally_likely() -> None:
    items = [MultipleChoice(f"i/{n}", "Which?", ("p", "q", "r", "s"), 0) for n in range(24_000)]
    orders = Counter(result.choices for result in shuffle_choices(items, seed=5, copy=1))
    assert len(orders) == 24
    assert chisquare(list(orders.values())).pvalue > 0.001


@pytest.mark.parametrize(
    ("reason", "choices"),
    [
        ("open_ended", ()),
        ("too_few_options", ("p",)),
        ("too_few_options", ("p", "All of the above", "None of the above")),
        ("refers_to_options", ("p", "q", "A and B only", "r")),
        ("none_or_all_not_last", ("p", "q", "All of the above", "r")),
    ],
)
def test_meaningful_orders_are_kept_with_the_reason(reason: str, choices: tuple[str, ...]) -> None:
    item = MultipleChoice("i", "Which?", choices, len(choices) - 1)
    for copy in range(1, 9):
        (result,) = shuffle_choices([item], seed=5, copy=copy)
        assert (result.choices, result.answer, result.reason) == (choices, item.answer, reason)


def test_none_of_these_between_other_options_is_shuffled() -> None:
    items = [MultipleChoice(f"i/{n}", "?", ("p", "None of these", "q"), 1) for n in range(60)]
    assert {result.answer for result in shuffle_choices(items, seed=5, copy=1)} == {0, 1, 2}
