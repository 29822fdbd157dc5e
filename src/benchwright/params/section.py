"""The base class of the sections of the settings, and shared field types."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from benchwright.core.errors import expected


def _distinct(values: Sequence[Any]) -> Sequence[Any]:
    if twice := [value for place, value in enumerate(values) if value in values[:place]]:
        raise ValueError(f"{twice[0]} is listed more than once")
    return values


def _increasing(values: Sequence[float]) -> Sequence[float]:
    if any(low >= high for low, high in pairwise(values)):
        raise ValueError("values must be strictly increasing")
    return values


Distinct = AfterValidator(_distinct)
Increasing = AfterValidator(_increasing)
# `a+b`, which `--params` uses since a comma ends a parameter.
_Split = BeforeValidator(lambda value: value.split("+") if isinstance(value, str) else value)
Names = Annotated[tuple[str, ...], _Split, Distinct]


class Section(BaseModel):
    """Base class of the sections, immutable and without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, values: Any) -> Any:
        for key in values if isinstance(values, Mapping) else ():
            if key not in cls.model_fields:
                raise ValueError(f"unknown key {key!r}; {expected(key, cls.model_fields)}")
        return values
