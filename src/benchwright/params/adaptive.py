"""How a sampler is chosen for a benchmark (`sampling.adaptive:` in conf; docs/sampling.md)."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Criterion = Literal[
    "spearman", "tau_b", "pearson", "wasserstein", "mean_absolute_error", "variance"
]


class AdaptiveParams(BaseModel):
    """Choice among samplers by how they keep ranks and scores (DELE, Algorithm 1).

    Attributes:
        lowest_rate, highest_rate: percent of the items between which samplers are compared.
        min_correlation: Spearman's that a sampler must reach at each of these rates, in the mean
            over repeats.
        criteria: what samplers are ranked by; the best mean place wins. `variance` is that of the
            models' mean score over repeats.
        splits: of the models into those that choose and those that judge.
        selection_share: of the models that choose, 0–1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    lowest_rate: float = Field(default=5, gt=0, le=100)
    highest_rate: float = Field(default=25, gt=0, le=100)
    min_correlation: float = Field(default=0.9, ge=-1, le=1)
    criteria: tuple[Criterion, ...] = Field(
        default=("spearman", "wasserstein", "variance"), min_length=1
    )
    splits: int = Field(default=20, ge=0)
    selection_share: float = Field(default=0.5, gt=0, lt=1)

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.highest_rate < self.lowest_rate:
            raise ValueError(
                f"highest_rate ({self.highest_rate:g}) is below lowest_rate ({self.lowest_rate:g})"
            )
        return self
