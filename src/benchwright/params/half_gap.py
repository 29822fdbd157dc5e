"""How the two halves of a sealed benchmark are watched (`half_gap:` in conf)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Bound = Annotated[float, Field(gt=0, lt=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HalfGapParams(_Section):
    """The monitor of the gap between the halves (MMLU-CF, section 4.5).

    Attributes:
        sealed: of which benchmark, where there are scores of several: its name, or the first
            characters of the SHA-256 of its `test.sealed`.
        level: coverage of the intervals.
        alpha: of the test, two-sided, over all configurations.
        bounds: of |Δ|, as shares, below which configurations are counted.
    """

    sealed: str | None = None
    level: float = Field(default=0.95, gt=0, lt=1)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    bounds: tuple[Bound, ...] = Field(default=(0.005, 0.01), min_length=1)
