"""How many questions of which difficulty are sampled (`sampling:` in conf)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SamplingByDifficultyParams(_Section):
    """A sample by difficulty under quotas (MMLU-CF, section 3.2, step 3).

    Attributes:
        size: questions in the sample (the paper: 50,000 of 1.66 million).
        mean: of the normal distribution over the levels 0–9.
        sd: its standard deviation; the paper gives none.
        fields: as many questions of each field (`equal`), or in proportion to what there is.
    """

    size: int = Field(default=50_000, ge=0)
    mean: float = 6.0
    sd: float = Field(default=1.5, gt=0)
    fields: Literal["equal", "proportional"] = "equal"
