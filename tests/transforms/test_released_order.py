"""Equivalent orders follow from the item alone, and the released one from the key alone."""

import itertools
from collections import Counter

import pytest
from scipy.stats import chisquare

from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.released_order import (
    commitment,
    equivalent_orders,
    released_number,
    released_order,
)

KEY, OTHER = bytes(32), bytes(range(32))
TEXTS = ("sun", "moon", "mars", "venus")


def item(choices: tuple[str, ...], answer: int = 0, question: str = "Which?") -> MultipleChoice:
    return MultipleChoice("i", question, choices, answer)


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        (TEXTS, ()),
        (TEXTS, ("All of the above",)),
        (("mars", "moon", "sun", "None of the other choices"), ()),
    ],
)
def test_orders_are_the_same_in_whatever_order_the_options_are_with_each_once_in_each_place(
    texts: tuple[str, ...], last: tuple[str, ...]
) -> None:
    found = set()
    for choices in itertools.permutations(texts):
        whole = (*choices, *last)
        orders = equivalent_orders(item(whole, whole.index("mars")))
        found.add(tuple((order.choices, order.answer) for order in orders))
        assert all(order.choices[order.answer] == "mars" for order in orders)
        assert all(order.choices[4:] == last for order in orders)
        assert [order.altered for order in orders] == [order.choices != whole for order in orders]
        for place in range(4):
            assert {order.choices[place] for order in orders} == set(texts)
        released = released_order(item(whole, whole.index("mars")), KEY)
        again = released_order(item(released.choices, released.answer), KEY)
        assert (again.choices, again.answer) == (released.choices, released.answer)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ((), "open_ended"),
        (("a", "None of these"), "too_few_options"),
        (("sun", "moon", "Both A and B", "mars"), "refers_to_options"),
        (("sun", "None of these", "moon"), "none_or_all_not_last"),
        (("sun", "sun", "moon"), "equal_options"),
    ],
)
def test_items_that_cannot_be_shuffled_have_their_own_order_only(
    choices: tuple[str, ...], reason: str
) -> None:
    (order,) = equivalent_orders(item(choices, 0 if choices else -1))
    assert (order.choices, order.reason) == (choices, reason)
    assert released_order(item(choices, 0 if choices else -1), KEY) == order


def test_the_key_releases_each_order_equally_often() -> None:
    ids = [f"q/{number}" for number in range(3_000)]
    first, second = ([released_number(name, 3, key) for name in ids] for key in (KEY, OTHER))
    assert chisquare(list(Counter(zip(first, second, strict=True)).values())).pvalue > 1e-3
    assert len(Counter(zip(first, second, strict=True))) == 9


def test_the_commitment_hides_the_key_and_differs_between_keys() -> None:
    assert commitment(KEY) != commitment(OTHER)
    assert KEY.hex() not in commitment(KEY)
