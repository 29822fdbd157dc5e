"""The options of verdicts and their limits, the same on the command line and in Python."""

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchwright.core.errors import InputError, first_problem

RISKS = (1e-6, 0.25)
"""Least and greatest probability of a wrong decision."""


class VerdictOptions(BaseModel):
    """Checked options.

    Attributes:
        alpha: probability of each wrong decision, at most .25.
        level: of intervals, between 0 and 1.
        margin: difference that is tolerated: of a scale of 0 to 1 a share, else points of it.
        scale: lowest and highest score.
        repeats: which of several answers to an item count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    alpha: float = Field(0.05, ge=RISKS[0], le=RISKS[1])
    level: float = Field(0.95, gt=0, lt=1)
    margin: float = Field(0.0, ge=0)
    scale: tuple[float, float] = (0.0, 1.0)
    repeats: Literal["mean", "first"] = "mean"

    @property
    def margin_share(self) -> float:
        """The margin as a share of the scale."""
        low, high = self.scale
        return self.margin / (high - low)

    @model_validator(mode="after")
    def _margin_is_within_the_scale(self) -> Self:
        if self.margin_share >= 1:
            low, high = self.scale
            five = 0.05 * (high - low)
            raise ValueError(
                f"margin {self.margin:g}: the scale is {low:g} to {high:g}; give {five:g} for 5%"
            )
        return self


def check_options(**given: Any) -> VerdictOptions:
    """Return the options that are given.

    Raises:
        InputError: one is outside its limits.
    """
    try:
        return VerdictOptions(**given)
    except ValidationError as error:
        message = first_problem(error)
        first = error.errors()[0]
        for name in first["loc"]:
            message = message.replace(f"{name}:", f"{name} {first['input']!r}:", 1)
        raise InputError(message) from error
