"""Negations are counted, and opposites seen."""

import pytest

from benchwright.transforms.negations import same_negation, turned_round


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Which is NOT a mammal?", "Which of these isn't a mammal?"),
        ("All are mammals EXCEPT", "Which one is not a mammal?"),
        ("Which is least likely?", "Which is most unlikely?"),
        ("Which statement is incorrect?", "Which statement is not correct?"),
        ("Which can live without air?", "Which lacks a need for air?"),
        ("It has at least 3 legs", "Its legs number three or more"),
        ("Is it true or false?", "Does it hold?"),
        ("Neither A nor B is what?", "What is neither of A and B?"),
    ],
)
def test_what_is_negated_alike_passes(before: str, after: str) -> None:
    assert same_negation(before, after)
    assert not turned_round(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Which is NOT a mammal?", "Which of these is a mammal?"),
        ("Which is a mammal?", "Which of these is no mammal?"),
        ("All are mammals EXCEPT", "All are mammals, as is"),
        ("Which statement is false?", "Which statement holds?"),
        ("Who can't swim?", "Who can swim?"),
        ("What is untrue but not illegal?", "What is true and legal?"),
    ],
)
def test_a_dropped_or_added_negation_is_seen(before: str, after: str) -> None:
    assert not same_negation(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Which is the largest?", "Which is the smallest?"),
        ("What came before the war?", "What happened after the war?"),
        ("Prices increase. Why?", "Why do prices decrease?"),
    ],
)
def test_an_opposite_is_seen(before: str, after: str) -> None:
    assert turned_round(before, after)
    assert turned_round(after, before)
