"""Functions with flat arguments take the fields of a NamedTuple and have their types."""

import inspect
import pickle
from typing import NamedTuple, get_type_hints

import pytest

from benchwright.core.flat_arguments import flat_arguments


class Run(NamedTuple):
    name: str
    seed: int


@flat_arguments
def describe(count: int, run: Run) -> str:
    """Describe."""
    return f"{count} {run.name} {run.seed}"


def test_fields_may_be_positional_or_named() -> None:
    assert describe(1, "a", 2) == describe(1, seed=2, name="a") == "1 a 2"
    with pytest.raises(TypeError, match="seed"):
        describe(1, "a")


def test_signature_and_types_come_from_the_fields() -> None:
    assert list(inspect.signature(describe).parameters) == ["count", "name", "seed"]
    assert get_type_hints(describe) == {"count": int, "name": str, "seed": int, "return": str}


def test_wrapped_function_keeps_its_module_and_name() -> None:
    assert pickle.loads(pickle.dumps(describe)) is describe  # noqa: S301
    assert (describe.__name__, describe.__doc__) == ("describe", "Describe.")
