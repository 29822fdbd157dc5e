"""Errors of users in one line."""

import pytest
from pydantic import BaseModel, ValidationError, model_validator

from benchwright.core.errors import InputError, expected, first_problem, one_line


class Part(BaseModel):
    n: int

    @model_validator(mode="after")
    def _is_small(self) -> "Part":
        if self.n > 1:
            raise ValueError("n is large")
        return self


class Whole(BaseModel):
    parts: list[Part]
    name: str


@pytest.mark.parametrize(
    ("given", "above", "problem"),
    [
        ({"parts": [{"n": "x"}]}, (), "parts.0.n: Input should be a valid integer"),
        ({"parts": [{"n": 2}], "name": ""}, ("file",), "file.parts.0: n is large"),
        (3, (), "Input should be a valid dictionary"),
    ],
)
def test_the_first_problem_is_named(given: object, above: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate(given)
    assert first_problem(caught.value, *above).startswith(problem)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    assert expected("smrt", ["wicked", "smart"]) == (
        "expected one of smart, wicked; did you mean 'smart'?"
    )
    assert expected("x", ["smart"]) == "expected one of smart"
    assert expected("x", []) == "there are none"


def test_cause_in_a_pool_worker_is_reported() -> None:
    class _RemoteTraceback(Exception):  # noqa: N818
        pass

    error = RuntimeError("Failed while saving data")
    error.__cause__ = _RemoteTraceback(
        f'"""\nTraceback\n{InputError.__module__}.InputError: a.csv: full\n\nThe above …'
    )
    assert one_line(error) == "a.csv: full"
    error.__cause__ = _RemoteTraceback('"""\nTraceback\nValueError: ours\n')
    assert one_line(error) is None
