"""Numbers in digits and words, with units."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.transforms.kept_text import is_number, numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twelve eggs, 12 eggs, a dozen eggs", ["12", "12", "12"]),
        ("1,000 and one thousand", ["1000", "1000"]),
        ("1.5 million or 1500000", ["1500000", "1500000"]),
        ("two hundred and fifty", ["250"]),
        ("nine, ten and eleven", ["9", "10", "11"]),
        ("eighty-four", ["84"]),
        ("25% or 25 percent or 25 per cent", ["25 %"] * 3),
        ("half an hour, two-thirds, 1/2", ["1/2", "2/3", "1/2"]),
        ("the third planet, the 3rd", ["3 th", "3 th"]),
        ("5 kg, 5kg, five kilograms", ["5 kg"] * 3),
        ("$7 or 7 dollars", ["7 $", "7 $"]),
        ("−5 °C, 3-5 days", ["-5 °c", "3", "5 d"]),
        ("10 m per second", ["10 m"]),
        ("the second law", ["2 th"]),
        ("twice as tall", ["2"]),
        ("3.0 or 3", ["3", "3"]),
    ],
)
def test_numbers_are_found(text: str, expected: list[str]) -> None:
    assert sorted(numbers(text).elements()) == sorted(expected)


@pytest.mark.parametrize(
    "text", ["no one", "Which one?", "someone often", "H2O and CO2", "first of all", "x2"]
)
def test_other_texts_are_not_numbers(text: str) -> None:
    assert not numbers(text)


@pytest.mark.parametrize("other", ["5 g", "5 km", "6 kg", "-5 kg", "5", "5th"])
def test_other_numbers_or_units_differ(other: str) -> None:
    assert numbers(f"It weighs {other} today") != numbers("It weighs 5 kg today")


@given(st.integers(0, 10**7))
def test_thousands_may_be_grouped(value: int) -> None:
    assert numbers(f"about {value:,} of them") == numbers(f"about {value} of them")


@given(st.decimals(0, 10**6, places=3), st.decimals(0, 10**6, places=3))
def test_numbers_are_equal_where_their_values_are(first: object, second: object) -> None:
    assert (numbers(f"x {first} y") == numbers(f"x {second} y")) == (first == second)


def test_a_number_with_its_unit_is_one_piece() -> None:
    assert is_number("5kg")
    assert is_number("1960s")
    assert not is_number("3x")
