"""Names, quotations, formulas and negations in questions."""

import pytest

from benchwright.transforms.kept_text import (
    formulas,
    has_opposite,
    names,
    quotations,
    same_negation,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which ship did Magellan sail?", {"magellan"}),
        ("Sigmund Freud called it what?", {"sigmund", "freud"}),
        ("Ceres, a round body near Mars, is a", {"ceres", "mars"}),
        ("Newton's law says what?", {"newton"}),
        ("Here it is. Water boils. Oil burns.", set()),
        ("When I asked, I'm told", set()),
        ("WHICH ORGAN LETS A TROUT HOVER?", set()),
    ],
)
def test_names_are_capitalised_inside_a_sentence(text: str, expected: set[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Solve 3x − 7 = 11 for x.", ["3x", "=", "x", "−"]),
        ("Is f(x) = x^2 + 1 even?", ["+", "=", "f(x)", "x^2"]),
        ("What is $\\frac{1}{2}$ of `a[0]`?", ["$\\frac{1}{2}$", "`a[0]`"]),
        ("DNA, H2O (CO₂) and pH", ["CO₂", "DNA", "H2O", "pH"]),
        ("A square of 24 m² and a rod of 5kg", ["m²"]),
        ("Which tag is <img>?", ["<img>"]),
        ("t ln t at time t", ["ln", "t", "t", "t"]),
        ("Which is NOT true, EXCEPT I say so? A dog.", []),
        ("The gap ____ is filled in 1960s style", []),
        ("Pay $7, 20% or £5 – café!", []),
    ],
)
def test_formulas_have_signs_that_prose_lacks(text: str, expected: list[str]) -> None:
    assert formulas(text) == sorted(expected)


def test_quotations_are_found_and_apostrophes_ignored() -> None:
    text = "Who wrote \"Emma\", “Persuasion” and 'Lady Susan' in the Austens' house? It's Jane's."
    assert quotations(text) == ["Emma", "Persuasion", "Lady Susan"]


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
def test_equal_negations_pass(before: str, after: str) -> None:
    assert same_negation(before, after)
    assert not has_opposite(before, after)


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
def test_dropped_or_added_negations_are_detected(before: str, after: str) -> None:
    assert not same_negation(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Which is the largest?", "Which is the smallest?"),
        ("What came before the war?", "What happened after the war?"),
        ("Prices increase. Why?", "Why do prices decrease?"),
    ],
)
def test_opposites_are_detected(before: str, after: str) -> None:
    assert has_opposite(before, after)
    assert has_opposite(after, before)
