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
def told(count: int, run: Run) -> str:
    """Tell."""
    return f"{count} {run.name} {run.seed}"


def test_fields_may_be_positional_or_named() -> None:
    assert told(1, "a", 2) == told(1, seed=2, name="a") == "1 a 2"
    with pytest.raises(TypeError, match="seed"):
        told(1, "a")


def test_signature_and_types_come_from_the_fields() -> None:
    assert list(inspect.signature(told).parameters) == ["count", "name", "seed"]
    assert get_type_hints(told) == {"count": int, "name": str, "seed": int, "return": str}


def test_wrapped_function_keeps_its_module_and_name() -> None:
    assert pickle.loads(pickle.dumps(told)) is told  # noqa: S301
    assert (told.__name__, told.__doc__) == ("told", "Tell.")
