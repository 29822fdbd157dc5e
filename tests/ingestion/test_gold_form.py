"""Forms of the gold in a table of questions."""

import pytest

from benchwright.core.errors import InputError
from benchwright.ingestion.source_fields import gold_form

CHOICES = [list("wxyz")] * 3


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        ([0, 1, 2], "index"),
        ([1, 3, 4], "number"),
        ([1, 2, 3], "index"),
        (["A", "b", "C"], "letter"),
    ],
)
def test_numbers_count_from_0_unless_one_is_the_number_of_options(
    answers: list[object], form: str
) -> None:
    assert gold_form(answers, CHOICES, from_0=True) == form


def test_numbers_that_may_count_from_0_or_1_are_refused() -> None:
    with pytest.raises(InputError, match="'1' is 'x' as index, 'w' as number; write letters"):
        gold_form([1, 2, 3], CHOICES)
